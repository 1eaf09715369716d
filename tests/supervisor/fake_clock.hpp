// Time that stands still until a test moves it.
#pragma once

#include "supervisor/clock.hpp"

namespace cuzk::supervisor {

class FakeClock final : public Clock {
 public:
  TimePoint now() const override { return now_; }
  std::int64_t unix_ms() const override {
    return kStartMs +
           std::chrono::duration_cast<std::chrono::milliseconds>(now_ - TimePoint{}).count();
  }
  void advance(Duration by) { now_ += by; }

  // In the year 2100: files that a test makes now are old by then.
  static constexpr std::int64_t kStartMs = 4'102'444'800'000;

 private:
  TimePoint now_{};
};

}  // namespace cuzk::supervisor
