// All jobs, open and finished, as clients see them: found by id, listed, awaited, answered.
//
// Stands between the scheduler and the journal: an end is written down before it is told. Nothing
// of a job's files is removed before the commit that says it needs them no more.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/protocol/messages.hpp"
#include "supervisor/clock.hpp"
#include "supervisor/journal/journal.hpp"
#include "supervisor/scheduler/scheduler.hpp"
#include "supervisor/stores/circuit_store.hpp"
#include "supervisor/stores/state_folder.hpp"

namespace cuzk::supervisor {

class JobBook final : public JobListener, public JobFiles {
 public:
  // `journal_failed`: the journal takes no more; what was promised cannot be kept, so the
  // supervisor ends and a later one takes up from what is written.
  JobBook(const Clock& clock, const StateFolder& folder, Journal& journal,
          const CircuitStore& circuits, std::function<void(const Error&)> journal_failed);
  // The scheduler that this book listens to.
  void attach(Scheduler& scheduler) { scheduler_ = &scheduler; }
  // Counts what earlier runs finished.
  Status load();

  // `id`: a job's number or a request id. Fails with kBadRequest when nothing is known by it.
  Result<JobId> look_up(const std::string& id);
  Result<JobReport> report(JobId id, bool with_answer);
  Result<std::vector<JobReport>> newest(std::uint32_t limit);
  Result<CancelReply> cancel(JobId id);

  struct Waiter {
    std::optional<TimePoint> deadline;
    std::function<void(const ProgressEvent&)> progress;  // may be empty
    std::function<void(Result<JobReport>)> done;
    std::function<bool()> wanted;
  };
  // Answers at once when the job has ended; kBusy at the dead-line.
  void await(JobId id, Waiter waiter);
  void answer_all(const Error& error);  // at shutdown
  void tick();
  std::optional<TimePoint> next_deadline() const;

  // After a commit: what finished jobs no longer need goes.
  void after_commit();
  Status prune(std::uint32_t keep, std::int64_t before_ms);

  std::uint64_t jobs_done() const { return done_; }
  std::uint64_t jobs_failed() const { return failed_; }
  std::size_t waiters() const;

  // JobListener
  void job_changed(const Job& job) override;
  void job_finished(const Job& job) override;
  void job_killed_worker(const Job& job) override;
  // JobFiles
  Result<UniqueFd> open_input(const JobRecord& record) override;
  std::string circuit_folder(const JobRecord& record) const override;
  std::optional<std::string> r1cs_path(const JobRecord& record) const override;

 private:
  void check_journal(const Status& status);
  JobReport open_report(const Job& job) const;

  const Clock& clock_;
  const StateFolder& folder_;
  Journal& journal_;
  const CircuitStore& circuits_;
  std::function<void(const Error&)> journal_failed_;
  Scheduler* scheduler_ = nullptr;
  std::map<JobId, std::list<Waiter>> waiters_;
  std::vector<std::string> finished_inputs_;
  std::uint64_t done_ = 0;
  std::uint64_t failed_ = 0;
};

}  // namespace cuzk::supervisor
