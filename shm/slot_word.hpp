// The state of a slot in one 64-bit word: state:4 | owner:12 | epoch:24 | generation:24.
//
// One word, so that a state is never half written: whoever reads the table, whenever, sees a state that
// held at one moment. The generation grows with every lease, so that a message about an earlier use of
// the slot is told from one about this use; the epoch does the same for the processes of one worker.
#pragma once

#include <cstdint>
#include <optional>

#include "common/types.hpp"

namespace cuzk::shm {

enum class SlotState : std::uint8_t {
  kFree = 0,     // nobody maps it for writing; its content means nothing
  kLeased = 1,   // the owner may write it
  kReady = 2,    // committed: immutable, nobody owns it
  kBound = 3,    // immutable, the owner (a device process) reads it
  kDone = 4,     // immutable, proved; kept until the proof is verified
  kRetired = 5,  // the owner is dying but not reaped: its DMA may still write
};
inline constexpr unsigned kSlotStates = 6;

constexpr const char* name_of(SlotState state) {
  switch (state) {
    case SlotState::kFree: return "FREE";
    case SlotState::kLeased: return "LEASED";
    case SlotState::kReady: return "READY";
    case SlotState::kBound: return "BOUND";
    case SlotState::kDone: return "DONE";
    case SlotState::kRetired: return "RETIRED";
  }
  return "?";
}

// The owner field of a slot that nobody owns; real workers are numbered from 0 to 4094.
inline constexpr WorkerIndex kNoOwner{0xfff};
inline constexpr std::uint32_t kEpochMask = 0xffffff;
inline constexpr std::uint32_t kGenerationMask = 0xffffff;

struct SlotWord {
  SlotState state = SlotState::kFree;
  WorkerIndex owner = kNoOwner;  // set in LEASED, BOUND and RETIRED, else kNoOwner
  Epoch epoch;                   // of the owner; 0 without one
  Generation generation;
  constexpr auto operator<=>(const SlotWord&) const = default;

  constexpr std::uint64_t pack() const {
    return static_cast<std::uint64_t>(state) << 60 |
           static_cast<std::uint64_t>(owner.value & 0xfff) << 48 |
           static_cast<std::uint64_t>(epoch.value & kEpochMask) << 24 |
           static_cast<std::uint64_t>(generation.value & kGenerationMask);
  }
  // Nothing when the state is none of the six.
  static constexpr std::optional<SlotWord> unpack(std::uint64_t word) {
    if (word >> 60 >= kSlotStates) return std::nullopt;
    SlotWord slot;
    slot.state = static_cast<SlotState>(word >> 60);
    slot.owner.value = static_cast<std::uint16_t>(word >> 48 & 0xfff);
    slot.epoch.value = static_cast<std::uint32_t>(word >> 24 & kEpochMask);
    slot.generation.value = static_cast<std::uint32_t>(word & kGenerationMask);
    return slot;
  }
};

constexpr bool has_owner(SlotState state) {
  return state == SlotState::kLeased || state == SlotState::kBound || state == SlotState::kRetired;
}

// The word that a slot has at birth.
inline constexpr SlotWord kFreshSlot{};

// Generations wrap after 16,777,215 leases and skip 0, which no lease ever has.
constexpr Generation next(Generation generation) {
  const std::uint32_t value = (generation.value + 1) & kGenerationMask;
  return Generation{value == 0 ? 1 : value};
}

}  // namespace cuzk::shm
