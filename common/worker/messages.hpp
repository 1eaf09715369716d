// What the supervisor asks of its workers, and what they answer.
//
// A command or event is one 64-byte ring entry (shm/ring.hpp) and, where it needs more, a body encoded
// with common/protocol/archive.hpp. Files travel as descriptors over the worker's control socket,
// labelled with the task and a role. Every task ends with exactly one kDone or kFailed event; a worker
// that dies owes both, and the supervisor's tables say what becomes of the task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/protocol/archive.hpp"
#include "common/types.hpp"

namespace cuzk {

enum class CommandKind : std::uint16_t {
  // synth_worker
  kPrepareKey = 1,  // PrepareKeyCommand -> KeyInfo
  kAddCircuit = 2,  // AddCircuitCommand -> CircuitArtefacts
  kSpoolInput = 3,  // SpoolInputCommand -> SpoolInfo
  kSynthesise = 4,  // SynthesiseCommand -> SynthesiseResult
  kVerify = 5,      // VerifyCommand -> VerifyResult
  kExplain = 6,     // ExplainCommand -> ExplainResult
  kWipeSlot = 7,    // WipeSlotCommand -> no body
  // gpu_worker
  kProve = 20,    // ProveCommand -> ProveResult
  kDropKey = 21,  // DropKeyCommand: forget a key that the cache is about to evict; no event
  // both
  kShutdown = 30,  // finish the running task, then exit 0; no event
};

enum class EventKind : std::uint16_t {
  kReady = 1,     // sent once after start: the worker takes commands
  kProgress = 2,  // TaskProgress; a hint for people, may be dropped
  kDone = 3,      // the task's result is the body
  kFailed = 4,    // the body is an Error
};

// Labels a descriptor on the control socket.
enum class FdRole : std::uint32_t {
  kSlotWritable = 1,
  kSlotReadOnly = 2,
  kSource = 3,       // a key or an input to read
  kWasm = 4,
  kProgram = 5,      // circom's C++ witness program
  kProgramData = 6,  // its .dat
  kR1cs = 7,
};

enum class InputKind : std::uint8_t { kWitness = 1, kJson = 2 };

// How a slot's payload lays out an assignment.
enum class AssignmentLayout : std::uint8_t {
  kDense = 1,  // n_variables canonical little-endian integers of 32 bytes, variable 0 is one
};

struct PrepareKeyCommand {
  std::string cache_folder;
  std::string source_name;        // for errors and for the key's provenance
  std::optional<Digest> expected;  // with no kSource descriptor: the cached key to check
  std::uint32_t threads = 1;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cache_folder, source_name, expected, threads);
  }
};

struct KeyInfo {
  Digest digest{};  // SHA-256 of the source file
  CurveId curve{};
  std::uint64_t n_variables = 0;  // with the constant one
  std::uint64_t n_public = 0;     // without it
  std::uint64_t domain_size = 0;
  std::uint64_t file_bytes = 0;   // of the prepared key
  bool test_only = false;         // made with a known trapdoor
  bool converted = false;         // false: a sound prepared key was in the cache
  std::uint64_t microseconds = 0;
  std::string path;               // the prepared key
  template <class Archive>
  void serialize(Archive& archive) {
    archive(digest, curve, n_variables, n_public, domain_size, file_bytes, test_only, converted,
            microseconds, path);
  }
};

struct AddCircuitCommand {
  std::string name;
  std::string folder;    // is created whole or not at all
  std::string key_path;  // the prepared key; sizes and curve must agree
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, folder, key_path);
  }
};

// The name of the R1CS in a circuit's folder, where there is one.
inline constexpr const char* kCircuitR1csFile = "circuit.r1cs";

struct CircuitArtefacts {
  bool has_wasm = false;
  bool has_program = false;
  bool has_r1cs = false;
  std::uint64_t microseconds = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(has_wasm, has_program, has_r1cs, microseconds);
  }
};

struct SpoolInputCommand {
  std::string destination;  // written beside, flushed to disk, renamed
  std::uint64_t max_bytes = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(destination, max_bytes);
  }
};

struct SpoolInfo {
  std::uint64_t bytes = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(bytes);
  }
};

// Names one piece of proving work in slot headers, logs and crash records.
struct WorkId {
  JobId job;
  std::uint32_t partition = 0;
  std::uint32_t attempt = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(job, partition, attempt);
  }
};

struct SynthesiseCommand {
  WorkId work;
  Digest circuit{};
  std::string key_path;
  std::string circuit_folder;  // empty when the key was given without a circuit's name
  InputKind input_kind{};
  std::string input_name;      // for errors
  std::uint64_t slot_bytes = 0;
  std::uint32_t threads = 1;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(work, circuit, key_path, circuit_folder, input_kind, input_name, slot_bytes, threads);
  }
};

struct SynthesiseResult {
  AssignmentLayout layout{};
  std::uint64_t payload_bytes = 0;
  std::uint64_t payload_checksum = 0;  // XXH3-64
  std::uint64_t microseconds = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(layout, payload_bytes, payload_checksum, microseconds);
  }
};

struct ProveCommand {
  WorkId work;
  Digest circuit{};
  std::string key_path;
  AssignmentLayout layout{};
  std::uint64_t payload_bytes = 0;
  std::uint64_t payload_checksum = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(work, circuit, key_path, layout, payload_bytes, payload_checksum);
  }
};

struct StepTime {
  std::string step;
  std::uint64_t microseconds = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(step, microseconds);
  }
};

struct ProveResult {
  std::string proof;  // common/groth16/proof.hpp: canonical coordinates
  std::vector<StepTime> steps;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(proof, steps);
  }
};

struct VerifyCommand {
  WorkId work;
  std::string key_path;
  std::string proof;
  AssignmentLayout layout{};
  std::uint64_t payload_bytes = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(work, key_path, proof, layout, payload_bytes);
  }
};

struct VerifyResult {
  bool valid = false;
  std::string publics;  // n_public canonical little-endian integers of 32 bytes
  std::uint64_t microseconds = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(valid, publics, microseconds);
  }
};

// Asks why a witness does not satisfy its circuit.
struct ExplainCommand {
  WorkId work;
  Digest circuit{};
  std::string r1cs_path;
  AssignmentLayout layout{};
  std::uint64_t payload_bytes = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(work, circuit, r1cs_path, layout, payload_bytes);
  }
};

struct ExplainResult {
  bool satisfied = false;
  std::uint64_t constraint = 0;  // the first violated one
  std::string text;              // for people, without witness values
  template <class Archive>
  void serialize(Archive& archive) {
    archive(satisfied, constraint, text);
  }
};

struct WipeSlotCommand {
  std::uint64_t payload_bytes = 0;  // how much of the slot may hold secrets
  template <class Archive>
  void serialize(Archive& archive) {
    archive(payload_bytes);
  }
};

struct DropKeyCommand {
  Digest circuit{};
  template <class Archive>
  void serialize(Archive& archive) {
    archive(circuit);
  }
};

struct TaskProgress {
  std::string step;
  std::uint32_t permille = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(step, permille);
  }
};

}  // namespace cuzk
