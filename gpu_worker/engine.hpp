// What an engine is: something that turns an assignment into a proof on one device.
//
// The worker around it (main.cpp) knows slots, keys and messages; an engine knows none of them. A proof
// has two halves. `start` does everything that needs the device and returns when it is free for the next
// assignment; `finish` assembles the proof on the CPU, and is where the blinding factors enter. An
// engine decides nothing about jobs: it does one thing, or says why it cannot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/groth16/prepared_key.hpp"
#include "common/result.hpp"
#include "common/worker/messages.hpp"
#include "gpu_worker/blinding.hpp"
#include "gpu_worker/steps.hpp"

namespace cuzk {

struct Assignment {
  AssignmentLayout layout{};
  std::span<const std::byte> payload;  // read-only memory that stays until `start` returns
};

// What a proof takes beyond the mapped key and the slot, at the step that takes most.
struct MemoryNeed {
  std::uint64_t host_bytes = 0;
  std::uint64_t device_bytes = 0;
};

// A proof whose device work is done: what stands between the two halves. Holds secrets of the witness,
// and nothing of the key or the slot.
class StartedProof {
 public:
  virtual ~StartedProof() = default;

  // The last step. Returns proof bytes (common/groth16/encoding.hpp). Call once; on any thread.
  virtual Result<std::string> finish(const Blinding& blinding, StepMonitor& monitor) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string_view name() const = 0;

  virtual MemoryNeed need(const KeyShape& key, AssignmentLayout layout) const = 0;

  // The steps from upload to the last MSM. Fails with kOperator when the monitor says so, with kBug
  // when the payload is not an assignment of this key (its writer has checked it), with kRetryElsewhere
  // when this device cannot do it, with kDeviceFault when it is broken.
  virtual Result<std::unique_ptr<StartedProof>> start(const PreparedKey& key,
                                                      const Assignment& assignment,
                                                      StepMonitor& monitor) = 0;
};

}  // namespace cuzk
