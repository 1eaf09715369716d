/* What stands between the code that wasm2c generates from a circuit and the rest of the process.
 *
 * Compiled once into every circuit's shared object, after the generated code's header. It implements the
 * functions that wasm-rt.h declares, without signal handlers and without abort(): every access is checked
 * by the generated code itself, and whatever the circuit does wrong ends the call it was made in. It
 * also implements circom's four imports and the interface of circuit_abi.h.
 */
#include "circuit_abi.h"
#include "circuit_host.h"

#include "circuit.h" /* generated; includes wasm-rt.h */

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define WASM_PAGE_BYTES 65536u
#define MAX_PAGES 65535u          /* wasm_rt_memory_t counts bytes in 32 bits */
#define MAX_TABLE_ELEMENTS (1u << 22)
#define MAX_MESSAGE_CHARS 4096u   /* of one message; a circuit may send them for ever */
#define MAX_SIGNATURES 512u
#define MAX_SIGNATURE_TYPES 62u   /* parameters and results */

struct cuzk_instance {
  Z_circuit_instance_t wasm;
  struct Z_runtime_instance_t runtime;
};

/* The instance whose code this thread runs: wasm-rt's functions do not get one. */
static __thread struct Z_runtime_instance_t* current;

/* Counted by the generated code and read by nobody; see circuit_host.h. */
uint32_t wasm_rt_call_stack_depth;

/* ---- leaving the circuit ---- */

static _Noreturn void stop(enum cuzk_stop why) {
  current->inside = 0;
  siglongjmp(current->escape, (int)why);
}

static void leave_generated_code(void) { current->inside = 0; }

static void enter_generated_code(void) {
  current->inside = 1;
  if (current->interrupted) stop(CUZK_STOP_INTERRUPTED);
}

/* Opens the body of an interface function: a stop returns from that function. The handler of signals
 * does not return through here, so the signal mask is not saved; see the caller's thread. */
#define RUN_INSIDE(instance)                                       \
  do {                                                             \
    const int why = sigsetjmp((instance)->runtime.escape, 0);      \
    if (why != 0) return why;                                      \
    current = &(instance)->runtime;                                \
    enter_generated_code();                                        \
  } while (0)

#define RETURN_OUTSIDE              \
  do {                              \
    leave_generated_code();         \
    return CUZK_STOP_NONE;          \
  } while (0)

/* ---- wasm-rt.h ---- */

bool wasm_rt_is_initialized(void) { return true; }

void wasm_rt_trap(wasm_rt_trap_t trap) {
  switch (trap) {
    case WASM_RT_TRAP_OOB: stop(CUZK_STOP_OUT_OF_BOUNDS);
    case WASM_RT_TRAP_INT_OVERFLOW:
    case WASM_RT_TRAP_DIV_BY_ZERO:
    case WASM_RT_TRAP_INVALID_CONVERSION: stop(CUZK_STOP_ARITHMETIC);
    case WASM_RT_TRAP_CALL_INDIRECT: stop(CUZK_STOP_BAD_CALL);
    case WASM_RT_TRAP_EXHAUSTION: stop(CUZK_STOP_STACK);
    default: stop(CUZK_STOP_UNREACHABLE);
  }
}

/* Numbers signatures so that equal ones get equal numbers: an indirect call compares numbers. Where the
 * table is full or a signature too long, numbers are never given twice, so a call can only be refused. */
uint32_t wasm_rt_register_func_type(uint32_t n_parameters, uint32_t n_results, ...) {
  static unsigned char known[MAX_SIGNATURES][2 + MAX_SIGNATURE_TYPES];
  static uint32_t n_known;
  static uint32_t n_unknown;
  if (n_parameters > MAX_SIGNATURE_TYPES || n_results > MAX_SIGNATURE_TYPES - n_parameters) {
    return UINT32_MAX - n_unknown++;
  }
  unsigned char signature[2 + MAX_SIGNATURE_TYPES] = {(unsigned char)n_parameters,
                                                      (unsigned char)n_results};
  va_list types;
  va_start(types, n_results);
  for (uint32_t i = 0; i < n_parameters + n_results; ++i) {
    signature[2 + i] = (unsigned char)va_arg(types, int);
  }
  va_end(types);
  for (uint32_t i = 0; i < n_known; ++i) {
    if (memcmp(known[i], signature, sizeof signature) == 0) return i + 1;
  }
  if (n_known == MAX_SIGNATURES) return UINT32_MAX - n_unknown++;
  memcpy(known[n_known++], signature, sizeof signature);
  return n_known;
}

