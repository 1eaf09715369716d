#include "supervisor/job_book.hpp"

#include <algorithm>
#include <charconv>

#include <sys/stat.h>
#include <unistd.h>

#include <spdlog/spdlog.h>

#include "common/mapped_file.hpp"
#include "shm/memfd.hpp"

namespace cuzk::supervisor {
namespace {

constexpr std::uint32_t kMaxListed = 1000;

// An input from the journal, as the file that a worker expects. It holds a witness: it has no name
// and goes with its last holder.
Result<UniqueFd> as_memfd(const std::string& content) {
  CUZK_TRY(memfd, shm::create_memfd("cuzk-input", content.size()));
  std::size_t written = 0;
  while (written < content.size()) {
    const auto put = ::pwrite(memfd.get(), content.data() + written, content.size() - written,
                              static_cast<off_t>(written));
    if (put <= 0) return system_error(ErrorClass::kRetryHere, "pwrite", "memfd of an input");
    written += static_cast<std::size_t>(put);
  }
  return memfd;
}

}  // namespace

JobBook::JobBook(const Clock& clock, const StateFolder& folder, Journal& journal,
                 const CircuitStore& circuits, std::function<void(const Error&)> journal_failed)
    : clock_(clock),
      folder_(folder),
      journal_(journal),
      circuits_(circuits),
      journal_failed_(std::move(journal_failed)) {}

Status JobBook::load() {
  CUZK_TRY(done, journal_.count_jobs(JobState::kDone));
  CUZK_TRY(failed, journal_.count_jobs(JobState::kFailed));
  done_ = done;
  failed_ = failed;
  return {};
}

void JobBook::check_journal(const Status& status) {
  if (!status) journal_failed_(status.error());
}

Result<JobId> JobBook::look_up(const std::string& id) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (code == std::errc{} && end == id.data() + id.size()) {
    if (scheduler_->find(JobId{number}) != nullptr) return JobId{number};
    if (number <= INT64_MAX) {
      CUZK_TRY(record, journal_.find_job(JobId{number}));
      if (record) return JobId{number};
    }
  } else if (!id.empty()) {
    CUZK_TRY(found, journal_.find_request(id));
    if (found) return *found;
  }
  return bad_request("no job is known by this id", clean_name(id),
                     "finished jobs are forgotten after a while; see cuzkctl jobs");
}

JobReport JobBook::open_report(const Job& job) const {
  JobReport report = report_of(job.record, false);
  report.permille = job.permille;
  return report;
}

Result<JobReport> JobBook::report(JobId id, bool with_answer) {
  if (const Job* job = scheduler_->find(id)) return open_report(*job);
  CUZK_TRY(record, journal_.find_job(id));
  if (!record) return bad_request("no job has this number", std::to_string(id.value));
  return report_of(*record, with_answer);
}

Result<std::vector<JobReport>> JobBook::newest(std::uint32_t limit) {
  CUZK_TRY(records, journal_.newest_jobs(std::min(limit, kMaxListed)));
  std::vector<JobReport> reports;
  for (const JobRecord& record : records) {
    const Job* job = scheduler_->find(record.id);
    reports.push_back(job != nullptr ? open_report(*job) : report_of(record, false));
  }
  return reports;
}

Result<CancelReply> JobBook::cancel(JobId id) {
  CancelReply reply;
  reply.job = id;
  if (const Job* job = scheduler_->find(id)) {
    const JobState before = job->record.state;
    reply.was_running = before == JobState::kSynthesizing || before == JobState::kProving ||
                        before == JobState::kVerifying;
    scheduler_->cancel(id);
    reply.state = JobState::kCancelled;
    return reply;
  }
  CUZK_TRY(finished, report(id, false));
  reply.state = finished.state;
  return reply;
}

void JobBook::await(JobId id, Waiter waiter) {
  const Job* job = scheduler_->find(id);
  if (job == nullptr) return waiter.done(report(id, true));
  if (waiter.progress) {
    waiter.progress({id, name_of(job->record.state), job->step, job->permille});
  }
  waiters_[id].push_back(std::move(waiter));
}

