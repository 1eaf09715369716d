// kAddCircuit: makes the folder of a circuit from the files that a client gave.
#pragma once

#include <optional>

#include "common/groth16/prepared_key.hpp"
#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "common/worker/messages.hpp"
#include "synth_worker/circom/calculator.hpp"
#include "synth_worker/circom/compile_circuit.hpp"
#include "synth_worker/circom/witness_program.hpp"
#include "synth_worker/task_monitor.hpp"

namespace cuzk {

// What came with the command; each is copied before it is looked at.
struct CircuitFiles {
  std::optional<UniqueFd> wasm;
  std::optional<UniqueFd> program;
  std::optional<UniqueFd> program_data;
  std::optional<UniqueFd> r1cs;
};

struct CircuitSettings {
  CompilerSettings compiler;
  CalculationLimits calculation;
  ProgramLimits program;
};

// Copies, compiles and checks the files against the prepared key's curve and sizes, and creates
// command.folder with them; a failure, or the death of the process, creates nothing of that name. Errors:
// kBadRequest naming the file; kOperator when a compiler is missing; kRetryHere for trouble with the disk.
Result<CircuitArtefacts> add_circuit(const AddCircuitCommand& command, const CircuitFiles& files,
                                     const KeyShape& key, const CircuitSettings& settings,
                                     const TaskMonitor& monitor);

}  // namespace cuzk
