// --timeout SECONDS: one limit for a command that asks several times.
#pragma once

#include <chrono>
#include <optional>

#include <CLI/App.hpp>

namespace cuzk::cli {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  // `seconds` of 0: for ever.
  explicit Deadline(double seconds) {
    if (seconds > 0)
      end_ = Clock::now() +
             std::chrono::round<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  // What is left, at least 1 ms; nothing: for ever.
  std::optional<std::chrono::milliseconds> left() const {
    if (!end_) return std::nullopt;
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(*end_ - Clock::now()),
                    std::chrono::milliseconds(1));
  }

 private:
  std::optional<Clock::time_point> end_;
};

inline void add_timeout(CLI::App& app, double& seconds) {
  app.add_option("--timeout", seconds,
                 "Wait at most so long, then exit with code 4; the job goes on")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 1e8));
}

}  // namespace cuzk::cli
