// Modules that are not circom's are refused before a compiler sees them.
#include "synth_worker/circom/wasm_module.hpp"

#include <algorithm>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/synth_worker/circom/wasm_text.hpp"
#include "tests/synth_worker/support.hpp"

namespace cuzk::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Status check(std::string_view bytes) {
  return check_circom_module(std::as_bytes(std::span(bytes.data(), bytes.size())), "k.wasm");
}

Status check_text(const std::string& text) {
  const TemporaryFolder folder;
  assemble(folder / "module.wasm", text);
  return check(read_bytes(folder / "module.wasm"));
}

void expect_refused(const Status& status, const std::string& what) {
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().error_class, ErrorClass::kBadRequest);
  EXPECT_THAT(status.error().message(), AllOf(HasSubstr("k.wasm"), HasSubstr(what)));
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(WasmModule, OfCircomIsAccepted) {
  EXPECT_TRUE(check(read_bytes(data_path("circom/bn128/mult2/mult2.wasm"))).ok());
  EXPECT_TRUE(check(read_bytes(data_path("circom/bls12381/edge_manypub/edge_manypub.wasm"))).ok());
  EXPECT_TRUE(check_text(WasmText().str()).ok());
}

TEST(WasmModule, ThatIsGarbageIsRefused) {
  expect_refused(check(""), "is not a WebAssembly module");
  expect_refused(check("garbage, longer than a header"), "is not a WebAssembly module");
  expect_refused(check(read_bytes(data_path("circom/bn128/mult2/mult2.r1cs"))),
                 "is not a WebAssembly module");
  expect_refused(check(std::string("\0asm\2\0\0\0", 8)), "is not WebAssembly version 1");
}

TEST(WasmModule, WithoutContentIsNotCircoms) {
  expect_refused(check(std::string("\0asm\1\0\0\0", 8)), "does not import");
}

TEST(WasmModule, CutOffInsideASectionIsRefused) {
  const std::string good = read_bytes(data_path("circom/bn128/mult2/mult2.wasm"));
  // At the ends of the exports, elements, code and data nothing is missing that is looked at here; wasm2c
  // sees it.
  int accepted = 0;
  for (std::size_t size = 0; size < good.size(); ++size) {
    if (check(std::string_view(good).substr(0, size)).ok()) ++accepted;
  }
  EXPECT_LE(accepted, 4);
}

TEST(WasmModule, WithFlippedBytesNeverReadsOutside) {
  const std::string good = read_bytes(data_path("circom/bn128/mult2/mult2.wasm"));
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 5000; ++i) {
    std::string bad = good.substr(0, 3000);
    for (int flips = 0; flips < 3; ++flips) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    EXPECT_FALSE(check(bad).ok()) << "the module is cut off in any case";
  }
}

TEST(WasmModule, WithAnotherImportIsRefused) {
  WasmText text;
  text.imports += R"((import "env" "system" (func (param i32) (result i32))))";
  expect_refused(check_text(text.str()), R"(imports "env.system")");
  text.imports = replaced(WasmText().imports, "showSharedRWMemory", "unlink");
  expect_refused(check_text(text.str()), R"(imports "runtime.unlink")");
}

TEST(WasmModule, OfCircom1IsRefusedWithAHint) {
  WasmText text;
  text.imports += R"((import "env" "memory" (memory 1)))";
  text.memory = "";
  const Status status = check_text(text.str());
  expect_refused(status, "env.memory");
  EXPECT_THAT(status.error().hint, HasSubstr("circom 2"));
}

TEST(WasmModule, WithAnImportOfAnotherTypeIsRefused) {
  WasmText text;
  text.imports = replaced(text.imports, "(func $exception (param i32))",
                          "(func $exception (param i64))");
  expect_refused(check_text(text.str()), R"("exceptionHandler" has another signature)");
}

TEST(WasmModule, WithoutAnExportThatIsNeededIsRefused) {
  const std::string text = replaced(WasmText().str(), "\"getWitnessSize\"", "\"other\"");
  expect_refused(check_text(text), R"(does not export "getWitnessSize")");
}

TEST(WasmModule, WithAnExportOfAnotherTypeIsRefused) {
  const std::string text = replaced(WasmText().str(), "\"getInputSize\") (result i32) (i32.const 1)",
                                    "\"getInputSize\") (result i64) (i64.const 1)");
  expect_refused(check_text(text), R"("getInputSize" has another signature)");
}

// wasm2c 1.0.32 writes the names of exports into comments of its C code.
TEST(WasmModule, WithAnExportThatEndsACommentIsRefused) {
  WasmText text;
  text.extra = R"((func (export "*/ int system(const char*); /*")))";
  expect_refused(check_text(text.str()), R"(exports "*/ int system)");
}

TEST(WasmModule, WithAStartFunctionIsRefused) {
  WasmText text;
  text.extra = "(func $start) (start $start)";
  expect_refused(check_text(text.str()), "start function");
}

TEST(WasmModule, WithoutMemoryIsRefused) {
  // The text's loads need a memory, so the section is taken out of the bytes.
  const TemporaryFolder folder;
  assemble(folder / "module.wasm", WasmText().str());
  std::string bytes = read_bytes(folder / "module.wasm");
  const std::string section("\5\3\1\0\1", 5);
  bytes = replaced(bytes, section, "");
  expect_refused(check(bytes), "no memory");
}

}  // namespace
}  // namespace cuzk::test
