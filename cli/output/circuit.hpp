// Words for what a circuit can do.
#pragma once

#include <string>

#include "common/worker/messages.hpp"

namespace cuzk::cli {

// "inputs by wasm, constraints known".
inline std::string witness_source(const CircuitArtefacts& artefacts) {
  std::string text = artefacts.has_wasm      ? "inputs by wasm"
                     : artefacts.has_program ? "inputs by program"
                                             : "witnesses only";
  if (artefacts.has_r1cs) text += ", constraints known";
  return text;
}

}  // namespace cuzk::cli
