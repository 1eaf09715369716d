#include "supervisor/intake/intake.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

namespace cuzk::supervisor {
namespace {

// A witness is 32 bytes a variable and a header; decimal text of it takes up to 80.
std::uint64_t largest_input(const KeyInfo& key) {
  return (std::uint64_t{1} << 20) + 128 * key.n_variables;
}

Status check_request_id(const std::string& id) {
  if (id.empty()) return {};
  if (id.size() > kMaxRequestId) {
    return bad_request(fmt::format("the request id has {} bytes, at most {} are allowed", id.size(),
                                   kMaxRequestId));
  }
  const bool printable =
      std::ranges::all_of(id, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  const bool digits = std::ranges::all_of(id, [](unsigned char c) { return c >= '0' && c <= '9'; });
  if (!printable)
    return bad_request("the request id has spaces or bytes that are not printable ASCII");
  if (digits) return bad_request("the request id is a number, which would name a job", id);
  return {};
}

}  // namespace

Intake::Intake(Settings settings, const Clock& clock, const StateFolder& folder, Journal& journal,
               Dispatcher& dispatcher, Scheduler& scheduler, KeyStore& keys, CircuitStore& circuits)
    : settings_(settings),
      clock_(clock),
      folder_(folder),
      journal_(journal),
      dispatcher_(dispatcher),
      scheduler_(scheduler),
      keys_(keys),
      circuits_(circuits) {}

void Intake::submit(Submission submission) {
  const std::string request_id = submission.request.request_id;
  if (const auto sound = check(submission); !sound) return submission.done(sound.error());
  if (!request_id.empty()) {
    auto earlier = find_earlier(request_id);
    if (!earlier) return submission.done(std::move(earlier).error());
    if (*earlier) return submission.done(**earlier);
    if (const auto found = by_request_.find(request_id); found != by_request_.end()) {
      found->second->also.push_back(std::move(submission.done));
      return;
    }
  }
  if (scheduler_.open_jobs() + pending_.size() >= settings_.max_queue) {
    return submission.done(
        Error{ErrorClass::kBusy,
              fmt::format("{} jobs are open, no more are taken", settings_.max_queue),
              {},
              "try again later, or raise [daemon] max_queue"});
  }
  JobRecord record;
  if (const auto filled = fill_in(submission, record); !filled)
    return submission.done(filled.error());
  if (last_id_ == 0) {
    const auto next = journal_.next_job_id();
    if (!next) return submission.done(next.error());
    last_id_ = next->value - 1;
  }
  record.id = JobId{++last_id_};
  pending_.push_back(Pending{std::move(submission), std::move(record), {}, {}, {}});
  const Place pending = std::prev(pending_.end());
  if (!request_id.empty()) by_request_.emplace(request_id, pending);
  resolve_key(pending);
}

Result<std::optional<SubmitReply>> Intake::find_earlier(const std::string& request_id) {
  CUZK_TRY(id, journal_.find_request(request_id));
  if (!id) return std::optional<SubmitReply>{};
  if (const Job* job = scheduler_.find(*id)) {
    return std::optional<SubmitReply>{SubmitReply{*id, job->record.state, true}};
  }
  CUZK_TRY(record, journal_.find_job(*id));
  if (!record) return bug("the journal names a job that it does not have", request_id);
  return std::optional<SubmitReply>{SubmitReply{*id, record->state, true}};
}

Status Intake::check(const Submission& submission) const {
  const SubmitRequest& request = submission.request;
  CUZK_CHECK(check_request_id(request.request_id));
  if (request.priority < Priority::kLow || request.priority > Priority::kCritical) {
    return bad_request("the priority is none of low, normal, high and critical");
  }
  if (request.input_kind != InputKind::kWitness && request.input_kind != InputKind::kJson) {
    return bad_request("the input is neither a witness nor JSON");
  }
  if (request.circuit_name.empty() != request.key_attached) {
    return bad_request("give either a circuit's name or a key");
  }
  if (request.input_attached) {
    if (submission.input->identity.size == 0)
      return bad_request("the input is empty", request.input_name);
    return {};
  }
  if (request.input_inline.empty()) return bad_request("the input is empty", request.input_name);
  if (request.input_inline.size() > kMaxInlineInput) {
    return bad_request(fmt::format("an input of {} bytes is too large to be sent inline",
                                   request.input_inline.size()),
                       request.input_name, "attach it as a file");
  }
  return {};
}

Status Intake::fill_in(const Submission& submission, JobRecord& record) const {
  const SubmitRequest& request = submission.request;
  if (!request.circuit_name.empty()) {
    const CircuitRecord* circuit = circuits_.find(request.circuit_name);
    if (circuit == nullptr) {
      return bad_request("there is no circuit of this name", clean_name(request.circuit_name),
                         "see cuzkctl circuit list");
    }
    record.circuit_name = request.circuit_name;
    record.key_name = circuit->info.key_name;
    record.circuit_folder = circuit->folder;
    record.circuit = circuit->info.key.digest;
    const CircuitArtefacts& artefacts = circuit->info.artefacts;
    if (request.input_kind == InputKind::kJson && !artefacts.has_wasm && !artefacts.has_program) {
      return bad_request("the circuit has no witness program, so it takes no JSON input",
                         request.circuit_name,
                         "add it with --wasm or --witness-program, or give a .wtns");
    }
  } else {
    if (request.input_kind == InputKind::kJson) {
      return bad_request("JSON input needs a registered circuit", clean_name(request.input_name),
                         "add the circuit with its wasm or witness program, or give a .wtns");
    }
    record.key_name = submission.key->name;
  }
  record.request_id = request.request_id;
  record.uid = submission.uid;
  record.priority = request.priority;
  record.submitted_ms = clock_.unix_ms();
  record.input_kind = request.input_kind;
  record.input_name = clean_name(request.input_name);
  record.input_inline = request.input_inline;
  return {};
}

void Intake::resolve_key(Place pending) {
  const std::int64_t order = order_of(pending->record);
  const auto progress = [this, pending](const TaskProgress& step) {
    tell(pending, "preparing key", step);
  };
  const auto done = [this, pending](Result<KeyInfo> key) { key_resolved(pending, std::move(key)); };
  if (pending->submission.key) {
    keys_.resolve(pending->submission.key, order, progress, done);
  } else {
    keys_.ensure(pending->record.circuit, order, progress, done);
  }
}

void Intake::key_resolved(Place pending, Result<KeyInfo> key) {
  if (!key) return answer(pending, std::move(key).error());
  pending->key = *std::move(key);
  pending->record.circuit = pending->key.digest;
  pending->record.curve = pending->key.curve;
  pending->submission.key.reset();
  take_input(pending);
}

void Intake::take_input(Place pending) {
  // Nobody will ask for a job that has no request id once its client is gone.
  const Submission& submission = pending->submission;
  if (pending->record.request_id.empty() && submission.wanted && !submission.wanted()) {
    return answer(pending, Error{ErrorClass::kOperator, "the client is gone", {}, {}});
  }
  if (!submission.input) return accept(pending);
  const std::uint64_t size = submission.input->identity.size;
  const std::uint64_t limit = largest_input(pending->key);
  if (size > limit) {
    return answer(pending,
                  bad_request(fmt::format("the input has {} bytes, at most {} make sense for "
                                          "this circuit",
                                          size, limit),
                              pending->record.input_name));
  }
  if (auto content = read_if_in_memory(*submission.input, kMaxInlineInput)) {
    pending->record.input_inline = *std::move(content);
    return accept(pending);
  }
  if (!folder_.has_room_for(size)) {
    return answer(pending, Error{ErrorClass::kBusy, "the disk of the state folder is nearly full",
                                 folder_.root().string(), "make room, then submit again"});
  }
  spool(pending);
}

void Intake::spool(Place pending) {
  pending->record.input_file = std::to_string(pending->record.id.value);
  TaskRequest request;
  request.kind = CommandKind::kSpoolInput;
  request.order = order_of(pending->record);
  request.avoid = pending->attempts.avoid;
  request.build = [this, pending](WorkerLife) -> Result<std::optional<Command>> {
    CUZK_TRY(source, pending->submission.input->fd.duplicate());
    Command command;
    command.body = encode(SpoolInputCommand{(folder_.spool() / pending->record.input_file).string(),
                                            largest_input(pending->key)});
    command.fds.push_back({FdRole::kSource, std::move(source)});
    return std::optional<Command>(std::move(command));
  };
  request.progress = [this, pending](const TaskProgress& step) { tell(pending, "spooling", step); };
  request.ended = [this, pending](const Outcome& outcome) { spooled(pending, outcome); };
  dispatcher_.submit(std::move(request));
}

void Intake::spooled(Place pending, const Outcome& outcome) {
  if (outcome.ending == Ending::kDone) return accept(pending);
  if (const auto given_up = pending->attempts.count(outcome)) return answer(pending, *given_up);
  spool(pending);
}

void Intake::accept(Place pending) {
  JobRecord& record = pending->record;
  if (const auto inserted = journal_.insert_job(record); !inserted) {
    return answer(pending, inserted.error());
  }
  spdlog::info("job {}: accepted, {} \"{}\", priority {}, input \"{}\", uid {}{}", record.id.value,
               record.circuit_name.empty() ? "key" : "circuit",
               record.circuit_name.empty() ? record.key_name : record.circuit_name,
               name_of(record.priority), record.input_name, record.uid,
               record.request_id.empty() ? "" : ", request " + record.request_id);
  // The journal has it from here on; the memory of open jobs should not grow with their inputs.
  record.input_inline.clear();
  record.input_inline.shrink_to_fit();
  const SubmitReply reply{record.id, JobState::kQueued, false};
  scheduler_.accept(record, pending->key, true);
  answer(pending, reply);
}

void Intake::answer(Place pending, const Result<SubmitReply>& result) {
  const Pending gone = std::move(*pending);
  if (!gone.record.request_id.empty()) by_request_.erase(gone.record.request_id);
  pending_.erase(pending);
  if (!result) folder_.remove_input(gone.record.input_file);
  gone.submission.done(result);
  for (const auto& done : gone.also) {
    Result<SubmitReply> same = result;
    if (same) same->existed = true;
    done(std::move(same));
  }
}

void Intake::tell(Place pending, const char* stage, const TaskProgress& progress) const {
  if (!pending->submission.progress) return;
  pending->submission.progress(
      ProgressEvent{JobId{}, stage, progress.step, std::min(progress.permille, 1000U)});
}

bool Intake::uses_folder(const std::string& folder) const {
  return std::ranges::any_of(
      pending_, [&](const Pending& pending) { return pending.record.circuit_folder == folder; });
}

}  // namespace cuzk::supervisor
