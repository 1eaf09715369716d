// await: waits for a job that was submitted before, and fetches its answer.
#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/job_answer.hpp"

namespace cuzk::cli {

namespace {

struct Options {
  std::string id;
  AnswerFiles answer;
  double timeout = 0;
};

Result<int> await_job(const Options& options, Session& session) {
  CUZK_CHECK(check_answer_files(options.answer));
  const Deadline deadline(options.timeout);
  CUZK_TRY(client,
           Client::connect(session.socket, std::min<std::chrono::milliseconds>(
                                               deadline.left().value_or(kPromptly), kPromptly)));
  return wait_for_answer(client, options.id, deadline, options.answer, session);
}

}  // namespace

Run add_await(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("ID", options->id, "The job's number, or its request id")->required();
  add_answer_files(app, options->answer);
  add_timeout(app, options->timeout);
  return [options](Session& session) { return await_job(*options, session); };
}

}  // namespace cuzk::cli
