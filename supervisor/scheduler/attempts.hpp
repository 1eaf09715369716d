// When a piece of work is tried again, and when it is given up.
//
// The class of an error decides, never its text. Work that was being done by three workers when
// they died is poison: it would take down the rest as well. Everything else that may pass is tried
// five times unless the configuration says otherwise.
#pragma once

#include <cstdint>
#include <optional>

#include "supervisor/scheduler/task.hpp"

namespace cuzk::supervisor {

inline constexpr std::uint32_t kMaxFailures = 5;
inline constexpr std::uint32_t kMaxKills = 3;

struct Attempts {
  std::uint32_t failures = 0;  // attempts that ended without a result
  std::uint32_t kills = 0;     // workers that died while they worked on this
  std::optional<WorkerIndex> avoid;
  std::uint32_t max_failures = kMaxFailures;

  // Counts an outcome that is not kDone. nullopt: try again; otherwise the final error.
  std::optional<Error> count(const Outcome& outcome) {
    if (outcome.ending == Ending::kDied) {
      // The task bound behind the one that killed the worker is a victim and carries no blame.
      if (!outcome.blamed) return std::nullopt;
      avoid = outcome.life.worker;
      if (++kills < kMaxKills) return std::nullopt;
      return Error{ErrorClass::kPoisonJob,
                   "the work killed " + std::to_string(kills) + " workers",
                   {},
                   "last death: " + outcome.error.what};
    }
    switch (outcome.error.error_class) {
      case ErrorClass::kRetryHere:
      case ErrorClass::kOperator: break;
      case ErrorClass::kRetryElsewhere:
      case ErrorClass::kDeviceFault:
      case ErrorClass::kBug:
      case ErrorClass::kBusy:
      case ErrorClass::kUnavailable: avoid = outcome.life.worker; break;
      case ErrorClass::kBadRequest:
      case ErrorClass::kPoisonJob: return outcome.error;
    }
    if (++failures < max_failures) return std::nullopt;
    return outcome.error;
  }
};

}  // namespace cuzk::supervisor
