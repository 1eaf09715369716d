#include "shm/slot_table.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace cuzk::shm {
namespace {

constexpr WorkerIndex kSynth{3};
constexpr WorkerIndex kDevice{7};
constexpr Epoch kSynthEpoch{5};
constexpr Epoch kDeviceEpoch{9};
constexpr Generation kGeneration{17};
constexpr SlotIndex kSlot{1};
constexpr SlotState kStates[] = {SlotState::kFree,  SlotState::kLeased, SlotState::kReady,
                                 SlotState::kBound, SlotState::kDone,   SlotState::kRetired};

SlotWord word_in(SlotState state) {
  switch (state) {
    case SlotState::kLeased: return {state, kSynth, kSynthEpoch, kGeneration};
    case SlotState::kBound:
    case SlotState::kRetired: return {state, kDevice, kDeviceEpoch, kGeneration};
    default: return {state, kNoOwner, Epoch{0}, kGeneration};
  }
}

// Three slots, the middle one in the state under test; the others must never change.
class SlotTableTest : public testing::Test {
 protected:
  SlotTable table_with(const SlotWord& word) {
    for (auto& memory : memory_) memory.store(kFreshSlot.pack(), std::memory_order_relaxed);
    memory_[kSlot.value].store(word.pack(), std::memory_order_relaxed);
    auto table = SlotTable::adopt(memory_);
    if (!table) throw std::runtime_error(table.error().message());
    return *table;
  }
  void expect_neighbours_untouched(const SlotTable& table) {
    EXPECT_EQ(table.word(SlotIndex{0}), kFreshSlot);
    EXPECT_EQ(table.word(SlotIndex{2}), kFreshSlot);
  }
  std::array<SharedWord, 3> memory_{};
};

using Operation = std::function<Result<SlotWord>(SlotTable&, const SlotWord& current)>;
struct Row {
  Operation apply;
  std::map<SlotState, SlotWord> allowed;  // from state to the word after it; all else is refused
  bool names_current = true;
};

SlotWord free_word() { return {SlotState::kFree, kNoOwner, Epoch{0}, kGeneration}; }
SlotWord ready_word() { return {SlotState::kReady, kNoOwner, Epoch{0}, kGeneration}; }
SlotWord done_word() { return {SlotState::kDone, kNoOwner, Epoch{0}, kGeneration}; }

std::map<std::string, Row> rows() {
  const SlotWord leased_next{SlotState::kLeased, kSynth, kSynthEpoch, next(kGeneration)};
  const SlotWord bound{SlotState::kBound, kDevice, kDeviceEpoch, kGeneration};
  return {
      {"lease",
       {[](SlotTable& t, const SlotWord&) { return t.lease(kSlot, kSynth, kSynthEpoch); },
        {{SlotState::kFree, leased_next}},
        false}},
      {"commit",
       {[](SlotTable& t, const SlotWord& w) { return t.commit(kSlot, w); },
        {{SlotState::kLeased, ready_word()}}}},
      {"bind",
       {[](SlotTable& t, const SlotWord& w) { return t.bind(kSlot, w, kDevice, kDeviceEpoch); },
        {{SlotState::kReady, bound}}}},
      {"unbind",
       {[](SlotTable& t, const SlotWord& w) { return t.unbind(kSlot, w); },
        {{SlotState::kBound, ready_word()}}}},
      {"finish",
       {[](SlotTable& t, const SlotWord& w) { return t.finish(kSlot, w); },
        {{SlotState::kBound, done_word()}}}},
      {"discard",
       {[](SlotTable& t, const SlotWord& w) { return t.discard(kSlot, w); },
        {{SlotState::kReady, done_word()}}}},
      {"reopen",
       {[](SlotTable& t, const SlotWord& w) { return t.reopen(kSlot, w); },
        {{SlotState::kDone, ready_word()}}}},
      {"lease_for_wipe",
       {[](SlotTable& t, const SlotWord& w) {
          return t.lease_for_wipe(kSlot, w, kSynth, kSynthEpoch);
        },
        {{SlotState::kDone, leased_next}}}},
      {"release",
       {[](SlotTable& t, const SlotWord& w) { return t.release(kSlot, w); },
        {{SlotState::kLeased, free_word()}, {SlotState::kDone, free_word()}}}},
  };
}

TEST_F(SlotTableTest, EveryTransitionFromEveryStateDoesWhatThePictureSaysOrNothing) {
  for (const auto& [name, row] : rows()) {
    for (const SlotState state : kStates) {
      SCOPED_TRACE(name + " from " + name_of(state));
      SlotTable table = table_with(word_in(state));
      const auto result = row.apply(table, word_in(state));
      const auto allowed = row.allowed.find(state);
      if (allowed != row.allowed.end()) {
        ASSERT_TRUE(result) << result.error().message();
        EXPECT_EQ(*result, allowed->second);
        EXPECT_EQ(table.word(kSlot), allowed->second);
      } else {
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().error_class, ErrorClass::kBug);
        EXPECT_NE(result.error().where.find("slot 1"), std::string::npos);
        EXPECT_EQ(table.word(kSlot), word_in(state));
      }
      expect_neighbours_untouched(table);
    }
  }
}

