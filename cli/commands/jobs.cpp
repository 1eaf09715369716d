// jobs: the newest jobs, open and finished.
#include <chrono>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/ask.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output/json.hpp"
#include "cli/output/text.hpp"

namespace cuzk::cli {

namespace {

using std::chrono::milliseconds;

// A key's path is told apart by its end.
constexpr std::size_t kCircuitWidth = 32;

std::int64_t now_ms() {
  return std::chrono::duration_cast<milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string progress_or_time(const JobReport& job) {
  if (is_final(job.state)) return time_text(milliseconds(job.finished_ms - job.submitted_ms));
  return percent_text(job.permille);
}

Result<int> jobs(std::uint32_t limit, Session& session) {
  CUZK_TRY(reply, ask<JobsReply>(session, MessageType::kJobs, JobsRequest{limit}));
  if (session.json) {
    Json list = Json::array();
    for (const JobReport& job : reply.jobs) list.push_back(to_json(job));
    print_json({{"jobs", std::move(list)}}, session);
    return kDone;
  }
  Table table(
      {"JOB>", "STATE", "CIRCUIT", "PRIORITY", "SUBMITTED>", "TOOK>", "DEVICE", "REQUEST", "NOTE"});
  for (const JobReport& job : reply.jobs) {
    table.add({std::to_string(job.job.value), name_of(job.state),
               tail(job.circuit_name, kCircuitWidth), name_of(job.priority),
               age_text(milliseconds(now_ms() - job.submitted_ms)) + " ago", progress_or_time(job),
               job.device, job.request_id, job.error ? job.error->what : ""});
  }
  if (table.empty()) {
    session.out() << "no jobs\n";
  } else {
    table.print(session.out());
  }
  return kDone;
}

}  // namespace

Run add_jobs(CLI::App& app) {
  auto limit = std::make_shared<std::uint32_t>(20);
  app.add_option("--limit", *limit, "At most so many, the newest")
      ->type_name("N")
      ->check(CLI::Range(1u, 1'000'000u));
  return [limit](Session& session) { return jobs(*limit, session); };
}

}  // namespace cuzk::cli
