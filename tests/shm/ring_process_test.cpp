// Rings between two processes, either of which is killed in the middle.
#include <csignal>
#include <random>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "shm/ring.hpp"
#include "tests/shm/ring_memory.hpp"

namespace cuzk::shm {
namespace {

constexpr int kKills = 60;

void kill_and_reap(pid_t child) {
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << status;
}

// Does nothing useful for a random while, so that the kill lands anywhere in push or pop.
void spin(std::uint64_t rounds) {
  for (std::uint64_t i = 0; i < rounds; ++i) asm volatile("");
}

TEST(RingProcesses, EverythingArrivesInOrder) {
  constexpr std::uint64_t kMessages = 20'000;
  RingMemory memory;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    RingProducer producer = memory.producer();
    for (std::uint64_t i = 0; i < kMessages;) {
      const Status pushed = producer.push(entry_of(i), bytes_of(body_of(i)));
      if (pushed) {
        ++i;
      } else if (pushed.error().error_class == ErrorClass::kBusy) {
        ::sched_yield();
      } else {
        ::_exit(1);
      }
    }
    ::_exit(0);
  }
  RingConsumer consumer = memory.consumer();
  for (std::uint64_t i = 0; i < kMessages;) {
    auto message = consumer.pop();
    ASSERT_TRUE(message) << message.error().message();
    if (!*message) {
      ::sched_yield();
      continue;
    }
    ASSERT_NO_FATAL_FAILURE(expect_message(**message, i));
    ++i;
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(RingProcesses, AProducerKilledInTheMiddleLeavesWholeMessages) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::uint64_t after_death = 0;
  for (int round = 0; round < kKills; ++round) {
    RingMemory memory;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      RingProducer producer = memory.producer();
      for (std::uint64_t i = 0;;) {
        if (producer.push(entry_of(i), bytes_of(body_of(i)))) ++i;
      }
    }
    RingConsumer consumer = memory.consumer();
    std::uint64_t read = 0;
    for (const std::uint64_t target = random() % 200; read < target;) {
      auto message = consumer.pop();
      ASSERT_TRUE(message) << message.error().message();
      if (!*message) {
        ::sched_yield();
        continue;
      }
      ASSERT_NO_FATAL_FAILURE(expect_message(**message, read));
      ++read;
    }
    spin(random() % 50'000);
    ASSERT_NO_FATAL_FAILURE(kill_and_reap(child));
    for (std::size_t left = 0;; ++left) {
      ASSERT_LE(left, kRingEntries);
      auto message = consumer.pop();
      ASSERT_TRUE(message) << message.error().message();
      if (!*message) break;
      ASSERT_NO_FATAL_FAILURE(expect_message(**message, read));
      ++read;
      ++after_death;
    }
  }
  EXPECT_GT(after_death, 0u) << "no kill came while messages were waiting";
}

TEST(RingProcesses, AConsumerKilledInTheMiddleLeavesTheRingToItsProducer) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < kKills; ++round) {
    RingMemory memory;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      RingConsumer consumer = memory.consumer();
      while (true) (void)consumer.pop();
    }
    RingProducer producer = memory.producer();
    std::uint64_t written = 0;
    const auto push_until_full = [&](std::uint64_t most) {
      for (std::uint64_t tries = 0; tries < most; ++tries) {
        const Status pushed = producer.push(entry_of(written), bytes_of(body_of(written)));
        if (pushed) {
          ++written;
        } else {
          ASSERT_EQ(pushed.error().error_class, ErrorClass::kBusy) << pushed.error().message();
        }
      }
    };
    ASSERT_NO_FATAL_FAILURE(push_until_full(random() % 500));
    ASSERT_NO_FATAL_FAILURE(kill_and_reap(child));
    // The dead one reads nothing more: exactly the free entries fit, then the ring says busy.
    auto free = producer.free_entries();
    ASSERT_TRUE(free) << free.error().message();
    const std::uint64_t expected = written + *free;
    ASSERT_NO_FATAL_FAILURE(push_until_full(2 * kRingEntries));
    EXPECT_EQ(written, expected);
  }
}

}  // namespace
}  // namespace cuzk::shm
