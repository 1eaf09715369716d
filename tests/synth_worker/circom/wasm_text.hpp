// A tiny circuit in WebAssembly's text format, whose parts a test replaces to make it misbehave.
#pragma once

#include <string>

#include <fmt/format.h>

namespace cuzk::test {

// As it is, the circuit has one input signal of one value (every name is that signal), and the witness
// (1, 5) over BN254.
struct WasmText {
  std::string imports = R"((import "runtime" "exceptionHandler" (func $exception (param i32)))
    (import "runtime" "printErrorMessage" (func $print_error))
    (import "runtime" "writeBufferMessage" (func $write_message))
    (import "runtime" "showSharedRWMemory" (func $show)))";
  std::string memory = R"((memory (export "memory") 1))";
  std::string init;                           // body of init
  std::string set_input;                      // body of setInputSignal
  std::string message_char = "(i32.const 0)"; // body of getMessageChar
  std::string witness_value = R"(\05)";       // first bytes of variable 1
  std::string get_witness = "(global.set $shared (i32.add (i32.const 128) (i32.mul (local.get 0) "
                            "(i32.const 32))))";
  std::string extra;                          // more definitions

  std::string str() const {
    return fmt::format(R"((module
  {0}
  {1}
  (global $shared (mut i32) (i32.const 0))
  (data (i32.const 64) "\01\00\00\f0\93\f5\e1\43\91\70\b9\79\48\e8\33\28\5d\58\81\81\b6\45\50\b8\29\a0\31\e1\72\4e\64\30")
  (data (i32.const 128) "\01")
  (data (i32.const 160) "{5}")
  (func (export "getFieldNumLen32") (result i32) (i32.const 8))
  (func (export "getRawPrime") (global.set $shared (i32.const 64)))
  (func (export "init") (param i32) {2})
  (func (export "getInputSignalSize") (param i32 i32) (result i32) (i32.const 1))
  (func (export "getInputSize") (result i32) (i32.const 1))
  (func (export "setInputSignal") (param i32 i32 i32) {3})
  (func (export "getWitnessSize") (result i32) (i32.const 2))
  (func $get_witness (export "getWitness") (param i32) {6})
  (func (export "readSharedRWMemory") (param i32) (result i32)
    (i32.load (i32.add (global.get $shared) (i32.mul (local.get 0) (i32.const 4)))))
  (func (export "writeSharedRWMemory") (param i32 i32)
    (i32.store (i32.mul (local.get 0) (i32.const 4)) (local.get 1)))
  (func $message_char (export "getMessageChar") (result i32) {4})
  {7}))",
                       imports, memory, init, set_input, message_char, witness_value, get_witness,
                       extra);
  }
};

}  // namespace cuzk::test