/* Reserves the whole range up to the limit at once, so that growing never moves it. */
void wasm_rt_allocate_memory(wasm_rt_memory_t* memory, uint32_t initial_pages, uint32_t max_pages) {
  leave_generated_code();
  const uint64_t limit = current->memory_limit / WASM_PAGE_BYTES;
  uint32_t limit_pages = limit < MAX_PAGES ? (uint32_t)limit : MAX_PAGES;
  if (max_pages < limit_pages) limit_pages = max_pages;
  if (initial_pages > limit_pages) stop(CUZK_STOP_MEMORY);
  if (limit_pages == 0) return; /* `memory` is all zeros: every access is out of bounds */
  void* range = mmap(NULL, (size_t)limit_pages * WASM_PAGE_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) stop(CUZK_STOP_MEMORY);
  memory->data = range;
  memory->pages = initial_pages;
  memory->max_pages = limit_pages;
  memory->size = initial_pages * WASM_PAGE_BYTES;
  enter_generated_code();
}

uint32_t wasm_rt_grow_memory(wasm_rt_memory_t* memory, uint32_t pages) {
  const uint32_t before = memory->pages;
  if (pages > memory->max_pages - before) return UINT32_MAX;
  memory->pages = before + pages;
  memory->size = memory->pages * WASM_PAGE_BYTES;
  return before;
}

void wasm_rt_free_memory(wasm_rt_memory_t* memory) {
  if (memory->data != NULL) munmap(memory->data, (size_t)memory->max_pages * WASM_PAGE_BYTES);
  memory->data = NULL;
}

void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t* table, uint32_t elements,
                                    uint32_t max_elements) {
  leave_generated_code();
  if (elements > MAX_TABLE_ELEMENTS) stop(CUZK_STOP_MEMORY);
  table->data = calloc(elements, sizeof *table->data);
  if (table->data == NULL && elements != 0) stop(CUZK_STOP_MEMORY);
  table->size = elements;
  table->max_size = max_elements;
  enter_generated_code();
}

void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t* table) {
  free(table->data);
  table->data = NULL;
}

/* ---- circom's imports ---- */

/* Appends what getMessageChar() delivers. */
static void append_message(struct Z_runtime_instance_t* runtime, char* text, uint32_t* length) {
  for (uint32_t i = 0; i < MAX_MESSAGE_CHARS; ++i) {
    const uint32_t character = Z_circuitZ_getMessageChar(&runtime->instance->wasm);
    if (character == 0) break;
    if (*length + 2 < CUZK_TEXT_BYTES) text[(*length)++] = (char)character;
  }
  if (*length + 2 < CUZK_TEXT_BYTES) text[(*length)++] = '\n';
}

void Z_runtimeZ_exceptionHandler(struct Z_runtime_instance_t* runtime, u32 code) {
  runtime->exception_code = code;
  stop(CUZK_STOP_EXCEPTION);
}

void Z_runtimeZ_printErrorMessage(struct Z_runtime_instance_t* runtime) {
  append_message(runtime, runtime->error_text, &runtime->error_length);
}

void Z_runtimeZ_writeBufferMessage(struct Z_runtime_instance_t* runtime) {
  append_message(runtime, runtime->log_text, &runtime->log_length);
}

/* log() of a signal: the value is part of the witness and stays secret. */
void Z_runtimeZ_showSharedRWMemory(struct Z_runtime_instance_t* runtime) { (void)runtime; }

/* ---- circuit_abi.h ---- */

static void close_instance(struct cuzk_instance* instance) {
  if (instance == NULL) return;
  Z_circuit_free(&instance->wasm);
  free(instance);
}

static int instantiate(struct cuzk_instance* instance) {
  RUN_INSIDE(instance);
  Z_circuit_instantiate(&instance->wasm, &instance->runtime);
  RETURN_OUTSIDE;
}

/* When the object is loaded, so that instances can be opened by several threads. */
__attribute__((constructor)) static void initialise(void) { Z_circuit_init_module(); }

