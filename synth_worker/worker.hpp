// The command loop of a synthesis process.
//
// It only translates: each command is decoded, its descriptors are taken, and a function that knows
// nothing of rings does the work (keys/, circom/, files/, assignment/). The process holds no job and no
// state that matters: whatever it dies of, the supervisor's tables say what is done again.
#pragma once

#include "common/result.hpp"
#include "common/worker/messages.hpp"
#include "common/worker/runtime.hpp"
#include "synth_worker/circom/add_circuit.hpp"
#include "synth_worker/circom/calculator_cache.hpp"
#include "synth_worker/task_monitor.hpp"

namespace cuzk {

class SynthWorker {
 public:
  explicit SynthWorker(WorkerRuntime& runtime);

  // Until it is time to exit; returns the exit code.
  int serve();

 private:
  // What a task answers: the body of its kDone event.
  using Answer = Result<std::string>;

  Answer run(const Command& command);
  Answer dispatch(const Command& command);
  Answer on_prepare_key(const Command& command);
  Answer on_add_circuit(const Command& command);
  Answer on_spool_input(const Command& command);
  Answer on_synthesise(const Command& command);
  Answer on_verify(const Command& command);
  Answer on_explain(const Command& command);
  Answer on_wipe_slot(const Command& command);

  WorkerRuntime& runtime_;
  TaskMonitor monitor_;
  CircuitSettings settings_;
  CalculatorCache calculators_;
};

}  // namespace cuzk
