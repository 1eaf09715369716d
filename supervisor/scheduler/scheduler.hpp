// Leads each job from accepted to its answer: synthesise, prove, verify, and again if that helps.
//
// Pure logic on top of the dispatcher and the slot pool. It promises that a job ends exactly once,
// that no proof is answered before a synth worker has verified it, that an assignment outlives the
// death of any worker once it is committed, and that every slot comes back wiped.
//
//   queued ─▶ synthesizing ─▶ ready ─▶ proving ─▶ verifying ─▶ done
//     ▲            │            ▲         │           │ wrong proof: ready, once more
//     └─ death ────┘            └─ death ─┘           └ wrong again: explain, then failed
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "supervisor/clock.hpp"
#include "supervisor/scheduler/dispatcher.hpp"
#include "supervisor/scheduler/job.hpp"
#include "supervisor/scheduler/worker_names.hpp"
#include "supervisor/slots/slot_pool.hpp"

namespace cuzk::supervisor {

// Who is told about jobs.
class JobListener {
 public:
  virtual ~JobListener() = default;
  virtual void job_changed(const Job& job) = 0;        // state, step or progress
  virtual void job_finished(const Job& job) = 0;       // done, failed or cancelled; once
  virtual void job_killed_worker(const Job& job) = 0;  // record.kills has grown
};

// Where a job's input and its circuit's files are.
class JobFiles {
 public:
  virtual ~JobFiles() = default;
  virtual Result<UniqueFd> open_input(const JobRecord& record) = 0;
  virtual std::string circuit_folder(const JobRecord& record) const = 0;  // empty: none
  // The .r1cs of the circuit, where it is known.
  virtual std::optional<std::string> r1cs_path(const JobRecord& record) const = 0;
};

class Scheduler {
 public:
  struct Settings {
    std::uint32_t synth_threads = 1;            // of one synthesis
    std::uint32_t max_attempts = kMaxFailures;  // failed ones of one job
  };
  Scheduler(Settings settings, const Clock& clock, Dispatcher& dispatcher, SlotPool& slots,
            const WorkerNames& names, JobListener& listener, JobFiles& files)
      : settings_(settings),
        clock_(clock),
        dispatcher_(dispatcher),
        slots_(slots),
        names_(names),
        listener_(listener),
        files_(files) {}

  // Takes a job that is in the journal (or will be at the end of this turn).
  void accept(JobRecord record, const KeyInfo& key, bool key_ready);
  // The key of waiting jobs turned out to be sound, or not.
  void key_ready(const KeyInfo& key);
  void key_failed(const Digest& circuit, const Error& error);

  // Ends the job at once for the client; a running step is given up at its next boundary. False:
  // there is no such open job.
  bool cancel(JobId id);

  // Call before Dispatcher::worker_died: slots follow the death first, then the tasks.
  void worker_died(WorkerLife life);

  const Job* find(JobId id) const;  // open jobs only
  // Open jobs, oldest first.
  void for_each(const std::function<void(const Job&)>& visit) const;
  std::size_t open_jobs() const { return open_; }
  // Nothing runs and no slot waits to be wiped.
  bool settled() const { return jobs_.empty() && wiping_ == 0; }

 private:
  using Ended = void (Scheduler::*)(Job&, const Outcome&);
  using Build = Result<std::optional<Command>> (Scheduler::*)(Job&, WorkerLife);

  void submit(Job& job, CommandKind kind, Build build, Ended ended);
  void next_step(Job& job);  // from where the slot stands
  void retry(Job& job, const Outcome& outcome);
  void finish(Job& job, JobState state, std::optional<Error> error);
  void leave(Job& job);  // gives the slot away and forgets the job
  void wipe(SlotIndex slot, JobId id, std::uint64_t payload_bytes);
  void set_state(Job& job, JobState state);
  void end_stage(Job& job, const char* stage);
  void drop_slot_after_failure(Job& job);
  WorkId work_of(Job& job) const;

  Result<std::optional<Command>> build_synthesis(Job& job, WorkerLife life);
  Result<std::optional<Command>> build_proof(Job& job, WorkerLife life);
  Result<std::optional<Command>> build_verification(Job& job, WorkerLife life);
  Result<std::optional<Command>> build_explanation(Job& job, WorkerLife life);
  Result<std::optional<Command>> read_only_command(const Job& job, std::string body);
  void synthesis_ended(Job& job, const Outcome& outcome);
  void proof_ended(Job& job, const Outcome& outcome);
  void verification_ended(Job& job, const Outcome& outcome);
  void explanation_ended(Job& job, const Outcome& outcome);
  void proof_is_wrong(Job& job);
  // A result that its worker cannot have meant: counts as a failure of the attempt.
  void reject(Job& job, Outcome outcome, std::string what);

  Settings settings_;
  const Clock& clock_;
  Dispatcher& dispatcher_;
  SlotPool& slots_;
  const WorkerNames& names_;
  JobListener& listener_;
  JobFiles& files_;
  std::map<JobId, Job> jobs_;  // also finished ones whose last task still runs
  std::size_t open_ = 0;
  std::size_t wiping_ = 0;
};

}  // namespace cuzk::supervisor