void JobBook::answer_all(const Error& error) {
  auto waiting = std::exchange(waiters_, {});
  for (auto& [id, waiters] : waiting) {
    for (Waiter& waiter : waiters) waiter.done(error);
  }
}

void JobBook::tick() {
  const auto now = clock_.now();
  std::vector<Waiter> late;
  for (auto entry = waiters_.begin(); entry != waiters_.end();) {
    auto& waiters = entry->second;
    for (auto waiter = waiters.begin(); waiter != waiters.end();) {
      const bool gone = waiter->wanted && !waiter->wanted();
      const bool is_late = waiter->deadline && *waiter->deadline <= now;
      if (is_late && !gone) late.push_back(std::move(*waiter));
      waiter = gone || is_late ? waiters.erase(waiter) : std::next(waiter);
    }
    entry = waiters.empty() ? waiters_.erase(entry) : std::next(entry);
  }
  for (Waiter& waiter : late) {
    waiter.done(Error{ErrorClass::kBusy,
                      "the job has not ended in the time given",
                      {},
                      "it goes on: await it again"});
  }
}

std::optional<TimePoint> JobBook::next_deadline() const {
  std::optional<TimePoint> earliest;
  for (const auto& [id, waiters] : waiters_) {
    for (const Waiter& waiter : waiters) {
      if (waiter.deadline && (!earliest || *waiter.deadline < *earliest))
        earliest = waiter.deadline;
    }
  }
  return earliest;
}

std::size_t JobBook::waiters() const {
  std::size_t count = 0;
  for (const auto& [id, waiters] : waiters_) count += waiters.size();
  return count;
}

void JobBook::after_commit() {
  for (const std::string& name : std::exchange(finished_inputs_, {})) {
    std::error_code ignored;
    std::filesystem::remove(folder_.spool() / name, ignored);
  }
}

Status JobBook::prune(std::uint32_t keep, std::int64_t before_ms) {
  CUZK_TRY(removed, journal_.prune(keep, before_ms));
  if (removed != 0) spdlog::info("{} finished jobs are forgotten", removed);
  return {};
}

void JobBook::job_changed(const Job& job) {
  const auto found = waiters_.find(job.record.id);
  if (found == waiters_.end()) return;
  for (const Waiter& waiter : found->second) {
    if (waiter.progress) {
      waiter.progress({job.record.id, name_of(job.record.state), job.step, job.permille});
    }
  }
}

void JobBook::job_finished(const Job& job) {
  const JobRecord& record = job.record;
  if (record.state == JobState::kDone) ++done_;
  if (record.state == JobState::kFailed) ++failed_;
  spdlog::info("job {}: {} after {} ms{}{}", record.id.value, name_of(record.state),
               record.finished_ms - record.submitted_ms, record.error ? ": " : "",
               record.error ? record.error->message() : "");
  check_journal(journal_.finish_job(record));
  if (!record.input_file.empty()) finished_inputs_.push_back(record.input_file);
  const auto found = waiters_.find(record.id);
  if (found == waiters_.end()) return;
  auto waiters = std::move(found->second);
  waiters_.erase(found);
  for (Waiter& waiter : waiters) waiter.done(report_of(record, true));
}

void JobBook::job_killed_worker(const Job& job) {
  check_journal(journal_.record_kills(job.record.id, job.record.kills));
}

Result<UniqueFd> JobBook::open_input(const JobRecord& record) {
  if (!record.input_file.empty()) return open_for_reading(folder_.spool() / record.input_file);
  CUZK_TRY(input, journal_.input_of(record.id));
  return as_memfd(input);
}

std::string JobBook::circuit_folder(const JobRecord& record) const {
  return record.circuit_folder.empty() ? "" : circuits_.path_of(record.circuit_folder).string();
}

std::optional<std::string> JobBook::r1cs_path(const JobRecord& record) const {
  if (record.circuit_folder.empty()) return std::nullopt;
  const std::string path = (circuits_.path_of(record.circuit_folder) / kCircuitR1csFile).string();
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return path;
}

}  // namespace cuzk::supervisor
