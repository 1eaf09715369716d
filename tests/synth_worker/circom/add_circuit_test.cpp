// Registering a circuit makes its folder whole, or not at all.
#include "synth_worker/circom/add_circuit.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synth_worker/circom/circuit_folder.hpp"
#include "tests/synth_worker/circom/wasm_text.hpp"
#include "tests/synth_worker/support.hpp"

namespace cuzk::test {
namespace {

using testing::HasSubstr;

class AddCircuit : public testing::Test {
 protected:
  // The shape of mult2's key.
  static KeyShape mult2_key() {
    KeyShape shape;
    shape.curve = CurveId::kBn254;
    shape.n_variables = 4;
    shape.n_public = 1;
    shape.domain_size = 4;
    return shape;
  }
  Result<CircuitArtefacts> add(const CircuitFiles& files, const KeyShape& key = mult2_key(),
                               const CircuitSettings& settings = {},
                               const TaskMonitor& monitor = {}) {
    return add_circuit({"mult2", folder().string(), "key"}, files, key, settings, monitor);
  }
  void expect_refused(const CircuitFiles& files, const KeyShape& key, const std::string& what) {
    const auto artefacts = add(files, key);
    ASSERT_FALSE(artefacts.ok());
    EXPECT_EQ(artefacts.error().error_class, ErrorClass::kBadRequest);
    EXPECT_THAT(artefacts.error().message(), HasSubstr(what));
    EXPECT_EQ(parent_.entries(), 0U) << "nothing is left behind";
  }
  static UniqueFd mult2(std::string_view ending) {
    return open_file(data_path("circom/bn128/mult2/mult2.") + std::string(ending));
  }
  fs::path folder() const { return parent_ / "circuit"; }

