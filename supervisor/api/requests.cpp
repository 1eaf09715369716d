#include "supervisor/api/requests.hpp"

#include <memory>
#include <utility>

#include <unistd.h>

#include <spdlog/spdlog.h>

#include "common/version.hpp"
#include "supervisor/stores/client_file.hpp"

namespace cuzk::supervisor {
namespace {

// A reply has to fit into a frame with its header.
constexpr std::size_t kMaxListBytes = kMaxFrameBody - 4096;

Error shutting_down() {
  return {ErrorClass::kUnavailable,
          "the supervisor is shutting down",
          {},
          "accepted jobs go on when it is started again"};
}

// Takes the next descriptor of a frame.
Result<std::shared_ptr<ClientFile>> take_file(std::vector<UniqueFd>& fds, std::size_t index,
                                              const std::string& name) {
  if (index >= fds.size())
    return bad_request("fewer files are attached than announced", clean_name(name));
  CUZK_TRY(file, check_client_file(std::move(fds[index]), name));
  return std::make_shared<ClientFile>(std::move(file));
}

Status check_count(const std::vector<UniqueFd>& fds, std::size_t announced) {
  if (fds.size() == announced) return {};
  return bad_request(
      fmt::format("{} files are attached, the message announces {}", fds.size(), announced));
}

}  // namespace

VersionReply version_reply() {
  VersionReply reply;
  reply.version = kBuildVersion;
  reply.revision = kBuildRevision;
  reply.pid = static_cast<std::uint32_t>(::getpid());
  return reply;
}

void Requests::handle(Frame frame, const Peer& peer, const Responder& responder) {
  const auto takes_files =
      frame.type == MessageType::kSubmit || frame.type == MessageType::kCircuitAdd;
  if (!takes_files && !frame.fds.empty()) {
    return responder.error(bad_request("this request takes no files"));
  }
  switch (frame.type) {
    case MessageType::kVersion: return responder.reply(frame.type, version_reply());
    case MessageType::kSubmit: return submit(frame, peer, responder);
    case MessageType::kAwait: return await(frame, responder);
    case MessageType::kCancel: return cancel(frame, responder);
    case MessageType::kJobs: return jobs(frame, responder);
    case MessageType::kStatus: return responder.reply(frame.type, status_());
    case MessageType::kCircuitAdd: return circuit_add(frame, peer, responder);
    case MessageType::kCircuitList:
      return responder.reply(frame.type, CircuitListReply{circuits_.list()});
    case MessageType::kCircuitRemove: return circuit_remove(frame, responder);
    case MessageType::kError:
    case MessageType::kProgress: break;
  }
  responder.error(bad_request("this message is a reply, not a request"));
}

void Requests::submit(Frame& frame, const Peer& peer, const Responder& responder) {
  auto request = decode<SubmitRequest>(frame.body);
  if (!request) return responder.error(request.error());
  if (draining_) return responder.error(shutting_down());
  Intake::Submission submission;
  const std::size_t announced = static_cast<std::size_t>(request->key_attached) +
                                static_cast<std::size_t>(request->input_attached);
  if (const auto counted = check_count(frame.fds, announced); !counted) {
    return responder.error(counted.error());
  }
  std::size_t next = 0;
  if (request->key_attached) {
    auto key = take_file(frame.fds, next++, request->key_name);
    if (!key) return responder.error(key.error());
    submission.key = *std::move(key);
  }
  if (request->input_attached) {
    auto input = take_file(frame.fds, next++, request->input_name);
    if (!input) return responder.error(input.error());
    submission.input = *std::move(input);
  }
  if (request->progress) {
    submission.progress = [responder](const ProgressEvent& event) { responder.progress(event); };
  }
  submission.request = *std::move(request);
  submission.uid = peer.uid;
  submission.wanted = [responder] { return responder.wanted(); };
  submission.done = [responder](Result<SubmitReply> result) {
    if (!result) return responder.error(result.error());
    responder.reply(MessageType::kSubmit, *result);
  };
  intake_.submit(std::move(submission));
}

void Requests::await(const Frame& frame, const Responder& responder) {
  const auto request = decode<AwaitRequest>(frame.body);
  if (!request) return responder.error(request.error());
  const auto id = book_.look_up(request->id);
  if (!id) return responder.error(id.error());
  if (draining_) return responder.error(shutting_down());
  JobBook::Waiter waiter;
  constexpr std::uint64_t kLongestMs = std::uint64_t{365} * 24 * 3600 * 1000;
  if (request->timeout_ms != 0 && request->timeout_ms <= kLongestMs) {
    waiter.deadline = clock_.now() + std::chrono::milliseconds(request->timeout_ms);
  }
  if (request->progress) {
    waiter.progress = [responder](const ProgressEvent& event) { responder.progress(event); };
  }
  waiter.wanted = [responder] { return responder.wanted(); };
  waiter.done = [responder](Result<JobReport> report) {
    if (!report) return responder.error(report.error());
    responder.reply(MessageType::kAwait, *report);
  };
  book_.await(*id, std::move(waiter));
}

void Requests::cancel(const Frame& frame, const Responder& responder) {
  const auto request = decode<CancelRequest>(frame.body);
  if (!request) return responder.error(request.error());
  const auto id = book_.look_up(request->id);
  if (!id) return responder.error(id.error());
  const auto reply = book_.cancel(*id);
  if (!reply) return responder.error(reply.error());
  responder.reply(frame.type, *reply);
}

void Requests::jobs(const Frame& frame, const Responder& responder) {
  const auto request = decode<JobsRequest>(frame.body);
  if (!request) return responder.error(request.error());
  auto newest = book_.newest(request->limit);
  if (!newest) return responder.error(newest.error());
  JobsReply reply{*std::move(newest)};
  while (reply.jobs.size() > 1 && encode(reply).size() > kMaxListBytes) {
    reply.jobs.resize(reply.jobs.size() / 2);
  }
  responder.reply(frame.type, reply);
}

void Requests::circuit_add(Frame& frame, const Peer& peer, const Responder& responder) {
  const auto request = decode<CircuitAddRequest>(frame.body);
  if (!request) return responder.error(request.error());
  if (draining_) return responder.error(shutting_down());
  CircuitStore::Addition addition;
  addition.name = request->name;
  std::vector<std::pair<FdRole, const char*>> expected;
  if (request->wasm_attached) expected.emplace_back(FdRole::kWasm, "wasm");
  if (request->program_attached) {
    expected.emplace_back(FdRole::kProgram, "witness program");
    expected.emplace_back(FdRole::kProgramData, "witness program's .dat");
  }
  if (request->r1cs_attached) expected.emplace_back(FdRole::kR1cs, "r1cs");
  if (const auto counted = check_count(frame.fds, 1 + expected.size()); !counted) {
    return responder.error(counted.error());
  }
  auto key = take_file(frame.fds, 0, request->key_name);
  if (!key) return responder.error(key.error());
  addition.key = *std::move(key);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    auto file = take_file(frame.fds, i + 1, expected[i].second);
    if (!file) return responder.error(file.error());
    addition.files.emplace_back(expected[i].first, *std::move(file));
  }
  spdlog::info("circuit \"{}\": to be added for uid {}", clean_name(request->name), peer.uid);
  const std::int64_t order = clock_.unix_ms() - head_start_ms(static_cast<int>(Priority::kNormal));
  circuits_.add(
      std::move(addition), order,
      [responder](const char* stage, const TaskProgress& step) {
        responder.progress({JobId{}, stage, step.step, step.permille});
      },
      [responder](Result<CircuitInfo> info) {
        if (!info) return responder.error(info.error());
        responder.reply(MessageType::kCircuitAdd, *info);
      });
}

void Requests::circuit_remove(const Frame& frame, const Responder& responder) {
  const auto request = decode<CircuitRemoveRequest>(frame.body);
  if (!request) return responder.error(request.error());
  const auto removed = circuits_.remove(request->name);
  if (!removed) return responder.error(removed.error());
  responder.reply(frame.type, *removed);
}

}  // namespace cuzk::supervisor
