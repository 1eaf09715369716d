// A worker process from its start to its polite end, driven as the supervisor drives it.
#include "common/worker/runtime.hpp"

#include <gtest/gtest.h>

#include "shm/slot.hpp"
#include "shm/slot_table.hpp"
#include "tests/common/worker/subject.hpp"

namespace cuzk {
namespace {

using shm::kFreshSlot;

class RuntimeTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(subject_.wait_ready()); }
  void push(CommandKind kind, std::uint64_t task, std::string_view body = {},
            std::span<const shm::LabelledFd> fds = {}) {
    const Status pushed =
        subject_.channel().push_command(kind, TaskId{task}, SlotIndex{0}, kFreshSlot, body, fds);
    ASSERT_TRUE(pushed) << pushed.error().message();
  }
  void expect_polite_end() {
    const int status = subject_.wait_end();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  Subject subject_;
};

TEST_F(RuntimeTest, CommandsAreAnsweredInOrderWithTheirBodies) {
  for (std::uint64_t i = 1; i <= 20; ++i) push(CommandKind::kVerify, i, std::string(i * 1000, 'e'));
  for (std::uint64_t i = 1; i <= 20; ++i) {
    const auto event = subject_.next_answer();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, EventKind::kDone);
    EXPECT_EQ(event->task, TaskId{i});
    EXPECT_EQ(event->body, std::string(i * 1000, 'e'));
  }
  ASSERT_TRUE(subject_.channel().push_shutdown());
  expect_polite_end();
}

TEST_F(RuntimeTest, AnAssignmentGoesThroughASlotFromWorkerToWorker) {
  std::array<shm::SharedWord, 1> words{};
  shm::SlotTable table = shm::SlotTable::format(words);
  auto slot = shm::SlotMemory::create("slot", 8192, shm::SlotMemory::Pages::kOnDemand);
  ASSERT_TRUE(slot);
  auto word = table.lease(SlotIndex{0}, WorkerIndex{1}, Epoch{7});
  ASSERT_TRUE(word);
  SynthesiseCommand synthesise;
  synthesise.work = {JobId{3}, 0, 1};
  synthesise.circuit = Digest{4};
  synthesise.slot_bytes = 6400;
  const shm::LabelledFd writable{slot->writable.get(), FdRole::kSlotWritable};
  ASSERT_TRUE(subject_.channel().push(CommandKind::kSynthesise, TaskId{1}, SlotIndex{0}, *word,
                                      synthesise, {&writable, 1}));
  auto event = subject_.next_answer();
  ASSERT_TRUE(event && event->kind == EventKind::kDone);
  auto result = event->as<SynthesiseResult>();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->payload_bytes, 6400u);
  word = table.commit(SlotIndex{0}, *word);
  ASSERT_TRUE(word);
  word = table.bind(SlotIndex{0}, *word, WorkerIndex{1}, Epoch{7});
  ASSERT_TRUE(word);
  ProveCommand prove{synthesise.work, synthesise.circuit, "", result->layout, result->payload_bytes,
                     result->payload_checksum};
  const shm::LabelledFd read_only{slot->read_only.get(), FdRole::kSlotReadOnly};
  ASSERT_TRUE(subject_.channel().push(CommandKind::kProve, TaskId{2}, SlotIndex{0}, *word, prove,
                                      {&read_only, 1}));
  event = subject_.next_answer();
  ASSERT_TRUE(event && event->kind == EventKind::kDone) << event->failure().message();
  // The same with the wrong attempt is refused by the reader.
  prove.work.attempt = 2;
  ASSERT_TRUE(subject_.channel().push(CommandKind::kProve, TaskId{3}, SlotIndex{0}, *word, prove,
                                      {&read_only, 1}));
  event = subject_.next_answer();
  ASSERT_TRUE(event && event->kind == EventKind::kFailed);
  EXPECT_NE(event->failure().message().find("attempt"), std::string::npos);
}

TEST_F(RuntimeTest, DescriptorsOfWaitingCommandsDoNotMixAndUntakenOnesAreClosed) {
  auto slot = shm::SlotMemory::create("slot", 4096, shm::SlotMemory::Pages::kOnDemand);
  ASSERT_TRUE(slot);
  const shm::LabelledFd wrong_role{slot->read_only.get(), FdRole::kSource};
  SynthesiseCommand synthesise;
  synthesise.slot_bytes = 32;
  const shm::SlotWord leased{shm::SlotState::kLeased, WorkerIndex{1}, Epoch{7}, Generation{1}};
  // Task 1 brings none under the role, task 2 does; task 1 must not get task 2's.
  const shm::LabelledFd right_role{slot->writable.get(), FdRole::kSlotWritable};
  ASSERT_TRUE(subject_.channel().push(CommandKind::kSynthesise, TaskId{1}, SlotIndex{0}, leased,
                                      synthesise, {&wrong_role, 1}));
  ASSERT_TRUE(subject_.channel().push(CommandKind::kSynthesise, TaskId{2}, SlotIndex{0}, leased,
                                      synthesise, {&right_role, 1}));
  auto event = subject_.next_answer();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, EventKind::kFailed);
  EXPECT_EQ(event->failure().error_class, ErrorClass::kBug);
  event = subject_.next_answer();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, EventKind::kDone);
  // Hundreds of untaken descriptors later the worker has not run out of them.
  for (std::uint64_t i = 10; i < 2000; ++i) {
    push(CommandKind::kVerify, i, "x", {&wrong_role, 1});
    event = subject_.next_answer();
    ASSERT_TRUE(event && event->kind == EventKind::kDone);
  }
}

