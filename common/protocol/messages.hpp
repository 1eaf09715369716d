// The requests and replies of the Unix socket.
//
// One frame (common/protocol/frame.hpp) carries one message, named by its type, and a sequence number
// that the reply repeats. A request is answered by its reply type or by kError (the body is an Error);
// long requests are preceded by any number of kProgress events with the same sequence number. Fields
// are only ever appended, and a change of meaning raises kProtocolVersion.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/protocol/archive.hpp"
#include "common/types.hpp"
#include "common/worker/messages.hpp"

namespace cuzk {

inline constexpr std::uint16_t kProtocolVersion = 1;

enum class MessageType : std::uint16_t {
  kError = 1,      // Error
  kProgress = 2,   // ProgressEvent
  kVersion = 10,   // VersionRequest -> VersionReply
  kSubmit = 11,    // SubmitRequest -> SubmitReply
  kAwait = 12,     // AwaitRequest -> JobReport
  kCancel = 13,    // CancelRequest -> CancelReply
  kJobs = 14,      // JobsRequest -> JobsReply
  kStatus = 15,    // StatusRequest -> StatusReply
  kCircuitAdd = 16,     // CircuitAddRequest -> CircuitInfo
  kCircuitList = 17,    // CircuitListRequest -> CircuitListReply
  kCircuitRemove = 18,  // CircuitRemoveRequest -> CircuitInfo
};

enum class Priority : std::uint8_t { kLow = 1, kNormal = 2, kHigh = 3, kCritical = 4 };

// The life of a job; the names are part of the JSON output.
enum class JobState : std::uint8_t {
  kAccepted = 1,
  kQueued = 2,
  kSynthesizing = 3,
  kReady = 4,
  kProving = 5,
  kVerifying = 6,
  kDone = 7,
  kFailed = 8,
  kCancelled = 9,
};

constexpr const char* name_of(JobState state) {
  switch (state) {
    case JobState::kAccepted: return "accepted";
    case JobState::kQueued: return "queued";
    case JobState::kSynthesizing: return "synthesizing";
    case JobState::kReady: return "ready";
    case JobState::kProving: return "proving";
    case JobState::kVerifying: return "verifying";
    case JobState::kDone: return "done";
    case JobState::kFailed: return "failed";
    case JobState::kCancelled: return "cancelled";
  }
  return "unknown";
}
constexpr bool is_final(JobState state) { return state >= JobState::kDone; }

constexpr const char* name_of(Priority priority) {
  switch (priority) {
    case Priority::kLow: return "low";
    case Priority::kNormal: return "normal";
    case Priority::kHigh: return "high";
    case Priority::kCritical: return "critical";
  }
  return "unknown";
}

// For requests without fields.
struct Empty {
  template <class Archive>
  void serialize(Archive&) {}
};
using VersionRequest = Empty;
using StatusRequest = Empty;
using CircuitListRequest = Empty;

struct VersionReply {
  std::string version;
  std::string revision;
  std::uint16_t protocol = kProtocolVersion;
  std::uint32_t pid = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(version, revision, protocol, pid);
  }
};

// Descriptors that come with the frame, in this order: the key if `key_attached`, then the input if
// `input_attached`.
struct SubmitRequest {
  std::string request_id;    // idempotency key of at most 128 bytes; empty: none
  Priority priority = Priority::kNormal;
  std::string circuit_name;  // a registered circuit, or empty with key_attached
  bool key_attached = false;
  std::string key_name;      // where the client found the key, for messages
  InputKind input_kind = InputKind::kWitness;
  bool input_attached = false;
  std::string input_inline;  // small inputs, when not attached
  std::string input_name;    // for messages
  bool progress = false;     // send kProgress while a key is prepared and the input is spooled
  template <class Archive>
  void serialize(Archive& archive) {
    archive(request_id, priority, circuit_name, key_attached, key_name, input_kind, input_attached,
            input_inline, input_name, progress);
  }
};

// Sent when the job is on disk.
struct SubmitReply {
  JobId job;
  JobState state{};
  bool existed = false;  // the request_id was known: this is the earlier job
  template <class Archive>
  void serialize(Archive& archive) {
    archive(job, state, existed);
  }
};

struct AwaitRequest {
  std::string id;                // a job's number or a request id
  std::uint64_t timeout_ms = 0;  // 0: for ever; on time-out the reply is a kBusy error
  bool progress = false;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(id, timeout_ms, progress);
  }
};

