#include "supervisor/slots/slot_pool.hpp"

#include <algorithm>

#include <spdlog/spdlog.h>

namespace cuzk::supervisor {
namespace {

// Capacities are rounded up to multiples of an eighth of their size's power of two, so that
// circuits of similar size share slots and at most an eighth of the memory is wasted.
constexpr std::uint64_t kSmallestSlot = std::uint64_t{1} << 20;

std::optional<std::uint64_t> size_class(std::uint64_t bytes) {
  if (bytes <= kSmallestSlot) return kSmallestSlot;
  if (bytes > (std::uint64_t{1} << 46)) return std::nullopt;
  std::uint64_t power = kSmallestSlot;
  while (power * 2 <= bytes) power *= 2;
  const std::uint64_t step = power / 8;
  return (bytes + step - 1) / step * step;
}

Status as_status(Result<shm::SlotWord> moved) {
  if (!moved) return std::move(moved).error();
  return {};
}

}  // namespace

SlotPool::SlotPool(Settings settings)
    : settings_(settings),
      words_(settings.max_slots),
      table_(shm::SlotTable::format(words_)),
      slots_(settings.max_slots) {}

Result<std::optional<SlotIndex>> SlotPool::lease(WorkerLife life, std::uint64_t payload_bytes,
                                                 JobId job) {
  const auto bytes = size_class(payload_bytes);
  if (!bytes || *bytes > settings_.max_bytes) {
    return bad_request(fmt::format("the assignment needs {} bytes, the memory budget is {}",
                                   payload_bytes, settings_.max_bytes),
                       "slots", "raise [memory] total_budget");
  }
  std::optional<SlotIndex> chosen = smallest_fitting(*bytes);
  if (!chosen) {
    CUZK_TRY(made, make_room(*bytes));
    if (!made) return std::optional<SlotIndex>{};
    chosen = made;
  }
  CUZK_CHECK(table_.lease(*chosen, life.worker, life.epoch));
  Slot& slot = slots_[chosen->value];
  slot.job = job;
  slot.work = {};
  slot.circuit = {};
  return chosen;
}

std::optional<SlotIndex> SlotPool::smallest_fitting(std::uint64_t bytes) const {
  std::optional<SlotIndex> best;
  for (std::uint16_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (!slot.memory || table_.word(SlotIndex{i}).state != shm::SlotState::kFree) continue;
    if (slot.memory->capacity < bytes) continue;
    if (!best || slot.memory->capacity < slots_[best->value].memory->capacity) best = SlotIndex{i};
  }
  return best;
}

// A place without memory is used first; then FREE slots, which are all too small, make way, the
// smallest first, until the bytes fit.
Result<std::optional<SlotIndex>> SlotPool::make_room(std::uint64_t bytes) {
  std::vector<SlotIndex> free;
  std::optional<SlotIndex> place;
  for (std::uint16_t i = 0; i < slots_.size(); ++i) {
    if (table_.word(SlotIndex{i}).state != shm::SlotState::kFree) continue;
    if (slots_[i].memory) {
      free.push_back(SlotIndex{i});
    } else if (!place) {
      place = SlotIndex{i};
    }
  }
  std::ranges::sort(free, {},
                    [this](SlotIndex slot) { return slots_[slot.value].memory->capacity; });
  // Whether the bytes fit once every FREE slot is gone: otherwise nothing is thrown away.
  std::uint64_t kept = total_bytes();
  for (const SlotIndex slot : free) kept -= slots_[slot.value].memory->capacity;
  if (kept > settings_.max_bytes - bytes || (!place && free.empty()))
    return std::optional<SlotIndex>{};
  for (const SlotIndex slot : free) {
    if (place && total_bytes() <= settings_.max_bytes - bytes) break;
    slots_[slot.value].memory.reset();
    if (!place) place = slot;
  }
  CUZK_TRY(memory, shm::SlotMemory::create("cuzk-slot", bytes, shm::SlotMemory::Pages::kOnDemand));
  slots_[place->value].memory = std::move(memory);
  return place;
}

std::uint64_t SlotPool::total_bytes() const {
  std::uint64_t total = 0;
  for (const Slot& slot : slots_) total += slot.memory ? slot.memory->capacity : 0;
  return total;
}

Status SlotPool::commit(SlotIndex slot) { return as_status(table_.commit(slot, word(slot))); }
Status SlotPool::bind(SlotIndex slot, WorkerLife life) {
  return as_status(table_.bind(slot, word(slot), life.worker, life.epoch));
}
Status SlotPool::unbind(SlotIndex slot) { return as_status(table_.unbind(slot, word(slot))); }
Status SlotPool::finish(SlotIndex slot) { return as_status(table_.finish(slot, word(slot))); }
Status SlotPool::discard(SlotIndex slot) { return as_status(table_.discard(slot, word(slot))); }
Status SlotPool::reopen(SlotIndex slot) { return as_status(table_.reopen(slot, word(slot))); }
Status SlotPool::lease_for_wipe(SlotIndex slot, WorkerLife life) {
  return as_status(table_.lease_for_wipe(slot, word(slot), life.worker, life.epoch));
}
Status SlotPool::release_wiped(SlotIndex slot) {
  return as_status(table_.release(slot, word(slot)));
}

Status SlotPool::release_unwiped(SlotIndex slot) {
  CUZK_CHECK(as_status(table_.release(slot, word(slot))));
  give_pages_back(slot);
  return {};
}

void SlotPool::give_pages_back(SlotIndex slot) {
  auto& memory = slots_[slot.value].memory;
  if (!memory) return;
  if (const auto discarded = memory->discard_payload(); !discarded) {
    // Without its memory the slot is as good as wiped: the next lease makes a new one.
    spdlog::warn("slot {}: {}; it gets new memory", slot.value, discarded.error().message());
    memory.reset();
  }
}

void SlotPool::owner_died(WorkerLife life) {
  const auto committed = [this](SlotIndex slot, const shm::SlotWord&) {
    const Slot& entry = slots_[slot.value];
    return entry.work.job.value != 0 && check(slot, entry.work, entry.circuit).ok();
  };
  for (const auto& outcome : table_.on_owner_death(life.worker, life.epoch, committed)) {
    spdlog::info("slot {} of job {}: {} -> {}, its owner died", outcome.slot.value,
                 slots_[outcome.slot.value].job.value, shm::name_of(outcome.before.state),
                 shm::name_of(outcome.after.state));
    if (outcome.after.state == shm::SlotState::kFree) give_pages_back(outcome.slot);
  }
}

void SlotPool::owner_unreapable(WorkerLife life) {
  table_.on_owner_unreapable(life.worker, life.epoch);
}

void SlotPool::expect(SlotIndex slot, const WorkId& work, const Digest& circuit) {
  slots_[slot.value].work = work;
  slots_[slot.value].circuit = circuit;
}

Result<shm::SlotFields> SlotPool::check(SlotIndex slot, const WorkId& work,
                                        const Digest& circuit) const {
  const auto& memory = slots_[slot.value].memory;
  if (!memory) return bug("the slot has no memory", fmt::format("slot {}", slot.value));
  shm::SlotExpectation expected;
  expected.work = work;
  expected.circuit = circuit;
  expected.generation = word(slot).generation;
  return shm::check_slot(memory->read_only, expected);
}

shm::SlotWord SlotPool::word(SlotIndex slot) const { return table_.word(slot); }

std::uint64_t SlotPool::capacity(SlotIndex slot) const {
  const auto& memory = slots_[slot.value].memory;
  return memory ? memory->capacity : 0;
}

Result<UniqueFd> SlotPool::writable(SlotIndex slot) const {
  const auto& memory = slots_[slot.value].memory;
  if (!memory) return bug("the slot has no memory", fmt::format("slot {}", slot.value));
  return memory->writable.duplicate();
}

Result<UniqueFd> SlotPool::read_only(SlotIndex slot) const {
  const auto& memory = slots_[slot.value].memory;
  if (!memory) return bug("the slot has no memory", fmt::format("slot {}", slot.value));
  return memory->read_only.duplicate();
}

std::vector<SlotPool::View> SlotPool::view() const {
  std::vector<View> views;
  for (std::uint16_t i = 0; i < slots_.size(); ++i) {
    const SlotIndex index{i};
    const auto present = table_.word(index);
    if (!slots_[i].memory) continue;
    const bool in_use = present.state != shm::SlotState::kFree;
    views.push_back({index, present, slots_[i].memory->capacity, in_use ? slots_[i].job : JobId{}});
  }
  return views;
}

}  // namespace cuzk::supervisor