TEST_F(RuntimeTest, ACommandWithoutAnAnswerFailsAsABug) {
  push(CommandKind::kPrepareKey, 5);
  const auto event = subject_.next_answer();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, EventKind::kFailed);
  EXPECT_EQ(event->task, TaskId{5});
  EXPECT_EQ(event->failure().error_class, ErrorClass::kBug);
}

TEST_F(RuntimeTest, ASilentCommandHasNoEvent) {
  push(CommandKind::kDropKey, 5);
  push(CommandKind::kVerify, 6, "next");
  const auto event = subject_.next_answer();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->task, TaskId{6});
}

TEST_F(RuntimeTest, AnAnswerThatIsTooLargeFailsAsABug) {
  push(CommandKind::kAddCircuit, 5);
  const auto event = subject_.next_answer();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, EventKind::kFailed);
  EXPECT_EQ(event->failure().error_class, ErrorClass::kBug);
}

TEST_F(RuntimeTest, MuchProgressIsDroppedAndTheAnswerStillComes) {
  push(CommandKind::kSpoolInput, 5);
  ASSERT_TRUE(wait_readable(subject_.channel().event_fd()));
  std::size_t seen = 0;
  std::optional<shm::Event> event;
  while ((event = subject_.next_event()) && event->kind == EventKind::kProgress) {
    auto progress = event->as<TaskProgress>();
    ASSERT_TRUE(progress);
    ++seen;
  }
  ASSERT_TRUE(event);
  EXPECT_EQ(event->body, "after much progress");
  EXPECT_GT(seen, 0u);
  EXPECT_EQ(subject_.channel().progress(), 1000u) << "the watch-dog's counter has all of it";
  EXPECT_EQ(subject_.channel().marks().back().step, "step 999");
}

TEST_F(RuntimeTest, ASlowSupervisorLosesNoAnswer) {
  // Far more answers than the event ring holds, and nobody reads them until all commands are pushed.
  std::uint64_t pushed = 0;
  std::uint64_t read = 0;
  while (pushed < 200) {
    const Status status = subject_.channel().push_command(CommandKind::kVerify, TaskId{pushed + 1},
                                                          SlotIndex{0}, kFreshSlot, "x");
    if (status) {
      ++pushed;
      continue;
    }
    ASSERT_EQ(status.error().error_class, ErrorClass::kBusy);
    const auto event = subject_.next_answer();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->task, TaskId{++read});
  }
  while (read < pushed) {
    const auto event = subject_.next_answer();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->task, TaskId{++read});
  }
}

TEST_F(RuntimeTest, ACancelledTaskEndsSoonAndTheNextOneRuns) {
  push(CommandKind::kExplain, 5);
  push(CommandKind::kExplain, 6);
  const auto progress = subject_.next_event();
  ASSERT_TRUE(progress && progress->kind == EventKind::kProgress);
  EXPECT_EQ(subject_.channel().current_task(), TaskId{5});
  subject_.channel().cancel(TaskId{6});
  subject_.channel().cancel(TaskId{5});
  for (const std::uint64_t task : {5u, 6u}) {
    const auto event = subject_.next_answer();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, EventKind::kFailed);
    EXPECT_EQ(event->task, TaskId{task});
    EXPECT_EQ(event->failure().error_class, ErrorClass::kOperator);
  }
  push(CommandKind::kVerify, 7, "alive");
  const auto event = subject_.next_answer();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->body, "alive");
}

TEST_F(RuntimeTest, SigtermEndsAnIdleWorker) {
  ASSERT_EQ(::kill(subject_.pid(), SIGTERM), 0);
  expect_polite_end();
}

TEST_F(RuntimeTest, SigtermLetsTheRunningTaskFinishAndStartsNoOther) {
  push(CommandKind::kExplain, 5);
  push(CommandKind::kVerify, 6, "never run");
  ASSERT_TRUE(subject_.next_event());  // task 5 runs
  ASSERT_EQ(::kill(subject_.pid(), SIGTERM), 0);
  subject_.channel().cancel(TaskId{5});
  const auto event = subject_.next_answer();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->task, TaskId{5});
  expect_polite_end();
  auto after = subject_.channel().pop_event();
  ASSERT_TRUE(after);
  EXPECT_FALSE(*after);
}

TEST_F(RuntimeTest, ATerminalsInterruptIsTheSupervisorsBusiness) {
  ASSERT_EQ(::kill(subject_.pid(), SIGINT), 0);
  push(CommandKind::kVerify, 1, "alive");
  const auto event = subject_.next_answer();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->body, "alive");
}

TEST_F(RuntimeTest, AnIdleWorkerUsesNoCpu) {
  const auto cpu_ticks = [&] {
    FILE* file = std::fopen(fmt::format("/proc/{}/stat", subject_.pid()).c_str(), "r");
    unsigned long user = 0;
    unsigned long system = 0;
    EXPECT_EQ(std::fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                          &system),
              2);
    std::fclose(file);
    return user + system;
  };
  const unsigned long before = cpu_ticks();
  EXPECT_FALSE(wait_readable(subject_.channel().event_fd(), 300));
  EXPECT_LE(cpu_ticks() - before, 1u) << "next() is busy-waiting";
}

}  // namespace
}  // namespace cuzk
