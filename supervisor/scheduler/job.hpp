// A job while it is open: what the journal knows, and where its work stands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/protocol/messages.hpp"
#include "supervisor/clock.hpp"
#include "supervisor/journal/job_record.hpp"
#include "supervisor/scheduler/attempts.hpp"

namespace cuzk::supervisor {

struct Job {
  JobRecord record;
  KeyInfo key;
  bool key_ready = false;  // the prepared key is there and was checked since the supervisor started

  Attempts attempts;
  std::uint32_t runs = 0;  // tasks started: numbers the attempt in slot headers
  std::uint32_t invalid_proofs = 0;
  std::optional<TaskId> task;         // the one task that works on it, queued or running
  std::optional<SlotIndex> slot;      // holds its assignment, or will
  WorkId assignment_work;             // as the slot's header names it
  SynthesiseResult assignment;        // meaningful from kReady on
  std::string proof;                  // unverified, while kVerifying
  std::optional<WorkerIndex> prover;  // who made it
  std::string step;                   // for people
  std::uint32_t permille = 0;

  TimePoint accepted_at;
  TimePoint stage_since;
};

// Place in the queue, see head_start_ms().
inline std::int64_t order_of(const JobRecord& record) {
  return record.submitted_ms - head_start_ms(static_cast<int>(record.priority));
}

// Adds to a stage's time: a repeated stage shows the sum of its attempts.
void add_stage(JobRecord& record, std::string_view stage, std::uint64_t microseconds);

// What clients see. `with_answer`: proof and publics as well.
JobReport report_of(const JobRecord& record, bool with_answer);

}  // namespace cuzk::supervisor
