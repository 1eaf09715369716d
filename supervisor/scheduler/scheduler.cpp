#include "supervisor/scheduler/scheduler.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

namespace cuzk::supervisor {

void Scheduler::accept(JobRecord record, const KeyInfo& key, bool key_ready) {
  const JobId id = record.id;
  Job& job = jobs_[id];
  job.attempts.kills = record.kills;
  job.attempts.max_failures = settings_.max_attempts;
  job.record = std::move(record);
  job.key = key;
  job.key_ready = key_ready;
  job.accepted_at = clock_.now();
  job.stage_since = job.accepted_at;
  ++open_;
  set_state(job, JobState::kQueued);
  if (key_ready) next_step(job);
}

void Scheduler::key_ready(const KeyInfo& key) {
  for (auto& [id, job] : jobs_) {
    if (job.key_ready || job.record.circuit != key.digest || is_final(job.record.state)) continue;
    job.key = key;
    job.key_ready = true;
    next_step(job);
  }
}

void Scheduler::key_failed(const Digest& circuit, const Error& error) {
  std::vector<JobId> concerned;
  for (const auto& [id, job] : jobs_) {
    if (!job.key_ready && job.record.circuit == circuit && !is_final(job.record.state)) {
      concerned.push_back(id);
    }
  }
  for (const JobId id : concerned) finish(jobs_.at(id), JobState::kFailed, error);
}

bool Scheduler::cancel(JobId id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || is_final(found->second.record.state)) return false;
  finish(found->second, JobState::kCancelled,
         Error{ErrorClass::kOperator, "the job was cancelled", {}, {}});
  return true;
}

void Scheduler::worker_died(WorkerLife life) { slots_.owner_died(life); }

const Job* Scheduler::find(JobId id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() || is_final(found->second.record.state) ? nullptr : &found->second;
}

void Scheduler::for_each(const std::function<void(const Job&)>& visit) const {
  for (const auto& [id, job] : jobs_) {
    if (!is_final(job.record.state)) visit(job);
  }
}

void Scheduler::submit(Job& job, CommandKind kind, Build build, Ended ended) {
  const JobId id = job.record.id;
  TaskRequest request;
  request.kind = kind;
  request.order = order_of(job.record);
  request.avoid = job.attempts.avoid;
  request.job = id;
  // A job without a registered circuit still has its key's digest: any 8 bytes of it will do.
  for (std::size_t i = 0; i < sizeof request.affinity; ++i) {
    request.affinity = request.affinity << 8 | job.record.circuit[i];
  }
  request.build = [this, id, build](WorkerLife life) { return (this->*build)(jobs_.at(id), life); };
  request.progress = [this, id](const TaskProgress& progress) {
    Job& running = jobs_.at(id);
    running.step = progress.step;
    running.permille = std::min(progress.permille, 1000U);
    if (!is_final(running.record.state)) listener_.job_changed(running);
  };
  request.ended = [this, id, ended](const Outcome& outcome) {
    Job& running = jobs_.at(id);
    running.task.reset();
    running.step.clear();
    running.permille = 0;
    (this->*ended)(running, outcome);
  };
  job.task = dispatcher_.submit(std::move(request));
}

// The slot is the truth of where a job stands.
void Scheduler::next_step(Job& job) {
  if (!job.slot) {
    if (job.record.state != JobState::kQueued) set_state(job, JobState::kQueued);
    submit(job, CommandKind::kSynthesise, &Scheduler::build_synthesis, &Scheduler::synthesis_ended);
    return;
  }
  switch (slots_.word(*job.slot).state) {
    case shm::SlotState::kReady:
      set_state(job, JobState::kReady);
      submit(job, CommandKind::kProve, &Scheduler::build_proof, &Scheduler::proof_ended);
      return;
    case shm::SlotState::kDone:
      set_state(job, JobState::kVerifying);
      if (job.invalid_proofs > 1) {
        submit(job, CommandKind::kExplain, &Scheduler::build_explanation,
               &Scheduler::explanation_ended);
        return;
      }
      submit(job, CommandKind::kVerify, &Scheduler::build_verification,
             &Scheduler::verification_ended);
      return;
    default:
      // FREE after a death, or RETIRED: it is no longer this job's.
      job.slot.reset();
      next_step(job);
  }
}

