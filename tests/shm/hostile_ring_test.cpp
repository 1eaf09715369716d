// A ring whose other side writes whatever it likes.
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "shm/ring.hpp"
#include "tests/shm/ring_memory.hpp"

namespace cuzk::shm {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

void expect_broken(RingConsumer& consumer) {
  for (int again = 0; again < 3; ++again) {
    auto message = consumer.pop();
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().error_class, ErrorClass::kBug);
    EXPECT_EQ(message.error().where, "test ring");
  }
}

TEST(HostileProducer, ACounterBeyondTheCapacityIsAnErrorForEver) {
  for (const std::uint64_t tail : {std::uint64_t{kRingEntries + 1}, kMax, kMax / 2}) {
    RingMemory memory;
    RingConsumer consumer = memory.consumer();
    memory.page().tail.store(tail, std::memory_order_release);
    ASSERT_NO_FATAL_FAILURE(expect_broken(consumer));
    // Repairing the counter afterwards does not bring trust back.
    memory.page().tail.store(0, std::memory_order_release);
    ASSERT_NO_FATAL_FAILURE(expect_broken(consumer));
  }
}

TEST(HostileProducer, ACounterThatGoesBackIsAnError) {
  RingMemory memory;
  RingProducer producer = memory.producer();
  RingConsumer consumer = memory.consumer();
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(producer.push(entry_of(i), {}));
  auto message = consumer.pop();
  ASSERT_TRUE(message && *message);
  // Still ahead of what was read, but behind what was already seen.
  memory.page().tail.store(3, std::memory_order_release);
  ASSERT_NO_FATAL_FAILURE(expect_broken(consumer));
}

TEST(HostileProducer, AnEntryWithALyingSizeIsAnErrorAndNothingIsRead) {
  for (const std::uint32_t size : {static_cast<std::uint32_t>(kBodyCellBytes + 1), 0xffffffffu}) {
    RingMemory memory;
    RingProducer producer = memory.producer();
    RingConsumer consumer = memory.consumer();
    ASSERT_TRUE(producer.push(entry_of(0), {}));
    auto& word = memory.page().entries[0][0];
    word.store((word.load(std::memory_order_relaxed) & 0xffffffffu) | std::uint64_t{size} << 32,
               std::memory_order_relaxed);
    ASSERT_NO_FATAL_FAILURE(expect_broken(consumer));
    EXPECT_EQ(memory.page().head.load(std::memory_order_relaxed), 0u);
  }
}

TEST(HostileProducer, AnEntryOfAnotherRoundIsAnError) {
  RingMemory memory;
  RingProducer producer = memory.producer();
  RingConsumer consumer = memory.consumer();
  ASSERT_TRUE(producer.push(entry_of(0), {}));
  ASSERT_TRUE(consumer.pop());
  // The counter moves without an entry: what lies there is old.
  memory.page().tail.store(kRingEntries + 1, std::memory_order_release);
  for (std::size_t i = 1; i < kRingEntries; ++i) {
    memory.page().entries[i][1].store(i, std::memory_order_relaxed);
    auto message = consumer.pop();
    ASSERT_TRUE(message && *message);
  }
  ASSERT_NO_FATAL_FAILURE(expect_broken(consumer));
}

TEST(HostileConsumer, AnImpossibleCounterIsAnErrorForEver) {
  for (const std::uint64_t head : {std::uint64_t{4}, kMax, kMax / 2}) {
    RingMemory memory;
    RingProducer producer = memory.producer();
    for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(producer.push(entry_of(i), {}));
    memory.page().head.store(head, std::memory_order_release);
    for (int again = 0; again < 3; ++again) {
      const Status pushed = producer.push(entry_of(3), {});
      ASSERT_FALSE(pushed);
      EXPECT_EQ(pushed.error().error_class, ErrorClass::kBug);
      memory.page().head.store(0, std::memory_order_release);
    }
  }
}

TEST(HostileConsumer, ACounterThatGoesBackIsAnError) {
  RingMemory memory;
  RingProducer producer = memory.producer();
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(producer.push(entry_of(i), {}));
  memory.page().head.store(2, std::memory_order_release);
  ASSERT_TRUE(producer.push(entry_of(3), {}));
  memory.page().head.store(1, std::memory_order_release);
  const Status pushed = producer.push(entry_of(4), {});
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().error_class, ErrorClass::kBug);
}

// Whatever is in the page, popping ends: at most kRingEntries messages for each move of the counter.
TEST(HostileProducer, RandomPagesNeverMakeTheConsumerLoopOrReadOutOfBounds) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  RingMemory memory;
  for (int round = 0; round < 3000; ++round) {
    RingConsumer consumer = memory.consumer();
    memory.page().tail.store(0, std::memory_order_relaxed);
    std::uint64_t tail = 0;
    std::size_t popped = 0;
    for (int step = 0; step < 8; ++step) {
      tail = random() % 4 != 0 ? tail + random() % 12 : random() >> random() % 64;
      memory.page().tail.store(tail, std::memory_order_release);
      for (auto& entry : memory.page().entries) {
        for (auto& word : entry) word.store(random() >> random() % 64, std::memory_order_relaxed);
        // Often plausible, so that the checks behind the first are reached.
        if (random() % 4 != 0) {
          entry[1].store(popped + random() % 2, std::memory_order_relaxed);
          entry[0].store(random() % (kBodyCellBytes / 64) << 32, std::memory_order_relaxed);
        }
      }
      for (std::size_t i = 0;; ++i) {
        ASSERT_LE(i, kRingEntries) << "more messages than entries without the counter moving";
        auto message = consumer.pop();
        if (!message || !*message) break;
        ASSERT_LE((*message)->body.size(), kBodyCellBytes);
        ++popped;
      }
    }
  }
}

}  // namespace
}  // namespace cuzk::shm
