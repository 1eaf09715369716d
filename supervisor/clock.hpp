// Where the supervisor gets its time from.
//
// Everything that waits (restart back-off, time-outs of clients, ages of jobs) asks a Clock, so
// that tests turn time by hand instead of sleeping.
#pragma once

#include <chrono>
#include <cstdint>

namespace cuzk::supervisor {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic: for dead-lines and durations.
  virtual TimePoint now() const = 0;
  // Milliseconds since the Unix epoch: for what people read and the journal keeps.
  virtual std::int64_t unix_ms() const = 0;
};

class SystemClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
  std::int64_t unix_ms() const override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }
};

inline std::uint64_t microseconds_between(TimePoint from, TimePoint to) {
  const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(to - from).count();
  return elapsed > 0 ? static_cast<std::uint64_t>(elapsed) : 0;
}

}  // namespace cuzk::supervisor
