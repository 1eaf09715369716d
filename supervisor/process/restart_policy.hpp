// How long a worker that died waits before it is started again.
//
// The delay doubles from 0.2 s to 30 s and is forgotten once the worker was ready for a minute, so
// a crash costs a blink and a worker that cannot start costs next to nothing.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "supervisor/clock.hpp"

namespace cuzk::supervisor {

struct RestartSettings {
  Duration first_delay = std::chrono::milliseconds(200);
  Duration longest_delay = std::chrono::seconds(30);
  Duration forgiven_after = std::chrono::seconds(60);
};

class RestartPolicy {
 public:
  explicit RestartPolicy(RestartSettings settings) : settings_(settings) {}

  // `ready_since`: since when it was ready, if it was. Returns the delay before the next start.
  Duration on_death(std::optional<TimePoint> ready_since, TimePoint now) {
    if (ready_since && now - *ready_since >= settings_.forgiven_after) delay_ = {};
    delay_ = delay_ == Duration{} ? settings_.first_delay
                                  : std::min(2 * delay_, settings_.longest_delay);
    return delay_;
  }

 private:
  RestartSettings settings_;
  Duration delay_{};
};

}  // namespace cuzk::supervisor
