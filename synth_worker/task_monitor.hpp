// How a task's code tells what it does and learns that nobody wants it any more.
//
// The functions that do the work know neither rings nor supervisors; tests pass their own monitor.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "common/result.hpp"
#include "synth_worker/process/child.hpp"

namespace cuzk {

struct TaskMonitor {
  // `permille` of the step; called from the thread that does the work.
  std::function<void(std::string_view step, std::uint32_t permille)> progress;
  KeepRunning keep_running;

  void at(std::string_view step, std::uint32_t permille = 0) const {
    if (progress) progress(step, permille);
  }
  // Fails with kOperator when the task should be given up.
  Status check() const {
    if (!keep_running || keep_running()) return {};
    return Error{ErrorClass::kOperator, "stopped on request", {}, {}};
  }
};

}  // namespace cuzk
