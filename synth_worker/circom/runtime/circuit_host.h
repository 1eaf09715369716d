/* Included before the C code that wasm2c generates: the state that its imports and its stack check use.
 *
 * The generated code asks at every function entry whether the stack is exhausted, by comparing a counter
 * of calls with WASM_RT_MAX_CALL_STACK_DEPTH. Frames differ in size by orders of magnitude, so that name
 * is defined here as an expression that compares addresses: it is 0, which no counter passes, where the
 * stack ends, and otherwise more than any counter. wasm2c passes the instance to every function.
 */
#ifndef CUZK_CIRCUIT_HOST_H
#define CUZK_CIRCUIT_HOST_H

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>

#define CUZK_TEXT_BYTES 2048

/* The bound of a frame that the compiler enforces (compile_circuit.cpp), and what functions of libc that
 * are called from the deepest frame may use besides. */
#define CUZK_STACK_RESERVE (1024 * 1024)

struct cuzk_instance;

/* wasm2c's name for the instance of the imported module "runtime". */
struct Z_runtime_instance_t {
  struct cuzk_instance* instance;
  uintptr_t stack_end;                /* with the reserve */
  uint64_t memory_limit;
  sigjmp_buf escape;                  /* where a stop goes; valid while `inside` */
  volatile sig_atomic_t inside;       /* generated code runs: interrupt() may jump */
  volatile sig_atomic_t interrupted;
  uint32_t exception_code;
  uint32_t error_length;
  uint32_t log_length;
  char error_text[CUZK_TEXT_BYTES];
  char log_text[CUZK_TEXT_BYTES];
};

#define WASM_RT_MEMCHECK_SIGNAL_HANDLER 0
#define WASM_RT_USE_STACK_DEPTH_COUNT 1
#define WASM_RT_MAX_CALL_STACK_DEPTH                                                             \
  ((uintptr_t)__builtin_frame_address(0) < instance->Z_runtime_instance->stack_end ? 0u \
                                                                                   : UINT32_MAX)

#endif
