// The four steps of a job: what is sent for each, and what its answer means.
//
// A worker's answer is never taken at its word: sizes are compared with the key's, and the slot's
// header with what was asked for.

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "common/groth16/encoding.hpp"
#include "supervisor/scheduler/scheduler.hpp"

namespace cuzk::supervisor {
namespace {

constexpr std::size_t kMaxSteps = 64;
constexpr std::size_t kMaxStepName = 64;

Error not_satisfied(std::string_view detail) {
  std::string what = "the witness does not satisfy the circuit";
  if (!detail.empty()) what += ": " + std::string(detail);
  return bad_request(
      std::move(what), {},
      detail.empty() ? "add the circuit with its .r1cs to learn which constraint fails" : "");
}

}  // namespace

Result<std::optional<Command>> Scheduler::build_synthesis(Job& job, WorkerLife life) {
  const JobRecord& record = job.record;
  CUZK_TRY(leased, slots_.lease(life, job.key.n_variables * kScalarBytes, record.id));
  if (!leased) return std::optional<Command>{};
  const SlotIndex slot = *leased;
  auto input = files_.open_input(record);
  auto writable = slots_.writable(slot);
  if (!input || !writable) {
    CUZK_CHECK(slots_.release_unwiped(slot));
    return input ? std::move(writable).error() : std::move(input).error();
  }
  job.slot = slot;
  job.assignment_work = work_of(job);
  slots_.expect(slot, job.assignment_work, record.circuit);
  end_stage(job, "queue");
  set_state(job, JobState::kSynthesizing);

  SynthesiseCommand body;
  body.work = job.assignment_work;
  body.circuit = record.circuit;
  body.key_path = job.key.path;
  body.circuit_folder = files_.circuit_folder(record);
  body.input_kind = record.input_kind;
  body.input_name = record.input_name;
  body.slot_bytes = slots_.capacity(slot);
  body.threads = settings_.synth_threads;
  Command command;
  command.slot = slot;
  command.slot_word = slots_.word(slot);
  command.body = encode(body);
  command.fds.push_back({FdRole::kSlotWritable, *std::move(writable)});
  command.fds.push_back({FdRole::kSource, *std::move(input)});
  return std::optional<Command>(std::move(command));
}

void Scheduler::synthesis_ended(Job& job, const Outcome& outcome) {
  end_stage(job, "synthesis");
  if (!job.slot) return retry(job, outcome);  // the build failed
  const SlotIndex slot = *job.slot;
  const bool survived =
      outcome.ending == Ending::kDied && slots_.word(slot).state == shm::SlotState::kReady;
  if (outcome.ending != Ending::kDone && !survived) {
    if (outcome.ending == Ending::kFailed) drop_slot_after_failure(job);
    if (job.slot && slots_.word(slot).state == shm::SlotState::kFree) job.slot.reset();
    return retry(job, outcome);
  }
  const auto fields = slots_.check(slot, job.assignment_work, job.record.circuit);
  if (!fields)
    return reject(job, outcome, "its slot is not what it says: " + fields.error().message());
  if (fields->payload_bytes != job.key.n_variables * kScalarBytes) {
    return reject(job, outcome, "its assignment has another length than the key asks for");
  }
  if (!survived) {
    const auto result = decode<SynthesiseResult>(outcome.body);
    if (!result || result->payload_bytes != fields->payload_bytes ||
        result->payload_checksum != fields->payload_checksum) {
      return reject(job, outcome, "its answer and its slot disagree");
    }
    if (const auto committed = slots_.commit(slot); !committed) {
      return reject(job, outcome, committed.error().message());
    }
  }
  job.assignment.layout = static_cast<AssignmentLayout>(fields->layout);
  job.assignment.payload_bytes = fields->payload_bytes;
  job.assignment.payload_checksum = fields->payload_checksum;
  if (is_final(job.record.state)) return leave(job);
  next_step(job);
}

// For the steps that read an assignment.
Result<std::optional<Command>> Scheduler::read_only_command(const Job& job, std::string body) {
  CUZK_TRY(fd, slots_.read_only(*job.slot));
  Command command;
  command.slot = *job.slot;
  command.slot_word = slots_.word(*job.slot);
  command.body = std::move(body);
  command.fds.push_back({FdRole::kSlotReadOnly, std::move(fd)});
  return std::optional<Command>(std::move(command));
}

Result<std::optional<Command>> Scheduler::build_proof(Job& job, WorkerLife life) {
  CUZK_CHECK(slots_.bind(*job.slot, life));
  ProveCommand body;
  body.work = job.assignment_work;
  body.circuit = job.record.circuit;
  body.key_path = job.key.path;
  body.layout = job.assignment.layout;
  body.payload_bytes = job.assignment.payload_bytes;
  body.payload_checksum = job.assignment.payload_checksum;
  auto command = read_only_command(job, encode(body));
  if (!command) {
    CUZK_CHECK(slots_.unbind(*job.slot));
    return command;
  }
  job.record.device = names_.device_name(life.worker);
  set_state(job, JobState::kProving);
  return command;
}

void Scheduler::proof_ended(Job& job, const Outcome& outcome) {
  const auto now = clock_.now();
  const std::uint64_t since_ready = microseconds_between(job.stage_since, now);
  if (outcome.ending != Ending::kDone) {
    end_stage(job, "wait");
    if (outcome.ending == Ending::kFailed) drop_slot_after_failure(job);
    return retry(job, outcome);
  }
  auto result = decode<ProveResult>(outcome.body);
  const bool sound = result && result->proof.size() == proof_bytes(job.record.curve) &&
                     result->steps.size() <= kMaxSteps &&
                     std::ranges::all_of(result->steps, [](const StepTime& step) {
                       return step.step.size() <= kMaxStepName;
                     });
  if (!sound) return reject(job, outcome, "its answer is not a proof");
  if (const auto finished = slots_.finish(*job.slot); !finished) {
    return reject(job, outcome, finished.error().message());
  }
  std::uint64_t proving = 0;
  for (const StepTime& step : result->steps) proving += std::min(step.microseconds, since_ready);
  proving = std::min(proving, since_ready);
  add_stage(job.record, "wait", since_ready - proving);
  add_stage(job.record, "proving", proving);
  for (const StepTime& step : result->steps) {
    add_stage(job.record, "proving/" + step.step, step.microseconds);
  }
  job.stage_since = now;
  job.proof = std::move(result->proof);
  job.prover = outcome.life.worker;
  if (is_final(job.record.state)) return leave(job);
  next_step(job);
}

Result<std::optional<Command>> Scheduler::build_verification(Job& job, WorkerLife) {
  VerifyCommand body;
  body.work = job.assignment_work;
  body.key_path = job.key.path;
  body.proof = job.proof;
  body.layout = job.assignment.layout;
  body.payload_bytes = job.assignment.payload_bytes;
  return read_only_command(job, encode(body));
}

void Scheduler::verification_ended(Job& job, const Outcome& outcome) {
  end_stage(job, "verify");
  if (outcome.ending != Ending::kDone) return retry(job, outcome);
  auto result = decode<VerifyResult>(outcome.body);
  if (!result || (result->valid && result->publics.size() != job.key.n_public * kScalarBytes)) {
    return reject(job, outcome, "its verdict does not fit the key");
  }
  if (is_final(job.record.state)) return leave(job);
  if (!result->valid) return proof_is_wrong(job);
  job.record.proof = std::move(job.proof);
  job.record.publics = std::move(result->publics);
  finish(job, JobState::kDone, std::nullopt);
}

// Two devices (or one device twice) that agree on a wrong proof leave the witness as the cause.
void Scheduler::proof_is_wrong(Job& job) {
  job.proof.clear();
  ++job.invalid_proofs;
  spdlog::warn("job {}: the proof from {} does not verify ({} so far)", job.record.id.value,
               job.prover ? names_.worker_name(*job.prover) : "nobody", job.invalid_proofs);
  if (job.invalid_proofs == 1) {
    job.attempts.avoid = job.prover;
    if (const auto reopened = slots_.reopen(*job.slot); !reopened) {
      return finish(job, JobState::kFailed, reopened.error());
    }
  } else if (!files_.r1cs_path(job.record)) {
    return finish(job, JobState::kFailed, not_satisfied({}));
  }
  next_step(job);
}

Result<std::optional<Command>> Scheduler::build_explanation(Job& job, WorkerLife) {
  ExplainCommand body;
  body.work = job.assignment_work;
  body.circuit = job.record.circuit;
  body.circuit = job.record.circuit;
  body.r1cs_path = files_.r1cs_path(job.record).value_or("");
  body.layout = job.assignment.layout;
  body.payload_bytes = job.assignment.payload_bytes;
  return read_only_command(job, encode(body));
}

void Scheduler::explanation_ended(Job& job, const Outcome& outcome) {
  if (is_final(job.record.state)) return leave(job);
  if (outcome.ending != Ending::kDone) {
    // An explanation that does not come is no reason to hold the answer back.
    if (!job.attempts.count(outcome)) return next_step(job);
    return finish(job, JobState::kFailed, not_satisfied({}));
  }
  const auto result = decode<ExplainResult>(outcome.body);
  if (!result) return finish(job, JobState::kFailed, not_satisfied({}));
  if (!result->satisfied) return finish(job, JobState::kFailed, not_satisfied(result->text));
  finish(job, JobState::kFailed,
         bad_request("the witness satisfies the .r1cs, but proofs with this key do not verify", {},
                     "do the key and the .r1cs belong to the same circuit?"));
}

}  // namespace cuzk::supervisor