void Scheduler::retry(Job& job, const Outcome& outcome) {
  const std::uint32_t kills = job.attempts.kills;
  const auto final_error = job.attempts.count(outcome);
  if (job.attempts.kills != kills) {
    job.record.kills = job.attempts.kills;
    listener_.job_killed_worker(job);
  }
  if (is_final(job.record.state)) return leave(job);
  spdlog::warn("job {}: {} on {}: {}; {}", job.record.id.value,
               outcome.ending == Ending::kDied ? "its worker died" : "attempt failed",
               names_.worker_name(outcome.life.worker), outcome.error.message(),
               final_error ? "given up" : "tried again");
  if (final_error) return finish(job, JobState::kFailed, final_error);
  next_step(job);
}

void Scheduler::reject(Job& job, Outcome outcome, std::string what) {
  outcome.ending = Ending::kFailed;
  outcome.error = Error{
      ErrorClass::kRetryElsewhere, std::move(what), names_.worker_name(outcome.life.worker), {}};
  drop_slot_after_failure(job);
  retry(job, outcome);
}

// A living worker gave up: a slot it could write is not trusted, one it only read is as it was.
void Scheduler::drop_slot_after_failure(Job& job) {
  if (!job.slot) return;
  const SlotIndex slot = *job.slot;
  switch (slots_.word(slot).state) {
    case shm::SlotState::kLeased:
      if (const auto released = slots_.release_unwiped(slot); !released) {
        spdlog::error("job {}: {}", job.record.id.value, released.error().message());
      }
      job.slot.reset();
      return;
    case shm::SlotState::kBound:
      if (const auto unbound = slots_.unbind(slot); !unbound) {
        spdlog::error("job {}: {}", job.record.id.value, unbound.error().message());
      }
      return;
    default: return;
  }
}

void Scheduler::finish(Job& job, JobState state, std::optional<Error> error) {
  JobRecord& record = job.record;
  const auto now = clock_.now();
  add_stage(record, "total", microseconds_between(job.accepted_at, now));
  record.state = state;
  record.error = std::move(error);
  record.finished_ms = clock_.unix_ms();
  record.input_inline.clear();
  record.kills = job.attempts.kills;
  if (state != JobState::kDone) {
    record.proof.clear();
    record.publics.clear();
  }
  --open_;
  listener_.job_finished(job);
  // A task that still runs brings the job to `leave` when it ends.
  if (job.task && dispatcher_.stop(*job.task) == Dispatcher::StopResult::kStopping) return;
  job.task.reset();
  leave(job);
}

void Scheduler::leave(Job& job) {
  const JobId id = job.record.id;
  if (job.slot) {
    const SlotIndex slot = *job.slot;
    drop_slot_after_failure(job);
    const auto state = slots_.word(slot).state;
    if (state == shm::SlotState::kReady) (void)slots_.discard(slot).ok();
    if (state == shm::SlotState::kReady || state == shm::SlotState::kDone) {
      wipe(slot, id, job.assignment.payload_bytes);
    }
  }
  jobs_.erase(id);
}

void Scheduler::wipe(SlotIndex slot, JobId id, std::uint64_t payload_bytes) {
  TaskRequest request;
  request.kind = CommandKind::kWipeSlot;
  request.job = id;
  request.build = [this, slot, payload_bytes](WorkerLife life) -> Result<std::optional<Command>> {
    CUZK_TRY(writable, slots_.writable(slot));
    CUZK_CHECK(slots_.lease_for_wipe(slot, life));
    Command command;
    command.slot = slot;
    command.slot_word = slots_.word(slot);
    command.body = encode(WipeSlotCommand{payload_bytes});
    command.fds.push_back({FdRole::kSlotWritable, std::move(writable)});
    return std::optional<Command>(std::move(command));
  };
  request.ended = [this, slot](const Outcome& outcome) {
    --wiping_;
    if (outcome.ending == Ending::kDied) return;  // the slot followed its owner's death
    const auto released =
        outcome.ending == Ending::kDone ? slots_.release_wiped(slot) : slots_.release_unwiped(slot);
    if (!released) spdlog::error("slot {}: {}", slot.value, released.error().message());
  };
  ++wiping_;
  dispatcher_.submit(std::move(request));
}

void Scheduler::set_state(Job& job, JobState state) {
  job.record.state = state;
  listener_.job_changed(job);
}

void Scheduler::end_stage(Job& job, const char* stage) {
  const auto now = clock_.now();
  add_stage(job.record, stage, microseconds_between(job.stage_since, now));
  job.stage_since = now;
}

WorkId Scheduler::work_of(Job& job) const {
  job.record.attempts = ++job.runs;
  return {job.record.id, 0, job.runs};
}

}  // namespace cuzk::supervisor
