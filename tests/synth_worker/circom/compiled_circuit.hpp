// A circuit's WebAssembly, compiled for one test program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/formats/input_json.hpp"
#include "common/formats/wtns.hpp"
#include "synth_worker/circom/calculator.hpp"
#include "synth_worker/circom/compile_circuit.hpp"
#include "tests/synth_worker/support.hpp"

namespace cuzk::test {

using Witness = std::vector<std::byte>;

class CompiledCircuit {
 public:
  // Compiles the module; a failure is the test's.
  explicit CompiledCircuit(const fs::path& wasm) {
    const auto compiled = compile_circuit(wasm, object(), wasm.filename().string(), {});
    EXPECT_TRUE(compiled.ok()) << compiled.error().message();
    if (!compiled) return;
    auto calculator = CircuitCalculator::load(object(), wasm.filename().string());
    EXPECT_TRUE(calculator.ok()) << calculator.error().message();
    if (calculator) calculator_ = std::make_unique<CircuitCalculator>(std::move(*calculator));
    EXPECT_EQ(folder_.entries(), 1U) << "compiling leaves the object and nothing else";
  }

  fs::path object() const { return folder_ / "circuit.so"; }
  explicit operator bool() const { return calculator_ != nullptr; }
  const CircuitCalculator* operator->() const { return calculator_.get(); }

  // The witness for an input text.
  Result<Witness> calculate(std::string_view input, CurveId curve, std::uint64_t n_variables,
                            const CalculationLimits& limits = {},
                            const KeepRunning& keep_running = {}) const {
    CUZK_TRY(signals, parse_input(input, curve, "input.json"));
    Witness witness(n_variables * 32);
    CUZK_CHECK(calculator_->calculate(
        {signals, "input.json", curve, n_variables, limits, keep_running}, witness));
    return witness;
  }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<CircuitCalculator> calculator_;
};

// The values of a .wtns file.
inline Witness wtns_values(const fs::path& path) {
  const std::string bytes = read_bytes(path);
  const auto wtns = parse_wtns(std::as_bytes(std::span(bytes.data(), bytes.size())), path.string());
  EXPECT_TRUE(wtns.ok()) << path;
  if (!wtns) return {};
  return {wtns->values.begin(), wtns->values.end()};
}

}  // namespace cuzk::test