TEST_F(SlotTableTest, ADecisionAboutAnotherWordIsRefusedWhateverFieldDiffers) {
  for (const auto& [name, row] : rows()) {
    if (!row.names_current) continue;
    for (const auto& [state, after] : row.allowed) {
      std::vector<SlotWord> stale(4, word_in(state));
      stale[0].generation.value -= 1;
      stale[1].epoch.value += 1;
      stale[2].owner.value = 1;
      stale[3].state = state == SlotState::kFree ? SlotState::kDone : SlotState::kFree;
      for (const SlotWord& word : stale) {
        SCOPED_TRACE(name + " from " + name_of(state));
        SlotTable table = table_with(word_in(state));
        const auto result = row.apply(table, word);
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().error_class, ErrorClass::kBug);
        EXPECT_EQ(table.word(kSlot), word_in(state));
      }
    }
  }
}

TEST_F(SlotTableTest, ASlotOrAnOwnerThatDoesNotExistIsRefused) {
  SlotTable table = table_with(kFreshSlot);
  EXPECT_FALSE(table.lease(SlotIndex{3}, kSynth, kSynthEpoch));
  EXPECT_FALSE(table.release(SlotIndex{0xffff}, kFreshSlot));
  EXPECT_FALSE(table.lease(kSlot, kNoOwner, kSynthEpoch));
  EXPECT_FALSE(table.lease(kSlot, WorkerIndex{0x1003}, kSynthEpoch));
  EXPECT_EQ(table.word(kSlot), kFreshSlot);
}

TEST_F(SlotTableTest, GenerationsGrowWithEveryLease) {
  SlotTable table = table_with(kFreshSlot);
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    auto leased = table.lease(kSlot, kSynth, kSynthEpoch);
    ASSERT_TRUE(leased);
    ASSERT_EQ(leased->generation.value, i);
    ASSERT_TRUE(table.release(kSlot, *leased));
  }
}

TEST_F(SlotTableTest, AWholeLifeGoesRoundAsTheArchitectureSays) {
  SlotTable table = table_with(kFreshSlot);
  auto word = table.lease(kSlot, kSynth, kSynthEpoch);
  ASSERT_TRUE(word);
  word = table.commit(kSlot, *word);
  ASSERT_TRUE(word);
  word = table.bind(kSlot, *word, kDevice, kDeviceEpoch);
  ASSERT_TRUE(word);
  word = table.finish(kSlot, *word);
  ASSERT_TRUE(word);
  word = table.lease_for_wipe(kSlot, *word, kSynth, kSynthEpoch);
  ASSERT_TRUE(word);
  word = table.release(kSlot, *word);
  ASSERT_TRUE(word);
  EXPECT_EQ(word->state, SlotState::kFree);
  EXPECT_EQ(word->generation.value, 2u);
}

struct Death {
  SlotState state;
  bool committed;
  SlotState after;
};

TEST_F(SlotTableTest, OwnerDeathInEveryStateWithAndWithoutCommit) {
  const Death deaths[] = {
      {SlotState::kFree, false, SlotState::kFree},   {SlotState::kFree, true, SlotState::kFree},
      {SlotState::kLeased, false, SlotState::kFree}, {SlotState::kLeased, true, SlotState::kReady},
      {SlotState::kReady, false, SlotState::kReady}, {SlotState::kReady, true, SlotState::kReady},
      {SlotState::kBound, false, SlotState::kReady}, {SlotState::kBound, true, SlotState::kReady},
      {SlotState::kDone, false, SlotState::kDone},   {SlotState::kDone, true, SlotState::kDone},
      {SlotState::kRetired, false, SlotState::kFree},
      {SlotState::kRetired, true, SlotState::kFree},
  };
  for (const Death& death : deaths) {
    SCOPED_TRACE(std::string(name_of(death.state)) + (death.committed ? " committed" : ""));
    SlotTable table = table_with(word_in(death.state));
    const SlotWord before = word_in(death.state);
    int asked = 0;
    const auto outcomes = table.on_owner_death(
        before.owner, before.epoch, [&](SlotIndex slot, const SlotWord& leased) {
          ++asked;
          EXPECT_EQ(slot, kSlot);
          EXPECT_EQ(leased, before);
          return death.committed;
        });
    EXPECT_EQ(asked, death.state == SlotState::kLeased ? 1 : 0);
    const SlotWord after = table.word(kSlot);
    EXPECT_EQ(after.state, death.after);
    EXPECT_EQ(after.generation, kGeneration);
    EXPECT_FALSE(has_owner(after.state));
    ASSERT_EQ(outcomes.size(), has_owner(death.state) ? 1u : 0u);
    if (!outcomes.empty()) {
      EXPECT_EQ(outcomes[0].before, before);
      EXPECT_EQ(outcomes[0].after, after);
    }
    expect_neighbours_untouched(table);
  }
}

