#include "shm/ring.hpp"

#include <thread>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/shm/ring_memory.hpp"

namespace cuzk::shm {
namespace {

TEST(Ring, AnEmptyRingHasNothing) {
  RingMemory memory;
  RingConsumer consumer = memory.consumer();
  auto message = consumer.pop();
  ASSERT_TRUE(message);
  EXPECT_FALSE(*message);
}

TEST(Ring, MessagesComeOutWholeAndInOrder) {
  RingMemory memory;
  RingProducer producer = memory.producer();
  RingConsumer consumer = memory.consumer();
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(producer.push(entry_of(i), bytes_of(body_of(i))));
    auto message = consumer.pop();
    ASSERT_TRUE(message && *message);
    ASSERT_NO_FATAL_FAILURE(expect_message(**message, i));
  }
  auto message = consumer.pop();
  ASSERT_TRUE(message);
  EXPECT_FALSE(*message);
}

TEST(Ring, AFullRingIsBusyAndLosesNothing) {
  RingMemory memory;
  RingProducer producer = memory.producer();
  RingConsumer consumer = memory.consumer();
  std::uint64_t written = 0;
  std::uint64_t read = 0;
  for (int round = 0; round < 10; ++round) {
    while (written - read < kRingEntries) {
      auto free = producer.free_entries();
      ASSERT_TRUE(free);
      ASSERT_EQ(*free, kRingEntries - (written - read));
      ASSERT_TRUE(producer.push(entry_of(written), bytes_of(body_of(written))));
      ++written;
    }
    const Status full = producer.push(entry_of(written), {});
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().error_class, ErrorClass::kBusy);
    for (int i = 0; i < 11; ++i, ++read) {
      auto message = consumer.pop();
      ASSERT_TRUE(message && *message);
      ASSERT_NO_FATAL_FAILURE(expect_message(**message, read));
    }
  }
}

TEST(Ring, ABodyOfOneCellFitsAndOneByteMoreDoesNot) {
  RingMemory memory;
  RingProducer producer = memory.producer();
  RingConsumer consumer = memory.consumer();
  const std::string largest(kBodyCellBytes, 'x');
  const std::string too_large(kBodyCellBytes + 1, 'x');
  for (std::size_t i = 0; i < kRingEntries; ++i) {
    ASSERT_TRUE(producer.push({}, bytes_of(largest)));
  }
  for (std::size_t i = 0; i < kRingEntries; ++i) {
    auto message = consumer.pop();
    ASSERT_TRUE(message && *message);
    EXPECT_TRUE((*message)->body == largest);
  }
  const Status refused = producer.push({}, bytes_of(too_large));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::kBug);
  EXPECT_TRUE(producer.push({}, {})) << "a refused body does not break the ring";
}

TEST(Ring, ABigBodysMemoryIsGivenBackOnceItIsRead) {
  RingMemory memory;
  RingProducer producer = memory.producer();
  RingConsumer consumer = memory.consumer();
  const auto allocated = [&] {
    struct stat info {};
    EXPECT_EQ(::fstat(memory.memfd(), &info), 0);
    return static_cast<std::uint64_t>(info.st_blocks) * 512;
  };
  ASSERT_TRUE(producer.push({}, bytes_of(std::string(kBodyCellBytes, 'x'))));
  EXPECT_EQ(allocated(), kPageBytes + kBodyCellBytes);
  ASSERT_TRUE(consumer.pop());
  EXPECT_EQ(allocated(), kPageBytes);
  ASSERT_TRUE(producer.push({}, bytes_of(std::string(1000, 'x'))));
  ASSERT_TRUE(consumer.pop());
  EXPECT_EQ(allocated(), 2 * kPageBytes) << "a small body's page stays warm";
}

// On plain memory of one mapping, so that the thread sanitizer sees both sides.
TEST(Ring, TwoThreadsPassEverythingInOrder) {
  constexpr std::uint64_t kMessages = 20'000;
  RingPage page{};
  std::vector<std::byte> cells(kRingBodyBytes);
  const RingBodies bodies{cells, -1, 0};
  std::thread writer([&] {
    RingProducer producer(page, bodies, "threads");
    for (std::uint64_t i = 0; i < kMessages;) {
      const Status pushed = producer.push(entry_of(i), bytes_of(body_of(i)));
      if (pushed) {
        ++i;
      } else {
        ASSERT_EQ(pushed.error().error_class, ErrorClass::kBusy);
        std::this_thread::yield();
      }
    }
  });
  RingConsumer consumer(page, bodies, "threads");
  for (std::uint64_t i = 0; i < kMessages;) {
    auto message = consumer.pop();
    if (!message) {
      ADD_FAILURE() << message.error().message();
      break;
    }
    if (!*message) {
      std::this_thread::yield();
      continue;
    }
    expect_message(**message, i);
    if (testing::Test::HasFatalFailure()) break;
    ++i;
  }
  writer.join();
}

}  // namespace
}  // namespace cuzk::shm
