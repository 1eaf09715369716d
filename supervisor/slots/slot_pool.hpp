// Which slots there are, how large, and what each is used for.
//
// The slot table (shm/slot_table.hpp) holds the rules; this is the policy on top: a slot is made
// when it is first needed, a request takes the smallest FREE slot that fits, and where none fits a
// FREE one is replaced by a larger one. The number of slots and their bytes are bounded, and with
// them the assignments in flight. No payload is mapped here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/result.hpp"
#include "shm/slot.hpp"
#include "shm/slot_table.hpp"
#include "supervisor/scheduler/task.hpp"

namespace cuzk::supervisor {

class SlotPool {
 public:
  struct Settings {
    std::uint16_t max_slots = 4;
    std::uint64_t max_bytes = UINT64_MAX;  // payloads of all slots together
  };
  explicit SlotPool(Settings settings);

  // FREE → LEASED for `job`. nullopt: no slot now, one will come back. kBadRequest: it never fits.
  Result<std::optional<SlotIndex>> lease(WorkerLife life, std::uint64_t payload_bytes, JobId job);

  // Transitions of shm::SlotTable, by the slot's present word.
  Status commit(SlotIndex slot);
  Status bind(SlotIndex slot, WorkerLife life);
  Status unbind(SlotIndex slot);
  Status finish(SlotIndex slot);
  Status discard(SlotIndex slot);
  Status reopen(SlotIndex slot);
  Status lease_for_wipe(SlotIndex slot, WorkerLife life);
  // LEASED → FREE after a wipe.
  Status release_wiped(SlotIndex slot);
  // LEASED or DONE → FREE, giving the pages back, since they may hold parts of a witness.
  Status release_unwiped(SlotIndex slot);

  // Slots that `life` owned, by the rules of the table; what became FREE has its pages given back.
  void owner_died(WorkerLife life);
  // The worker was killed and cannot be reaped: its slots are nobody's until owner_died.
  void owner_unreapable(WorkerLife life);

  // The header must be one that the present lease's owner committed for this work.
  Result<shm::SlotFields> check(SlotIndex slot, const WorkId& work, const Digest& circuit) const;
  // What the header must say for owner_died to keep the assignment.
  void expect(SlotIndex slot, const WorkId& work, const Digest& circuit);

  shm::SlotWord word(SlotIndex slot) const;
  std::uint64_t capacity(SlotIndex slot) const;
  Result<UniqueFd> writable(SlotIndex slot) const;
  Result<UniqueFd> read_only(SlotIndex slot) const;

  struct View {
    SlotIndex index;
    shm::SlotWord word;
    std::uint64_t bytes = 0;
    JobId job;
  };
  std::vector<View> view() const;  // slots that exist

 private:
  struct Slot {
    std::optional<shm::SlotMemory> memory;
    JobId job;
    WorkId work;
    Digest circuit{};
  };
  std::optional<SlotIndex> smallest_fitting(std::uint64_t bytes) const;
  Result<std::optional<SlotIndex>> make_room(std::uint64_t bytes);
  std::uint64_t total_bytes() const;
  void give_pages_back(SlotIndex slot);

  Settings settings_;
  std::vector<shm::SharedWord> words_;
  shm::SlotTable table_;
  std::vector<Slot> slots_;
};

}  // namespace cuzk::supervisor
