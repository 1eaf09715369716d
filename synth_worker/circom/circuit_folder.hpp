// The names in a registered circuit's folder.
//
// A circuit's folder is made whole, under another name, and then renamed; afterwards nobody writes to it.
//   circuit.wasm, circuit.so            circom's WebAssembly, and what was compiled from it
//   witness_program, witness_program.dat  circom's C++ program (executable) and its data
//   circuit.r1cs                        the constraints, to explain a rejected witness
// Each pair or file is there only when it was given.
#pragma once

#include <filesystem>

#include "common/worker/messages.hpp"

namespace cuzk {

struct CircuitFolder {
  std::filesystem::path folder;

  std::filesystem::path wasm() const { return folder / "circuit.wasm"; }
  std::filesystem::path object() const { return folder / "circuit.so"; }
  std::filesystem::path program() const { return folder / "witness_program"; }
  // circom's programs look for their own name with ".dat" behind it.
  std::filesystem::path program_data() const { return folder / "witness_program.dat"; }
  std::filesystem::path r1cs() const { return folder / kCircuitR1csFile; }
};

}  // namespace cuzk
