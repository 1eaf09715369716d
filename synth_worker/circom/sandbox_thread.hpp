// Runs a circuit's code on a thread of its own, with a stack of known size, and can stop it.
//
// A circuit may recurse deeply or run for ever. Its own thread has a large stack whose end the generated
// code checks, and a signal handler that jumps out of the generated code when the job is cancelled or its
// time is over. The jump leaves no lock held and no memory behind: it happens only while generated code
// runs, which owns nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include "common/result.hpp"
#include "synth_worker/circom/runtime/circuit_abi.h"
#include "synth_worker/process/child.hpp"

namespace cuzk {

inline constexpr std::size_t kSandboxStackBytes = std::size_t{64} << 20;

class SandboxThread {
 public:
  // What the body uses to make its calls stoppable.
  class Guard {
   public:
    explicit Guard(char* stack_end) : stack_end_(stack_end) {}
    // How far down this thread's stack may be used, for cuzk_limits.
    char* stack_end() const { return stack_end_; }
    // From here until unwatch() a stop interrupts this instance. Watch one at a time, and unwatch before
    // it is closed.
    void watch(const cuzk_circuit* circuit, cuzk_instance* instance);
    void unwatch();

   private:
    char* stack_end_;
  };

  enum class End { kFinished, kTimedOut, kStopped };

  // Runs `body` on the thread and waits for it. After `time_limit`, or when `keep_running` says no,
  // watched code is interrupted, and the body sees CUZK_STOP_INTERRUPTED. `body` must not throw. Errors:
  // kRetryHere when there is no thread to be had.
  static Result<End> run(const std::function<void(Guard&)>& body,
                         std::chrono::milliseconds time_limit, const KeepRunning& keep_running);
};

}  // namespace cuzk
