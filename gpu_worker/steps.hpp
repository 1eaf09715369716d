// The steps of proving, in order, and the watch over them.
//
// A step is the unit of progress, of timing and of cancelling: an engine announces each one before it
// starts, on the thread that does or awaits the work, so that a step that hangs is seen as a mark that does
// not move. Between steps, and only there, a task can be cancelled.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "common/result.hpp"
#include "common/worker/messages.hpp"

namespace cuzk {

enum class Step : std::uint8_t {
  kUpload,    // the assignment to where the engine reads it
  kExpand,    // from the slot's layout to canonical integers, which are checked
  kEvaluate,  // a = A w, b = B w, c = a * b row by row
  kQuotient,  // the scalars of the H points
  kMsmH,
  kMsmL,
  kMsmA,
  kMsmB1,
  kMsmB2,
  kFinish,    // the blinding factors and the three points of the proof
};

inline constexpr std::array kSteps = {Step::kUpload,   Step::kExpand, Step::kEvaluate,
                                      Step::kQuotient, Step::kMsmH,   Step::kMsmL,
                                      Step::kMsmA,     Step::kMsmB1,  Step::kMsmB2,
                                      Step::kFinish};

constexpr const char* name_of(Step step) {
  switch (step) {
    case Step::kUpload: return "upload";
    case Step::kExpand: return "expand";
    case Step::kEvaluate: return "evaluate";
    case Step::kQuotient: return "quotient";
    case Step::kMsmH: return "msm h";
    case Step::kMsmL: return "msm l";
    case Step::kMsmA: return "msm a";
    case Step::kMsmB1: return "msm b1";
    case Step::kMsmB2: return "msm b2";
    case Step::kFinish: return "finish";
  }
  return "unknown";
}

// Follows one proof through its steps. Used by one thread at a time.
class StepMonitor {
 public:
  using Mark = std::function<void(Step)>;      // told when a step starts
  using Cancelled = std::function<bool()>;     // asked before a step starts

  explicit StepMonitor(Mark mark = {}, Cancelled cancelled = {})
      : mark_(std::move(mark)), cancelled_(std::move(cancelled)) {}

  // Ends the step before. Fails with kOperator when the task is cancelled: the engine then returns this
  // error at once.
  Status begin(Step step) {
    end();
    if (cancelled_ && cancelled_()) {
      return Error{ErrorClass::kOperator, "the task was cancelled",
                   std::string("before step ") + name_of(step), {}};
    }
    current_ = step;
    started_ = Clock::now();
    if (mark_) mark_(step);
    return {};
  }

  void end() {
    if (!current_) return;
    const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - started_);
    times_.push_back({name_of(*current_), static_cast<std::uint64_t>(elapsed.count())});
    current_.reset();
  }

  // One entry a step, in the order in which they ran.
  const std::vector<StepTime>& times() const { return times_; }

 private:
  using Clock = std::chrono::steady_clock;

  Mark mark_;
  Cancelled cancelled_;
  std::optional<Step> current_;
  Clock::time_point started_;
  std::vector<StepTime> times_;
};

}  // namespace cuzk
