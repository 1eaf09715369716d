// circom's C++ witness program, run as a child.
//
// The program is the circuit author's native code: it runs with this process's rights, so registering one
// is a matter of trust; what is bounded here is its time, memory and output. It reads numbers as doubles
// and rejects negative ones, so it gets a file written here, with canonical decimal strings. Input and
// output are memfds: the witness never touches a disk, and nothing is left behind, whoever dies.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "common/formats/input_json.hpp"
#include "common/result.hpp"
#include "common/types.hpp"
#include "synth_worker/process/child.hpp"

namespace cuzk {

struct ProgramLimits {
  std::chrono::milliseconds time{30 * 60'000};
  std::uint64_t memory_bytes = std::uint64_t{64} << 30;  // of address space
};

struct ProgramRequest {
  std::filesystem::path program;  // its .dat is beside it
  std::span<const InputSignal> inputs;
  std::string_view input_name;    // for errors
  CurveId curve{};
  std::uint64_t n_variables = 0;
  ProgramLimits limits;
  KeepRunning keep_running;
};

// Fills `witness` (n_variables * 32 bytes) with the checked output. Errors: kBadRequest when the program
// fails (with its exit status and what it wrote to stderr), oversteps its limits, or writes something
// else than a witness of this circuit; kOperator when `keep_running` said no.
Status run_witness_program(const ProgramRequest& request, std::span<std::byte> witness);

// Whether the files look like a circom witness program for a circuit with `n_variables` that this machine
// can start. Errors: kBadRequest.
Status check_witness_program(const std::filesystem::path& program, const std::filesystem::path& data,
                             const std::string& name, std::uint64_t n_variables,
                             const ProgramLimits& limits, const KeepRunning& keep_running);

}  // namespace cuzk
