// A job as the journal keeps it.
//
// Only what must survive the supervisor is here. An open job has its input and no answer; a
// finished one has its answer and no input, since a witness is a secret that is not kept longer
// than needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/protocol/messages.hpp"
#include "common/types.hpp"

namespace cuzk::supervisor {

struct JobRecord {
  JobId id;
  std::string request_id;    // empty: none
  std::uint32_t uid = 0;     // of the client that submitted it
  std::string circuit_name;  // empty: the key came with the job
  std::string key_name;
  std::string circuit_folder;  // empty: no registered circuit
  Digest circuit{};
  CurveId curve{};
  Priority priority = Priority::kNormal;
  std::int64_t submitted_ms = 0;

  InputKind input_kind = InputKind::kWitness;
  std::string input_name;
  std::string input_inline;  // small inputs
  std::string input_file;    // name within the spool folder; empty: the input is inline
  std::uint32_t kills = 0;   // workers that died while they worked on it

  JobState state = JobState::kAccepted;
  std::int64_t finished_ms = 0;
  std::uint32_t attempts = 0;
  std::string device;
  std::optional<Error> error;
  std::vector<StepTime> stages;
  std::string proof;
  std::string publics;
};

// A key file that was seen before: while nothing of this changed, its content is taken to be the
// same.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  // a change of content cannot leave this one as it was
  auto operator<=>(const FileIdentity&) const = default;
};

struct CircuitRecord {
  CircuitInfo info;
  std::string folder;  // name within the circuits folder
};

}  // namespace cuzk::supervisor
