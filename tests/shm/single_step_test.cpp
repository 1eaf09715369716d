// The writers of shared memory, stopped after every single machine instruction.
//
// A child runs the code under PTRACE_SINGLESTEP; between any two of its instructions the parent looks at
// the shared memory exactly as it would if the child had been killed there, and runs the real recovery.
#include <csignal>
#include <cstring>
#include <functional>
#include <memory>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "common/hash.hpp"
#include "shm/ring.hpp"
#include "shm/slot.hpp"
#include "tests/shm/ring_memory.hpp"

namespace cuzk::shm {
namespace {

enum class Stepped { kOk, kNotPermitted, kFailed };

// Runs `work` in a traced child and calls `look` after each of its instructions. `work` is everything
// between the child's two stops.
Stepped step_through(const std::function<void()>& work, const std::function<void()>& look,
                     std::size_t& steps) {
  constexpr std::size_t kMostSteps = 200'000;
  const pid_t child = ::fork();
  if (child < 0) return Stepped::kFailed;
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(77);
    ::raise(SIGSTOP);
    work();
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 77 ? Stepped::kNotPermitted : Stepped::kFailed;
  bool done = false;
  for (steps = 0; steps < kMostSteps && !done && !testing::Test::HasFatalFailure(); ++steps) {
    if (::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) break;
    if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) break;
    done = WSTOPSIG(status) == SIGSTOP;
    look();
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return done ? Stepped::kOk : Stepped::kFailed;
}

TEST(SingleStep, ASlotIsUncommittedOrWholeAfterEveryInstructionOfItsWriter) {
  const SlotWord leased{SlotState::kLeased, WorkerIndex{1}, Epoch{1}, Generation{2}};
  SlotWord earlier = leased;
  earlier.generation = Generation{1};
  const WorkId work{JobId{5}, 0, 2};
  const std::string payload(200, 'p');
  const std::uint64_t checksum = xxh3_64(bytes_of(payload));
  auto slot = SlotMemory::create("slot", payload.size(), SlotMemory::Pages::kNow);
  ASSERT_TRUE(slot);
  // An earlier lease left a whole, committed assignment of the same work: the hardest start.
  auto old_writer = SlotWriter::open(slot->writable, earlier);
  ASSERT_TRUE(old_writer);
  old_writer->begin(work, Digest{7}, AssignmentLayout::kDense);
  std::memset(old_writer->payload().data(), 'o', payload.size());
  ASSERT_TRUE(old_writer->commit(payload.size(), 1));

  auto writer = SlotWriter::open(slot->writable, leased);
  ASSERT_TRUE(writer);
  SlotExpectation expected;
  expected.work = work;
  expected.circuit = Digest{7};
  expected.generation = leased.generation;
  expected.producer = leased;

  std::size_t uncommitted = 0;
  std::size_t committed = 0;
  std::size_t steps = 0;
  const Stepped result = step_through(
      [&] {
        writer->begin(work, Digest{7}, AssignmentLayout::kDense);
        std::memcpy(writer->payload().data(), payload.data(), payload.size());
        (void)writer->commit(payload.size(), checksum);
      },
      [&] {
        if (!check_slot(slot->read_only, expected)) {
          ASSERT_EQ(committed, 0u) << "a commit was taken back";
          ++uncommitted;
          return;
        }
        ++committed;
        auto reader = SlotReader::open(slot->read_only, expected, SlotReader::Payload::kCheck);
        ASSERT_TRUE(reader) << reader.error().message();
        ASSERT_EQ(std::memcmp(reader->payload().data(), payload.data(), payload.size()), 0);
      },
      steps);
  if (result == Stepped::kNotPermitted) GTEST_SKIP() << "this system does not permit ptrace";
  ASSERT_EQ(result, Stepped::kOk);
  EXPECT_GT(uncommitted, 100u);
  EXPECT_GT(committed, 0u);
}

TEST(SingleStep, ARingHasNoneOrTheWholeMessageAfterEveryInstructionOfItsProducer) {
  RingMemory memory;
  RingProducer producer = memory.producer();
  const std::uint64_t kBefore = 3;
  for (std::uint64_t i = 0; i < kBefore; ++i) ASSERT_TRUE(producer.push(entry_of(i), bytes_of(body_of(i))));
  const std::string body = body_of(kBefore);

  std::size_t without = 0;
  std::size_t with = 0;
  std::size_t steps = 0;
  auto copy = std::make_unique<RingPage>();
  const Stepped result = step_through(
      [&] { (void)producer.push(entry_of(kBefore), bytes_of(body)); },
      [&] {
        // The consumer moves its counter and gives memory back; on a copy it disturbs nobody.
        std::memcpy(copy.get(), &memory.page(), sizeof *copy);
        RingConsumer consumer(*copy, {memory.bodies().memory, -1, 0}, "copy");
        std::uint64_t count = 0;
        while (true) {
          auto message = consumer.pop();
          ASSERT_TRUE(message) << message.error().message();
          if (!*message) break;
          ASSERT_NO_FATAL_FAILURE(expect_message(**message, count));
          ++count;
        }
        ASSERT_TRUE(count == kBefore || count == kBefore + 1) << count;
        if (count == kBefore) {
          ASSERT_EQ(with, 0u) << "a message was taken back";
          ++without;
        } else {
          ++with;
        }
      },
      steps);
  if (result == Stepped::kNotPermitted) GTEST_SKIP() << "this system does not permit ptrace";
  ASSERT_EQ(result, Stepped::kOk);
  EXPECT_GT(without, 20u);
  EXPECT_GT(with, 0u);
}

TEST(SingleStep, ARingGivesItsMessageOrKeepsItAfterEveryInstructionOfItsConsumer) {
  RingMemory memory;
  RingProducer producer = memory.producer();
  for (std::uint64_t i = 0; i < kRingEntries; ++i) {
    ASSERT_TRUE(producer.push(entry_of(i), bytes_of(body_of(i))));
  }
  RingConsumer consumer = memory.consumer();
  std::size_t full = 0;
  std::size_t one_free = 0;
  std::size_t steps = 0;
  const Stepped result = step_through(
      [&] { (void)consumer.pop(); },
      [&] {
        // The producer's copy of its own state makes a probe of it harmless.
        RingProducer probe = producer;
        auto free = probe.free_entries();
        ASSERT_TRUE(free) << free.error().message();
        ASSERT_LE(*free, 1u);
        *free == 0 ? ++full : ++one_free;
        ASSERT_TRUE(*free == 1 || one_free == 0) << "a read entry was taken back";
      },
      steps);
  if (result == Stepped::kNotPermitted) GTEST_SKIP() << "this system does not permit ptrace";
  ASSERT_EQ(result, Stepped::kOk);
  EXPECT_GT(full, 20u);
  EXPECT_GT(one_free, 0u);
}

}  // namespace
}  // namespace cuzk::shm
