// From a circuit's WebAssembly to a shared object: wasm2c, then the system's C compiler.
//
// Compiled ahead of time, a calculation runs at the speed of C and starts in microseconds. The result
// stays sandboxed by construction: wasm2c turns every memory access into one that is checked against
// the instance's memory, every indirect call into one whose signature is checked, and its code can name
// nothing outside. Bounds are explicit comparisons rather than guard pages, because then nothing depends
// on signal handlers in a process that maps keys and slots.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "common/result.hpp"
#include "synth_worker/process/child.hpp"

namespace cuzk {

struct CompilerSettings {
  std::chrono::milliseconds time_limit{20 * 60'000};
  // gcc takes about 0.3 GiB for each MiB of WebAssembly.
  std::uint64_t memory_bytes = std::uint64_t{16} << 30;
};

// Compiles the module at `wasm` to `object`, which must not exist. Intermediate files lie in a private
// folder beside it, and nothing but the object stays. `name` stands for the module in errors: kBadRequest
// for a module that is not circom's or does not compile, kOperator when a tool is missing or
// `keep_running` says no.
Status compile_circuit(const std::filesystem::path& wasm, const std::filesystem::path& object,
                       const std::string& name, const CompilerSettings& settings,
                       const KeepRunning& keep_running = {});

}  // namespace cuzk
