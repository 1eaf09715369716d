// cancel: asks the daemon to give a job up.
#include <memory>
#include <ostream>

#include <fmt/ostream.h>

#include "cli/ask.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output/json.hpp"

namespace cuzk::cli {

namespace {

const char* outcome(const CancelReply& reply) {
  if (reply.state == JobState::kCancelled) return "cancelled";
  if (is_final(reply.state)) return "not cancelled, it had ended before";
  return "is being cancelled";
}

Result<int> cancel(const std::string& id, Session& session) {
  CUZK_TRY(reply, ask<CancelReply>(session, MessageType::kCancel, CancelRequest{id}));
  if (session.json) {
    print_json({{"job", reply.job.value},
                {"state", name_of(reply.state)},
                {"was_running", reply.was_running}},
               session);
  } else {
    fmt::print(session.out(), "job {}: {} ({})\n", reply.job.value, outcome(reply),
               name_of(reply.state));
  }
  return kDone;
}

}  // namespace

Run add_cancel(CLI::App& app) {
  auto id = std::make_shared<std::string>();
  app.add_option("ID", *id, "The job's number, or its request id")->required();
  return [id](Session& session) { return cancel(*id, session); };
}

}  // namespace cuzk::cli
