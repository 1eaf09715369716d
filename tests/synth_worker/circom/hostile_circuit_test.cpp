// Circuits that misbehave: each ends with an error that says what it did, and the process goes on.
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/synth_worker/circom/compiled_circuit.hpp"
#include "tests/synth_worker/circom/wasm_text.hpp"

namespace cuzk::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class HostileCircuit : public testing::Test {
 protected:
  // Compiles the circuit and gives it its one input.
  Result<Witness> run(const WasmText& text, const CalculationLimits& limits = {},
                      const KeepRunning& keep_running = {}) {
    assemble(folder_ / "circuit.wasm", text.str());
    circuit_ = std::make_unique<CompiledCircuit>(folder_ / "circuit.wasm");
    if (!*circuit_) return bug("the circuit does not compile");
    return again(limits, keep_running);
  }
  Result<Witness> again(const CalculationLimits& limits = {}, const KeepRunning& keep_running = {}) {
    return circuit_->calculate(R"({"a": 1})", CurveId::kBn254, 2, limits, keep_running);
  }
  void expect_failure(const WasmText& text, const char* what) {
    const auto witness = run(text);
    ASSERT_FALSE(witness.ok());
    EXPECT_EQ(witness.error().error_class, ErrorClass::kBadRequest) << witness.error().message();
    EXPECT_THAT(witness.error().message(), HasSubstr(what));
    // The same object once more: nothing of the first run is left.
    const auto second = again();
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().message(), witness.error().message());
  }

  TemporaryFolder folder_;
  std::unique_ptr<CompiledCircuit> circuit_;
};

constexpr const char* kLoop = "(loop $again (br $again))";

TEST_F(HostileCircuit, IsNotWhatTheTemplateMakes) {
  const auto witness = run({});
  ASSERT_TRUE(witness.ok()) << witness.error().message();
  Witness expected(64);
  expected[0] = std::byte{1};
  expected[32] = std::byte{5};
  EXPECT_TRUE(*witness == expected);
}

TEST_F(HostileCircuit, ThatLoopsForEverIsStoppedAtItsTimeLimit) {
  WasmText text;
  text.set_input = kLoop;
  CalculationLimits limits;
  limits.time = std::chrono::milliseconds(200);
  const auto start = std::chrono::steady_clock::now();
  const auto witness = run(text, limits);
  ASSERT_FALSE(witness.ok());
  EXPECT_EQ(witness.error().error_class, ErrorClass::kBadRequest);
  EXPECT_THAT(witness.error().message(), HasSubstr("took longer than 0.2 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST_F(HostileCircuit, ThatLoopsForEverIsStoppedWhenItsJobIsCancelled) {
  WasmText text;
  text.init = kLoop;
  int asked = 0;
  const auto witness = run(text, {}, [&asked] { return ++asked < 3; });
  ASSERT_FALSE(witness.ok());
  EXPECT_EQ(witness.error().error_class, ErrorClass::kOperator);
}

TEST_F(HostileCircuit, ThatLoopsWhileItsWitnessIsReadIsStopped) {
  WasmText text;
  text.get_witness = kLoop;
  CalculationLimits limits;
  limits.time = std::chrono::milliseconds(100);
  const auto witness = run(text, limits);
  ASSERT_FALSE(witness.ok());
  EXPECT_THAT(witness.error().message(), HasSubstr("took longer"));
}

TEST_F(HostileCircuit, ThatRecursesForEverExhaustsItsOwnStack) {
  WasmText text;
  text.extra = "(func $deeper (param i32) (result i32) "
               "(i32.add (i32.const 1) (call $deeper (i32.add (local.get 0) (i32.const 1)))))";
  text.set_input = "(drop (call $deeper (i32.const 0)))";
  expect_failure(text, "recursion exhausted the stack");
}

TEST_F(HostileCircuit, MayRecurseDeeplyWithLargeFrames) {
  WasmText text;
  text.extra = R"((func $deeper (param i64) (result i64)
      (local $a i64) (local $b i64) (local $c i64) (local $d i64)
      (local.set $a (i64.mul (local.get 0) (i64.const 3)))
      (local.set $b (i64.mul (local.get $a) (i64.const 5)))
      (local.set $c (i64.xor (local.get $b) (i64.const 7)))
      (if (result i64) (i64.eqz (local.get 0)) (then (i64.const 0)) (else
        (i64.add (i64.add (local.get $a) (i64.add (local.get $b) (local.get $c)))
          (call $deeper (i64.sub (local.get 0) (i64.const 1))))))))";
  text.set_input = "(drop (call $deeper (i64.const 100000)))";
  const auto witness = run(text);
  EXPECT_TRUE(witness.ok()) << witness.error().message();
}

TEST_F(HostileCircuit, CannotReadOutsideItsMemory) {
  WasmText text;
  text.set_input = "(drop (i32.load offset=4294967295 (i32.const -1)))";
  expect_failure(text, "memory out of bounds");
}

TEST_F(HostileCircuit, CannotReadTheByteBehindItsMemory) {
  WasmText text;
  text.set_input = "(drop (i32.load8_u (i32.const 65535))) (drop (i32.load (i32.const 65533)))";
  expect_failure(text, "memory out of bounds");
}

TEST_F(HostileCircuit, CannotWriteOutsideItsMemory) {
  WasmText text;
  text.set_input = "(i64.store (i32.const 65529) (i64.const -1))";
  expect_failure(text, "memory out of bounds");
}

