// One piece of work for one worker, and how it ends.
//
// A task runs at most once and ends exactly once: done, failed, or with the death of its worker.
// Whoever asked for it decides what follows (scheduler/attempts.hpp has the rule), so the
// dispatcher needs to know nothing about jobs, keys or slots.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "common/types.hpp"
#include "common/unique_fd.hpp"
#include "common/worker/messages.hpp"
#include "shm/slot_word.hpp"

namespace cuzk::supervisor {

enum class WorkerRole : std::uint8_t { kSynth, kGpu };

constexpr const char* name_of(WorkerRole role) {
  return role == WorkerRole::kSynth ? "synth" : "gpu";
}

constexpr WorkerRole role_of(CommandKind kind) {
  return kind == CommandKind::kProve ? WorkerRole::kGpu : WorkerRole::kSynth;
}

constexpr const char* name_of(CommandKind kind) {
  switch (kind) {
    case CommandKind::kPrepareKey: return "prepare key";
    case CommandKind::kAddCircuit: return "add circuit";
    case CommandKind::kSpoolInput: return "spool input";
    case CommandKind::kSynthesise: return "synthesise";
    case CommandKind::kVerify: return "verify";
    case CommandKind::kExplain: return "explain";
    case CommandKind::kWipeSlot: return "wipe slot";
    case CommandKind::kProve: return "prove";
    case CommandKind::kDropKey: return "drop key";
    case CommandKind::kShutdown: return "shut down";
  }
  return "unknown";
}

// A worker in one of its lives. Index and epoch together are never used twice.
struct WorkerLife {
  WorkerIndex worker;
  Epoch epoch;
  constexpr auto operator<=>(const WorkerLife&) const = default;
};

struct LabelledFd {
  FdRole role{};
  UniqueFd fd;
};

// What is sent to the worker.
struct Command {
  SlotIndex slot;  // without meaning while slot_word is kFreshSlot
  shm::SlotWord slot_word = shm::kFreshSlot;
  std::string body;
  std::vector<LabelledFd> fds;
};

enum class Ending : std::uint8_t { kDone, kFailed, kDied };

struct Outcome {
  Ending ending = Ending::kFailed;
  std::string body;     // kDone: the encoded result
  Error error;          // kFailed: the worker's; kDied: what is known of the death
  WorkerLife life;      // who had it; epoch 0 when it never started
  bool blamed = false;  // kDied: the worker was working on this task, not on one before it
};

struct TaskRequest {
  CommandKind kind{};
  std::int64_t order = 0;            // milliseconds; smaller goes first, see virtual_start()
  bool long_running = false;         // may take minutes: leaves one synth worker to the others
  std::uint64_t affinity = 0;        // a worker that ran the same value last is preferred; 0: none
  std::optional<WorkerIndex> avoid;  // not this one while another of its role is ready
  std::optional<JobId> job;          // for logs and status

  // Makes the command for the worker that was chosen. nullopt: it cannot start now (no slot is
  // free); tasks of the same kind then wait behind it. An error ends the task as kFailed.
  std::function<Result<std::optional<Command>>(WorkerLife)> build;
  // Called exactly once, unless the task is withdrawn before it starts.
  std::function<void(Outcome)> ended;
  std::function<void(const TaskProgress&)> progress;  // may be empty
};

// How far a priority moves a request ahead in the queue. Since every request's place is a moment in
// time, a low one is overtaken only by what arrives within this distance after it: nobody starves.
constexpr std::int64_t head_start_ms(int priority_value) {
  switch (priority_value) {
    case 1: return 0;            // low
    case 2: return 60'000;       // normal: a minute
    case 3: return 900'000;      // high: a quarter of an hour
    default: return 86'400'000;  // critical: a day
  }
}

}  // namespace cuzk::supervisor