struct JobReport {
  JobId job;
  std::string request_id;
  std::string circuit_name;  // or the key's name
  Digest circuit{};
  CurveId curve{};
  Priority priority{};
  JobState state{};
  std::uint32_t attempts = 0;
  std::uint32_t permille = 0;
  std::int64_t submitted_ms = 0;  // since the Unix epoch
  std::int64_t finished_ms = 0;   // 0: not finished
  std::string device;             // where it was proved last
  std::optional<Error> error;
  std::vector<StepTime> stages;   // queue, synthesis, wait, proving (and its steps), verify, total
  std::string proof;              // empty in lists and before kDone; see common/groth16/proof.hpp
  std::string publics;            // canonical little-endian integers of 32 bytes
  template <class Archive>
  void serialize(Archive& archive) {
    archive(job, request_id, circuit_name, circuit, curve, priority, state, attempts, permille,
            submitted_ms, finished_ms, device, error, stages, proof, publics);
  }
};

struct CancelRequest {
  std::string id;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(id);
  }
};

struct CancelReply {
  JobId job;
  bool was_running = false;
  JobState state{};
  template <class Archive>
  void serialize(Archive& archive) {
    archive(job, was_running, state);
  }
};

struct JobsRequest {
  std::uint32_t limit = 100;  // newest first
  template <class Archive>
  void serialize(Archive& archive) {
    archive(limit);
  }
};

struct JobsReply {
  std::vector<JobReport> jobs;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(jobs);
  }
};

struct CircuitAddRequest {  // descriptors in this order: key, wasm, program, program data, r1cs
  std::string name;
  std::string key_name;
  bool wasm_attached = false;
  bool program_attached = false;  // two descriptors: the program and its .dat
  bool r1cs_attached = false;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, key_name, wasm_attached, program_attached, r1cs_attached);
  }
};

struct CircuitInfo {
  std::string name;
  std::string key_name;
  KeyInfo key;
  CircuitArtefacts artefacts;
  std::int64_t added_ms = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, key_name, key, artefacts, added_ms);
  }
};

struct CircuitListReply {
  std::vector<CircuitInfo> circuits;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(circuits);
  }
};

struct CircuitRemoveRequest {
  std::string name;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name);
  }
};

struct WorkerStatus {
  std::string name;    // synth0, gpu0
  std::string device;  // empty for synth workers
  std::string state;   // starting, ready, stopping, backing-off
  std::uint32_t pid = 0;
  std::uint32_t epoch = 0;
  std::uint32_t restarts = 0;
  std::string task;    // what it does now, for example "prove job 17"
  std::string step;
  std::uint64_t resident_bytes = 0;
  std::uint64_t cpu_ms = 0;
  std::string last_death;  // "signal 9 (Killed), 3 s ago", or empty
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, device, state, pid, epoch, restarts, task, step, resident_bytes, cpu_ms, last_death);
  }
};

struct SlotStatus {
  std::uint16_t index = 0;
  std::string state;
  std::string owner;
  std::uint32_t generation = 0;
  std::uint64_t bytes = 0;
  JobId job;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(index, state, owner, generation, bytes, job);
  }
};

struct QueueStatus {
  std::string state;  // a JobState's name
  std::uint64_t jobs = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(state, jobs);
  }
};

struct StatusReply {
  VersionReply version;
  std::uint64_t uptime_ms = 0;
  std::string state_folder;
  std::vector<WorkerStatus> workers;
  std::vector<SlotStatus> slots;
  std::vector<QueueStatus> queue;
  std::vector<KeyInfo> keys;
  std::uint64_t jobs_done = 0;
  std::uint64_t jobs_failed = 0;
  std::uint64_t payload_bytes_copied = 0;  // by the supervisor; it never should
  template <class Archive>
  void serialize(Archive& archive) {
    archive(version, uptime_ms, state_folder, workers, slots, queue, keys, jobs_done, jobs_failed,
            payload_bytes_copied);
  }
};

struct ProgressEvent {
  JobId job;              // 0 before it is accepted
  std::string stage;      // a JobState's name, or "preparing key", "spooling", "compiling wasm"
  std::string step;
  std::uint32_t permille = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(job, stage, step, permille);
  }
};

}  // namespace cuzk
