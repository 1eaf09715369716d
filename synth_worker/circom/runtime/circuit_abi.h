/* The C interface between the synthesis process and a compiled circuit.
 *
 * A circuit's WebAssembly becomes a shared object (circom/compile_circuit.hpp) that exports exactly one
 * symbol, a `struct cuzk_circuit`. The file is C because it is compiled twice: into the worker, as C++,
 * and into every circuit, by the system's C compiler. Nothing in the circuit can call the worker, read
 * its memory, or end it: a call returns, with what the circuit did or with the reason why it was stopped.
 */
#ifndef CUZK_CIRCUIT_ABI_H
#define CUZK_CIRCUIT_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change of this file; objects of another version are not used. */
#define CUZK_CIRCUIT_ABI_VERSION 1

/* 32-bit words of a field element: 256 bits for both curves. */
#define CUZK_FIELD_WORDS 8

/* Why a call into the circuit ended; every function below that returns int returns one of these. */
enum cuzk_stop {
  CUZK_STOP_NONE = 0,           /* it did what it was asked */
  CUZK_STOP_EXCEPTION = 1,      /* it called exceptionHandler; see exception_code */
  CUZK_STOP_OUT_OF_BOUNDS = 2,  /* it touched memory or a table outside their size */
  CUZK_STOP_ARITHMETIC = 3,     /* division by zero, overflow, conversion of NaN */
  CUZK_STOP_UNREACHABLE = 4,    /* it ran into an `unreachable` instruction */
  CUZK_STOP_BAD_CALL = 5,       /* an indirect call to nothing, or with other parameters */
  CUZK_STOP_STACK = 6,          /* its recursion used up the stack */
  CUZK_STOP_MEMORY = 7,         /* it wants more memory than its limit, or than there is */
  CUZK_STOP_INTERRUPTED = 8     /* interrupt() */
};

struct cuzk_limits {
  uint64_t memory_bytes; /* of linear memory; at most 65,535 pages of 64 KiB are used */
  char* stack_end;       /* the calling thread's stack may be used down to here */
};

struct cuzk_instance; /* one calculation; used by one thread */

/* Functions take the instance first. After a stop the instance can only be closed. */
struct cuzk_circuit {
  uint32_t abi_version;
  /* Returns a new instance in *instance (null when there is no memory). */
  int (*open)(const struct cuzk_limits* limits, struct cuzk_instance** instance);
  void (*close)(struct cuzk_instance* instance);
  /* The field's prime, least significant word first; *words is its length in 32-bit words, and `prime`
   * is filled only when that is CUZK_FIELD_WORDS. */
  int (*field)(struct cuzk_instance* instance, uint32_t* words, uint32_t prime[CUZK_FIELD_WORDS]);
  /* Input values that are wanted in all, and variables of the witness. */
  int (*sizes)(struct cuzk_instance* instance, uint32_t* n_inputs, uint32_t* n_variables);
  /* Starts a calculation; call once, before set_input. */
  int (*begin)(struct cuzk_instance* instance);
  /* The number of values of the input signal whose name has this FNV-1a hash; <= 0: there is none. */
  int (*input_size)(struct cuzk_instance* instance, uint64_t name_hash, int32_t* size);
  /* Sets one value, reduced, least significant word first. The circuit runs inside the last call. */
  int (*set_input)(struct cuzk_instance* instance, uint64_t name_hash, uint32_t index,
                   const uint32_t value[CUZK_FIELD_WORDS]);
  /* Variables [first, first + count) as canonical little-endian integers of 32 bytes. */
  int (*read_witness)(struct cuzk_instance* instance, uint32_t first, uint32_t count,
                      unsigned char* values);
  /* What exceptionHandler was told; see circom's witness_calculator.js. */
  uint32_t (*exception_code)(const struct cuzk_instance* instance);
  /* What the circuit printed, zero-terminated: its error messages, and the texts (not the values) of its
   * log() statements. */
  const char* (*error_text)(const struct cuzk_instance* instance);
  const char* (*log_text)(const struct cuzk_instance* instance);
  /* Stops a running call with CUZK_STOP_INTERRUPTED, or the next one. Only from a signal handler on the
   * thread that runs it. */
  void (*interrupt)(struct cuzk_instance* instance);
};

#define CUZK_CIRCUIT_SYMBOL "cuzk_circuit"

#ifdef __cplusplus
}
#endif

#endif