  TemporaryFolder parent_;
};

TEST_F(AddCircuit, KeepsWhatItNeedsToCalculateAndExplain) {
  CircuitFiles files;
  files.wasm = mult2("wasm");
  files.r1cs = mult2("r1cs");
  const auto artefacts = add(files);
  ASSERT_TRUE(artefacts.ok()) << artefacts.error().message();
  EXPECT_TRUE(artefacts->has_wasm);
  EXPECT_TRUE(artefacts->has_r1cs);
  EXPECT_FALSE(artefacts->has_program);
  const CircuitFolder circuit{folder()};
  EXPECT_TRUE(CircuitCalculator::load(circuit.object(), "mult2").ok());
  EXPECT_EQ(read_bytes(circuit.r1cs()), read_bytes(data_path("circom/bn128/mult2/mult2.r1cs")));
  EXPECT_EQ(parent_.entries(), 1U);
}

TEST_F(AddCircuit, KeepsAWitnessProgramExecutableWithItsData) {
  const TemporaryFolder source;
  compile_c(source / "program", "int main(void) { return 1; }");
  CircuitFiles files;
  files.program = open_file(source / "program");
  files.program_data = memory_file(std::string(6144 + 32, '\0'));
  const auto artefacts = add(files);
  ASSERT_TRUE(artefacts.ok()) << artefacts.error().message();
  EXPECT_TRUE(artefacts->has_program);
  const CircuitFolder circuit{folder()};
  EXPECT_EQ(fs::status(circuit.program()).permissions(),
            fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(circuit.program_data(), circuit.program().string() + ".dat");
  EXPECT_EQ(fs::file_size(circuit.program_data()), 6176U);
}

TEST_F(AddCircuit, ReplacesTheFolderOfAnAttemptWhoseAnswerWasLost) {
  fs::create_directory(folder());
  write_bytes(folder() / "stale", "x");
  ASSERT_TRUE(add({}).ok());
  EXPECT_FALSE(fs::exists(folder() / "stale"));
  EXPECT_EQ(parent_.entries(), 1U);
}

TEST_F(AddCircuit, RefusesAWasmOfAnotherCurveOrSize) {
  CircuitFiles files;
  files.wasm = open_file(data_path("circom/bls12381/mult2/mult2.wasm"));
  expect_refused(files, mult2_key(), "compiled for bls12381, the key is for bn128");
  KeyShape larger = mult2_key();
  larger.n_variables = 5;
  files.wasm = mult2("wasm");
  expect_refused(files, larger, "has 4 variables, the key has 5");
}

TEST_F(AddCircuit, RefusesWhatIsNoWasm) {
  CircuitFiles files;
  files.wasm = memory_file("garbage");
  expect_refused(files, mult2_key(), "is not a WebAssembly module");
  files.wasm = memory_file("");
  expect_refused(files, mult2_key(), "is empty");
}

TEST_F(AddCircuit, RefusesAWasmThatIsNotValidAndQuotesTheCompiler) {
  // A bad instruction inside a function: the sections are whole, and only wasm2c looks at code.
  CircuitFiles files;
  const TemporaryFolder source;
  WasmText text;
  text.set_input = "(drop (i32.const 1))";
  assemble(source / "bad.wasm", text.str());
  std::string bad = read_bytes(source / "bad.wasm");
  const std::size_t body = bad.find(std::string("\x41\x01\x1a\x0b", 4));
  ASSERT_NE(body, std::string::npos);
  bad[body + 2] = '\x6a';  // i32.add with one operand
  files.wasm = memory_file(bad);
  expect_refused(files, mult2_key(), "wasm2c failed");
}

TEST_F(AddCircuit, RefusesAnR1csOfAnotherCircuit) {
  CircuitFiles files;
  files.r1cs = open_file(data_path("circom/bn128/chain_1000/chain_1000.r1cs"));
  expect_refused(files, mult2_key(), "mult2.r1cs: has ");
  files.r1cs = open_file(data_path("circom/bls12381/mult2/mult2.r1cs"));
  expect_refused(files, mult2_key(), "is for bls12381, the key is for bn128");
  files.r1cs = open_file(data_path("malformed/bn128/r02_truncated.r1cs"));
  expect_refused(files, mult2_key(), "mult2.r1cs");
}

TEST_F(AddCircuit, RefusesAProgramWithoutItsData) {
  CircuitFiles files;
  files.program = memory_file("x");
  expect_refused(files, mult2_key(), ".dat file is missing");
}

TEST_F(AddCircuit, StopsTheCompilerWhenNobodyWantsTheCircuit) {
  CircuitFiles files;
  files.wasm = mult2("wasm");
  std::string step;
  TaskMonitor monitor;
  monitor.progress = [&step](std::string_view at, std::uint32_t) { step = at; };
  monitor.keep_running = [&step] { return step != "compile the wasm"; };
  const auto artefacts = add(files, mult2_key(), {}, monitor);
  ASSERT_FALSE(artefacts.ok());
  EXPECT_EQ(artefacts.error().error_class, ErrorClass::kOperator);
  EXPECT_EQ(parent_.entries(), 0U);
}

TEST_F(AddCircuit, BoundsTheTimeOfTheCompiler) {
  CircuitFiles files;
  files.wasm = mult2("wasm");
  CircuitSettings settings;
  settings.compiler.time_limit = std::chrono::milliseconds(50);
  const auto artefacts = add(files, mult2_key(), settings);
  ASSERT_FALSE(artefacts.ok());
  EXPECT_EQ(artefacts.error().error_class, ErrorClass::kBadRequest);
  EXPECT_THAT(artefacts.error().message(), HasSubstr("ran longer than"));
  EXPECT_EQ(parent_.entries(), 0U);
}

TEST_F(AddCircuit, BoundsTheMemoryOfTheCompiler) {
  CircuitFiles files;
  files.wasm = mult2("wasm");
  CircuitSettings settings;
  settings.compiler.memory_bytes = 30 << 20;
  const auto artefacts = add(files, mult2_key(), settings);
  ASSERT_FALSE(artefacts.ok());
  EXPECT_EQ(artefacts.error().error_class, ErrorClass::kBadRequest);
  EXPECT_EQ(parent_.entries(), 0U);
}

}  // namespace
}  // namespace cuzk::test
