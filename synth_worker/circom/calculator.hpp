// A compiled circuit: from input signals to the witness.
//
// One object is loaded per circuit and kept; every calculation has an instance of its own, because
// circom's instances keep state. All trouble that a circuit makes for itself (a failed assertion, an
// access outside its memory, endless recursion or loops) ends the calculation with an error that says
// so; the process goes on.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/formats/input_json.hpp"
#include "common/formats/modulus.hpp"
#include "common/result.hpp"
#include "synth_worker/circom/runtime/circuit_abi.h"
#include "synth_worker/circom/sandbox_thread.hpp"
#include "synth_worker/process/child.hpp"

namespace cuzk {

struct CalculationLimits {
  std::chrono::milliseconds time{30 * 60'000};
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // of the circuit's linear memory
};

// What a calculation needs to know besides the circuit.
struct CalculationRequest {
  std::span<const InputSignal> inputs;
  std::string_view input_name;  // for errors
  CurveId curve{};              // the key's, and the inputs'
  std::uint64_t n_variables = 0;
  CalculationLimits limits;
  KeepRunning keep_running;
};

class CircuitCalculator {
 public:
  // Loads an object that compile_circuit made. `name` stands for it in errors. Errors: kOperator when it
  // is not such an object, or one of another version.
  static Result<CircuitCalculator> load(const std::filesystem::path& object, std::string name);

  // Whether the circuit is one over `curve` with this many variables. Errors: kBadRequest.
  Status check_fits(CurveId curve, std::uint64_t n_variables, const CalculationLimits& limits) const;

  // Fills `witness` (n_variables * 32 bytes) with canonical little-endian integers. Errors: kBadRequest
  // for inputs that do not fit the circuit (all of them named), failed assertions, and a circuit that
  // oversteps its limits; kOperator when `keep_running` said no.
  Status calculate(const CalculationRequest& request, std::span<std::byte> witness) const;

 private:
  struct Unload {
    void operator()(void* handle) const;
  };
  CircuitCalculator(std::unique_ptr<void, Unload> handle, const cuzk_circuit* circuit,
                    std::string name)
      : handle_(std::move(handle)), circuit_(circuit), name_(std::move(name)) {}

  using Body = std::function<Status(cuzk_instance*)>;
  Status in_sandbox(const CalculationLimits& limits, const KeepRunning& keep_running,
                    const Body& body) const;
  Status open_and_run(SandboxThread::Guard& guard, const CalculationLimits& limits,
                      const Body& body) const;
  Status run_once(cuzk_instance* instance, const CalculationRequest& request,
                  std::span<std::byte> witness) const;
  Status check_shape(cuzk_instance* instance, CurveId curve, std::uint64_t n_variables) const;
  Status check_inputs(cuzk_instance* instance, const CalculationRequest& request) const;
  Status set_inputs(cuzk_instance* instance, const CalculationRequest& request) const;
  Error stopped(int why, const cuzk_instance* instance, std::string_view where) const;

  std::unique_ptr<void, Unload> handle_;
  const cuzk_circuit* circuit_;
  std::string name_;
};

// FNV-1a of a signal's name, the way circom finds it.
std::uint64_t signal_name_hash(std::string_view name);

}  // namespace cuzk