TEST_F(SlotTableTest, TheDeathOfAnotherProcessOrEpochTouchesNothing) {
  const auto never = [](SlotIndex, const SlotWord&) -> bool {
    ADD_FAILURE() << "asked about a slot of somebody else";
    return false;
  };
  for (const SlotState state : kStates) {
    const SlotWord word = word_in(state);
    SlotTable table = table_with(word);
    EXPECT_TRUE(table.on_owner_death(WorkerIndex{4}, word.epoch, never).empty());
    EXPECT_TRUE(table.on_owner_death(word.owner, Epoch{word.epoch.value + 1}, never).empty());
    EXPECT_TRUE(table.on_owner_unreapable(WorkerIndex{4}, word.epoch).empty());
    EXPECT_TRUE(table.on_owner_unreapable(word.owner, Epoch{word.epoch.value + 1}).empty());
    EXPECT_EQ(table.word(kSlot), word);
  }
}

TEST_F(SlotTableTest, ASlotWhoseOwnerCannotBeReapedIsRetiredUntilItIs) {
  for (const SlotState state : kStates) {
    SCOPED_TRACE(name_of(state));
    const SlotWord before = word_in(state);
    SlotTable table = table_with(before);
    const auto retired = table.on_owner_unreapable(before.owner, before.epoch);
    const bool owns = state == SlotState::kLeased || state == SlotState::kBound;
    ASSERT_EQ(retired.size(), owns ? 1u : 0u);
    if (!owns) {
      EXPECT_EQ(table.word(kSlot), before);
      continue;
    }
    SlotWord expected = before;
    expected.state = SlotState::kRetired;
    EXPECT_EQ(table.word(kSlot), expected);
    EXPECT_FALSE(table.lease(kSlot, kSynth, kSynthEpoch));
    EXPECT_FALSE(table.release(kSlot, expected));
    const auto freed = table.on_owner_death(before.owner, before.epoch, nullptr);
    ASSERT_EQ(freed.size(), 1u);
    EXPECT_EQ(table.word(kSlot), free_word());
    EXPECT_TRUE(table.lease(kSlot, kSynth, kSynthEpoch));
  }
}

TEST_F(SlotTableTest, DeathBetweenTwoStoresLeavesAnAdoptableTable) {
  // A transition is one store, so the memory after any prefix of them is the table after that prefix.
  SlotTable table = table_with(kFreshSlot);
  std::vector<SlotWord> words;
  const auto adopt_again = [&] {
    auto adopted = SlotTable::adopt(memory_);
    ASSERT_TRUE(adopted) << adopted.error().message();
    EXPECT_EQ(adopted->word(kSlot), table.word(kSlot));
  };
  auto word = table.lease(kSlot, kSynth, kSynthEpoch);
  adopt_again();
  word = table.commit(kSlot, *word);
  adopt_again();
  word = table.bind(kSlot, *word, kDevice, kDeviceEpoch);
  adopt_again();
  (void)table.on_owner_unreapable(kDevice, kDeviceEpoch);
  adopt_again();
  (void)table.on_owner_death(kDevice, kDeviceEpoch, nullptr);
  adopt_again();
}

TEST_F(SlotTableTest, MemoryThatHoldsNoSlotWordsIsNotAdopted) {
  for (const std::uint64_t raw :
       {std::uint64_t{6} << 60, ~std::uint64_t{0},
        SlotWord{SlotState::kFree, kSynth, Epoch{0}, kGeneration}.pack(),    // owned but FREE
        SlotWord{SlotState::kLeased, kNoOwner, Epoch{1}, kGeneration}.pack(),  // LEASED to nobody
        std::uint64_t{0}}) {  // never formatted
    memory_[0].store(kFreshSlot.pack(), std::memory_order_relaxed);
    memory_[1].store(raw, std::memory_order_relaxed);
    memory_[2].store(kFreshSlot.pack(), std::memory_order_relaxed);
    auto table = SlotTable::adopt(memory_);
    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().where, "slot 1");
  }
  SlotTable::format(memory_);
  EXPECT_TRUE(SlotTable::adopt(memory_));
}

}  // namespace
}  // namespace cuzk::shm
