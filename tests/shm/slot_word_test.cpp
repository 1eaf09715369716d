#include "shm/slot_word.hpp"

#include <random>

#include <gtest/gtest.h>

namespace cuzk::shm {
namespace {

TEST(SlotWord, HasItsFieldsWhereTheReadmeSaysSo) {
  const SlotWord word{SlotState::kBound, WorkerIndex{0xabc}, Epoch{0x123456}, Generation{0x789def}};
  EXPECT_EQ(word.pack(), 0x3abc123456789defu);
  EXPECT_EQ(kFreshSlot.pack(), 0x0fff000000000000u);
  EXPECT_EQ(SlotWord::unpack(0x3abc123456789defu), word);
}

TEST(SlotWord, EveryWordWithAKnownStateUnpacksToWhatPacksToIt) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t raw = random();
    const auto word = SlotWord::unpack(raw);
    ASSERT_EQ(word.has_value(), raw >> 60 < kSlotStates);
    if (word) {
      ASSERT_EQ(word->pack(), raw);
    }
  }
}

TEST(SlotWord, GenerationsWrapAndSkipZero) {
  EXPECT_EQ(next(Generation{0}), Generation{1});
  EXPECT_EQ(next(Generation{41}), Generation{42});
  EXPECT_EQ(next(Generation{kGenerationMask - 1}), Generation{kGenerationMask});
  EXPECT_EQ(next(Generation{kGenerationMask}), Generation{1});
}

}  // namespace
}  // namespace cuzk::shm