static int open_instance(const struct cuzk_limits* limits, struct cuzk_instance** result) {
  *result = calloc(1, sizeof **result);
  if (*result == NULL) return CUZK_STOP_MEMORY;
  struct Z_runtime_instance_t* runtime = &(*result)->runtime;
  runtime->instance = *result;
  runtime->memory_limit = limits->memory_bytes;
  runtime->stack_end = (uintptr_t)limits->stack_end + CUZK_STACK_RESERVE;
  return instantiate(*result);
}

static int field(struct cuzk_instance* instance, uint32_t* words,
                 uint32_t prime[CUZK_FIELD_WORDS]) {
  RUN_INSIDE(instance);
  *words = Z_circuitZ_getFieldNumLen32(&instance->wasm);
  if (*words == CUZK_FIELD_WORDS) {
    Z_circuitZ_getRawPrime(&instance->wasm);
    for (uint32_t i = 0; i < CUZK_FIELD_WORDS; ++i) {
      prime[i] = Z_circuitZ_readSharedRWMemory(&instance->wasm, i);
    }
  }
  RETURN_OUTSIDE;
}

static int sizes(struct cuzk_instance* instance, uint32_t* n_inputs, uint32_t* n_variables) {
  RUN_INSIDE(instance);
  *n_inputs = Z_circuitZ_getInputSize(&instance->wasm);
  *n_variables = Z_circuitZ_getWitnessSize(&instance->wasm);
  RETURN_OUTSIDE;
}

static int begin(struct cuzk_instance* instance) {
  RUN_INSIDE(instance);
  Z_circuitZ_init(&instance->wasm, 0);
  RETURN_OUTSIDE;
}

static int input_size(struct cuzk_instance* instance, uint64_t name_hash, int32_t* size) {
  RUN_INSIDE(instance);
  *size = (int32_t)Z_circuitZ_getInputSignalSize(&instance->wasm, (u32)(name_hash >> 32),
                                                 (u32)name_hash);
  RETURN_OUTSIDE;
}

static int set_input(struct cuzk_instance* instance, uint64_t name_hash, uint32_t index,
                     const uint32_t value[CUZK_FIELD_WORDS]) {
  RUN_INSIDE(instance);
  for (uint32_t i = 0; i < CUZK_FIELD_WORDS; ++i) {
    Z_circuitZ_writeSharedRWMemory(&instance->wasm, i, value[i]);
  }
  Z_circuitZ_setInputSignal(&instance->wasm, (u32)(name_hash >> 32), (u32)name_hash, index);
  RETURN_OUTSIDE;
}

static int read_witness(struct cuzk_instance* instance, uint32_t first, uint32_t count,
                        unsigned char* values) {
  RUN_INSIDE(instance);
  for (uint32_t variable = 0; variable < count; ++variable) {
    Z_circuitZ_getWitness(&instance->wasm, first + variable);
    for (uint32_t i = 0; i < CUZK_FIELD_WORDS; ++i) {
      const uint32_t word = Z_circuitZ_readSharedRWMemory(&instance->wasm, i);
      memcpy(values, &word, sizeof word);
      values += sizeof word;
    }
  }
  RETURN_OUTSIDE;
}

static uint32_t exception_code(const struct cuzk_instance* instance) {
  return instance->runtime.exception_code;
}

static const char* error_text(const struct cuzk_instance* instance) {
  return instance->runtime.error_text;
}

static const char* log_text(const struct cuzk_instance* instance) {
  return instance->runtime.log_text;
}

static void interrupt(struct cuzk_instance* instance) {
  instance->runtime.interrupted = 1;
  if (instance->runtime.inside) {
    instance->runtime.inside = 0;
    siglongjmp(instance->runtime.escape, CUZK_STOP_INTERRUPTED);
  }
}

__attribute__((visibility("default"))) const struct cuzk_circuit cuzk_circuit = {
    .abi_version = CUZK_CIRCUIT_ABI_VERSION,
    .open = open_instance,
    .close = close_instance,
    .field = field,
    .sizes = sizes,
    .begin = begin,
    .input_size = input_size,
    .set_input = set_input,
    .read_witness = read_witness,
    .exception_code = exception_code,
    .error_text = error_text,
    .log_text = log_text,
    .interrupt = interrupt,
};
