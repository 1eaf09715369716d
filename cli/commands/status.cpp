// status: the daemon on one screen.
#include <chrono>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "cli/ask.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output/json.hpp"
#include "cli/output/text.hpp"

namespace cuzk::cli {

namespace {

using std::chrono::milliseconds;

void print_head(const StatusReply& status, const Session& session) {
  fmt::print(session.out(), "cuzk {} ({}) on {}, pid {}, up {}, state in {}\n",
             one_line(status.version.version), one_line(status.version.revision),
             session.socket.string(), status.version.pid, time_text(milliseconds(status.uptime_ms)),
             one_line(status.state_folder));
  std::vector<std::string> queue;
  for (const QueueStatus& entry : status.queue) {
    if (entry.jobs != 0) queue.push_back(fmt::format("{} {}", entry.jobs, one_line(entry.state)));
  }
  fmt::print(session.out(), "jobs: {}; {} done, {} failed\n",
             queue.empty() ? "none open" : fmt::format("{}", fmt::join(queue, ", ")),
             status.jobs_done, status.jobs_failed);
}

void print_workers(const StatusReply& status, std::ostream& out) {
  Table table(
      {"WORKER", "DEVICE", "STATE", "PID>", "RESTARTS>", "MEMORY>", "CPU>", "TASK", "LAST DEATH"});
  for (const WorkerStatus& worker : status.workers) {
    std::string task = worker.task;
    if (!task.empty() && !worker.step.empty()) task += " (" + worker.step + ")";
    table.add({worker.name, worker.device, worker.state,
               worker.pid == 0 ? "" : std::to_string(worker.pid), std::to_string(worker.restarts),
               size_text(worker.resident_bytes), time_text(milliseconds(worker.cpu_ms)), task,
               worker.last_death});
  }
  out << '\n';
  table.print(out);
}

void print_slots(const StatusReply& status, std::ostream& out) {
  Table table({"SLOT>", "STATE", "OWNER", "SIZE>", "JOB>"});
  for (const SlotStatus& slot : status.slots) {
    table.add({std::to_string(slot.index), slot.state, slot.owner, size_text(slot.bytes),
               slot.job.value == 0 ? "" : std::to_string(slot.job.value)});
  }
  if (table.empty()) return;
  out << '\n';
  table.print(out);
}

void print_keys(const StatusReply& status, std::ostream& out) {
  Table table({"KEY", "CURVE", "VARIABLES>", "PUBLIC>", "DOMAIN>", "SIZE>", "NOTE"});
  for (const KeyInfo& key : status.keys) {
    table.add({to_hex(key.digest).substr(0, 12), name_of(key.curve),
               std::to_string(key.n_variables), std::to_string(key.n_public),
               std::to_string(key.domain_size), size_text(key.file_bytes),
               key.test_only ? "for tests only" : ""});
  }
  if (table.empty()) return;
  out << '\n';
  table.print(out);
}

Result<int> show_status(Session& session) {
  CUZK_TRY(status, ask<StatusReply>(session, MessageType::kStatus, StatusRequest{}));
  if (session.json) {
    print_json(to_json(status), session);
    return kDone;
  }
  print_head(status, session);
  print_workers(status, session.out());
  print_slots(status, session.out());
  print_keys(status, session.out());
  return kDone;
}

}  // namespace

Run add_status(CLI::App&) { return show_status; }

}  // namespace cuzk::cli
