#include "shm/slot_table.hpp"

#include <algorithm>

namespace cuzk::shm {

namespace {

std::string describe(const SlotWord& word) {
  return fmt::format("{} owner {} epoch {} generation {}", name_of(word.state), word.owner.value,
                     word.epoch.value, word.generation.value);
}

std::string name_of_slot(SlotIndex slot) { return fmt::format("slot {}", slot.value); }

SlotWord owned(SlotState state, WorkerIndex owner, Epoch epoch, Generation generation) {
  return {state, owner, Epoch{epoch.value & kEpochMask}, generation};
}

SlotWord unowned(SlotState state, Generation generation) {
  return {state, kNoOwner, Epoch{0}, generation};
}

// An owner exactly where the state has one, and one that fits its 12 bits.
bool sound(const SlotWord& word) {
  return has_owner(word.state) ? word.owner < kNoOwner : word.owner == kNoOwner;
}

}  // namespace

Result<SlotTable> SlotTable::adopt(std::span<SharedWord> words) {
  if (words.size() > kMaxSlots) return bug(fmt::format("{} slots are too many", words.size()), "slots");
  for (std::size_t i = 0; i < words.size(); ++i) {
    // Pairs with the release in `store` of the supervisor that wrote it.
    const std::uint64_t raw = words[i].load(std::memory_order_acquire);
    const auto word = SlotWord::unpack(raw);
    if (!word || !sound(*word)) {
      return bug(fmt::format("{:#018x} is no slot word", raw), fmt::format("slot {}", i));
    }
  }
  return SlotTable(words);
}

SlotTable SlotTable::format(std::span<SharedWord> words) {
  words = words.first(std::min(words.size(), kMaxSlots));
  for (SharedWord& word : words) word.store(kFreshSlot.pack(), std::memory_order_release);
  return SlotTable(words);
}

SlotWord SlotTable::word(SlotIndex slot) const {
  // `adopt` and `format` let only slot words in, and this process is the only writer.
  return *SlotWord::unpack(words_[slot.value].load(std::memory_order_acquire));
}

void SlotTable::store(SlotIndex slot, const SlotWord& word) {
  // Release; pairs with the acquire in `adopt` and `word`. If we die here, the slot is in its old
  // state or in its new one: DeathBetweenTwoStoresLeavesAnAdoptableTable.
  words_[slot.value].store(word.pack(), std::memory_order_release);
}

Result<SlotWord> SlotTable::move(const char* transition, SlotIndex slot, const SlotWord& current,
                                 std::initializer_list<SlotState> from, const SlotWord& after) {
  if (slot.value >= words_.size()) {
    return bug(fmt::format("cannot {}: the table has {} slots", transition, words_.size()),
               name_of_slot(slot));
  }
  const SlotWord present = word(slot);
  if (present != current) {
    return bug(fmt::format("cannot {}: the slot is {}, the caller believes {}", transition,
                           describe(present), describe(current)),
               name_of_slot(slot));
  }
  if (std::find(from.begin(), from.end(), present.state) == from.end()) {
    return bug(fmt::format("cannot {} a slot that is {}", transition, describe(present)),
               name_of_slot(slot));
  }
  if (!sound(after)) {
    return bug(fmt::format("cannot {}: {} is no owner", transition, after.owner.value),
               name_of_slot(slot));
  }
  store(slot, after);
  return after;
}

Result<SlotWord> SlotTable::lease(SlotIndex slot, WorkerIndex owner, Epoch epoch) {
  const SlotWord present = slot.value < words_.size() ? word(slot) : kFreshSlot;
  return move("lease", slot, present, {SlotState::kFree},
              owned(SlotState::kLeased, owner, epoch, next(present.generation)));
}

Result<SlotWord> SlotTable::commit(SlotIndex slot, const SlotWord& current) {
  return move("commit", slot, current, {SlotState::kLeased},
              unowned(SlotState::kReady, current.generation));
}

Result<SlotWord> SlotTable::bind(SlotIndex slot, const SlotWord& current, WorkerIndex owner,
                                 Epoch epoch) {
  return move("bind", slot, current, {SlotState::kReady},
              owned(SlotState::kBound, owner, epoch, current.generation));
}

Result<SlotWord> SlotTable::unbind(SlotIndex slot, const SlotWord& current) {
  return move("unbind", slot, current, {SlotState::kBound},
              unowned(SlotState::kReady, current.generation));
}

Result<SlotWord> SlotTable::finish(SlotIndex slot, const SlotWord& current) {
  return move("finish", slot, current, {SlotState::kBound},
              unowned(SlotState::kDone, current.generation));
}

Result<SlotWord> SlotTable::discard(SlotIndex slot, const SlotWord& current) {
  return move("discard", slot, current, {SlotState::kReady},
              unowned(SlotState::kDone, current.generation));
}

Result<SlotWord> SlotTable::reopen(SlotIndex slot, const SlotWord& current) {
  return move("reopen", slot, current, {SlotState::kDone},
              unowned(SlotState::kReady, current.generation));
}

Result<SlotWord> SlotTable::lease_for_wipe(SlotIndex slot, const SlotWord& current,
                                           WorkerIndex owner, Epoch epoch) {
  return move("lease for wiping", slot, current, {SlotState::kDone},
              owned(SlotState::kLeased, owner, epoch, next(current.generation)));
}

Result<SlotWord> SlotTable::release(SlotIndex slot, const SlotWord& current) {
  return move("release", slot, current, {SlotState::kLeased, SlotState::kDone},
              unowned(SlotState::kFree, current.generation));
}

std::vector<SlotTable::Outcome> SlotTable::on_owner_death(WorkerIndex owner, Epoch epoch,
                                                          const CommitCheck& committed) {
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const SlotIndex slot{static_cast<std::uint16_t>(i)};
    const SlotWord before = word(slot);
    if (!has_owner(before.state) || before.owner != owner ||
        before.epoch.value != (epoch.value & kEpochMask)) {
      continue;
    }
    SlotState state = SlotState::kFree;
    if (before.state == SlotState::kBound) state = SlotState::kReady;
    if (before.state == SlotState::kLeased && committed && committed(slot, before)) {
      state = SlotState::kReady;
    }
    const SlotWord after = unowned(state, before.generation);
    store(slot, after);
    outcomes.push_back({slot, before, after});
  }
  return outcomes;
}

std::vector<SlotTable::Outcome> SlotTable::on_owner_unreapable(WorkerIndex owner, Epoch epoch) {
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const SlotIndex slot{static_cast<std::uint16_t>(i)};
    const SlotWord before = word(slot);
    if ((before.state != SlotState::kLeased && before.state != SlotState::kBound) ||
        before.owner != owner || before.epoch.value != (epoch.value & kEpochMask)) {
      continue;
    }
    SlotWord after = before;
    after.state = SlotState::kRetired;
    store(slot, after);
    outcomes.push_back({slot, before, after});
  }
  return outcomes;
}

}  // namespace cuzk::shm