TEST_F(HostileCircuit, CannotFillOrCopyBeyondItsMemory) {
  WasmText text;
  text.set_input = "(memory.fill (i32.const 65000) (i32.const 1) (i32.const -1))";
  expect_failure(text, "memory out of bounds");
  text.set_input = "(memory.copy (i32.const 0) (i32.const 1) (i32.const 65536))";
  expect_failure(text, "memory out of bounds");
}

TEST_F(HostileCircuit, CannotGrowBeyondItsLimit) {
  WasmText text;
  text.memory = R"((memory (export "memory") 1))";
  // Grows page by page, touching each, until it cannot; then writes to what it was refused.
  text.set_input = R"((loop $more
      (i32.store (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 4)) (i32.const 1))
      (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (i32.store (i32.mul (memory.size) (i32.const 65536)) (i32.const 1)))";
  CalculationLimits limits;
  limits.memory_bytes = 4 << 20;
  const auto witness = run(text, limits);
  ASSERT_FALSE(witness.ok());
  EXPECT_THAT(witness.error().message(), HasSubstr("memory out of bounds"));
  limits.memory_bytes = 65536;
  EXPECT_FALSE(again(limits).ok());
}

TEST_F(HostileCircuit, MayGrowWithinItsLimit) {
  WasmText text;
  text.set_input = R"((if (i32.ne (memory.grow (i32.const 3)) (i32.const 1)) (then unreachable))
    (if (i32.ne (memory.size) (i32.const 4)) (then unreachable))
    (if (i32.ne (i32.load (i32.const 262140)) (i32.const 0)) (then unreachable))
    (i32.store (i32.const 262140) (i32.const 1)))";
  const auto witness = run(text);
  EXPECT_TRUE(witness.ok()) << witness.error().message();
}

TEST_F(HostileCircuit, CannotHaveMoreMemoryThanItsLimitFromTheStart) {
  WasmText text;
  text.memory = R"((memory (export "memory") 65536))";
  expect_failure(text, "needs more memory than it may use");
}

TEST_F(HostileCircuit, ThatExecutesUnreachableSaysSo) {
  WasmText text;
  text.set_input = "unreachable";
  expect_failure(text, "unreachable");
}

TEST_F(HostileCircuit, ThatDividesByZeroSaysSo) {
  WasmText text;
  text.set_input = "(drop (i32.div_s (local.get 0) (i32.const 0)))";
  expect_failure(text, "divided by zero");
}

TEST_F(HostileCircuit, CannotCallThroughTheTableWithOtherParameters) {
  WasmText text;
  text.extra = "(table 2 funcref) (elem (i32.const 0) $f) (func $f (param i64)) "
               "(type $other (func (param i32)))";
  text.set_input = "(call_indirect (type $other) (i32.const 1) (i32.const 0))";
  expect_failure(text, "invalid indirect call");
  text.set_input = "(call_indirect (type $other) (i32.const 1) (i32.const 1))";
  expect_failure(text, "invalid indirect call");
  text.set_input = "(call_indirect (type $other) (i32.const 1) (i32.const 1000000))";
  expect_failure(text, "invalid indirect call");
}

TEST_F(HostileCircuit, ThatThrowsAnUnknownErrorIsQuoted) {
  WasmText text;
  text.set_input = "(call $exception (i32.const 99))";
  expect_failure(text, "unknown error (circom's error 99)");
}

TEST_F(HostileCircuit, ThatPrintsForEverIsCutShort) {
  WasmText text;
  text.message_char = "(i32.const 88)";
  text.set_input = "(loop $l (call $print_error) (call $write_message) (global.set $n (i32.add "
                   "(global.get $n) (i32.const 1))) (br_if $l (i32.lt_u (global.get $n) (i32.const "
                   "1000)))) (call $exception (i32.const 4))";
  text.extra = "(global $n (mut i32) (i32.const 0))";
  const auto witness = run(text);
  ASSERT_FALSE(witness.ok());
  EXPECT_THAT(witness.error().message(), HasSubstr("XXXX"));
  EXPECT_LT(witness.error().message().size(), 2000U);
}

TEST_F(HostileCircuit, ThatPrintsControlCharactersIsMadeReadable) {
  WasmText text;
  text.extra = "(global $n (mut i32) (i32.const 6))";
  // The characters 5, 4, 3, 2, 1, then the end.
  text.message_char = "(global.set $n (i32.sub (global.get $n) (i32.const 1))) (global.get $n)";
  text.set_input = "(call $print_error) (call $exception (i32.const 4))";
  const auto witness = run(text);
  ASSERT_FALSE(witness.ok());
  EXPECT_THAT(witness.error().message(), HasSubstr(R"(\x05\x04\x03\x02\x01)"));
}

TEST_F(HostileCircuit, WhoseWitnessIsNotCanonicalIsRefused) {
  WasmText text;
  text.witness_value =
      R"(\01\00\00\f0\93\f5\e1\43\91\70\b9\79\48\e8\33\28\5d\58\81\81\b6\45\50\b8\29\a0\31\e1\72\4e\64\30)";
  const auto witness = run(text);
  ASSERT_FALSE(witness.ok());
  EXPECT_EQ(witness.error().error_class, ErrorClass::kBadRequest);
}

TEST_F(HostileCircuit, WhoseFirstVariableIsNotOneIsRefused) {
  WasmText text;
  text.get_witness = "(global.set $shared (i32.const 160))";
  const auto witness = run(text);
  ASSERT_FALSE(witness.ok());
  EXPECT_EQ(witness.error().error_class, ErrorClass::kBadRequest);
}

}  // namespace
}  // namespace cuzk::test
