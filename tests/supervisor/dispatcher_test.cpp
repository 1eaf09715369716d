#include <gtest/gtest.h>

#include <set>

#include "tests/supervisor/fake_port.hpp"

namespace cuzk::supervisor {
namespace {

constexpr WorkerLife kSynth0{WorkerIndex{0}, Epoch{1}};
constexpr WorkerLife kSynth1{WorkerIndex{1}, Epoch{1}};
constexpr WorkerLife kGpu0{WorkerIndex{2}, Epoch{1}};
constexpr WorkerLife kGpu1{WorkerIndex{3}, Epoch{1}};

class DispatcherTest : public ::testing::Test {
 protected:
  TaskRequest request(CommandKind kind, std::int64_t order = 0) {
    TaskRequest task;
    task.kind = kind;
    task.order = order;
    task.build = [](WorkerLife) -> Result<std::optional<Command>> {
      return std::optional<Command>(Command{});
    };
    task.ended = [this](Outcome outcome) { outcomes.push_back(std::move(outcome)); };
    return task;
  }
  TaskId submit(CommandKind kind, std::int64_t order = 0) {
    return dispatcher.submit(request(kind, order));
  }
  void two_synths() {
    dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
    dispatcher.worker_ready(kSynth1, WorkerRole::kSynth, 1);
  }

  FakePort port;
  Dispatcher dispatcher{port};
  std::vector<Outcome> outcomes;
};

TEST_F(DispatcherTest, NothingIsSentBeforeAWorkerIsReady) {
  submit(CommandKind::kVerify);
  dispatcher.dispatch();
  EXPECT_TRUE(port.sent.empty());
  dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
  dispatcher.dispatch();
  ASSERT_EQ(port.sent.size(), 1U);
  EXPECT_EQ(port.sent[0].life, kSynth0);
}

TEST_F(DispatcherTest, ASynthWorkerHasOneTaskAndADeviceTwo) {
  dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
  dispatcher.worker_ready(kGpu0, WorkerRole::kGpu, 2);
  for (int i = 0; i < 3; ++i) submit(CommandKind::kSynthesise);
  for (int i = 0; i < 4; ++i) submit(CommandKind::kProve);
  dispatcher.dispatch();
  EXPECT_EQ(port.count(CommandKind::kSynthesise), 1U);
  EXPECT_EQ(port.count(CommandKind::kProve), 2U);
}

TEST_F(DispatcherTest, TheSmallestOrderGoesFirst) {
  dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
  submit(CommandKind::kSynthesise, 30);
  const TaskId first = submit(CommandKind::kSynthesise, 10);
  submit(CommandKind::kSynthesise, 20);
  dispatcher.dispatch();
  EXPECT_EQ(port.sent.at(0).task, first);
}

TEST_F(DispatcherTest, WhatFinishesAJobGoesBeforeWhatBeginsOne) {
  dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
  submit(CommandKind::kSynthesise, -1'000'000);
  submit(CommandKind::kWipeSlot, 5);
  submit(CommandKind::kVerify, 10);
  std::vector<CommandKind> order;
  for (int i = 0; i < 3; ++i) {
    dispatcher.dispatch();
    order.push_back(port.sent.back().kind);
    EXPECT_TRUE(dispatcher.task_ended(kSynth0, port.sent.back().task, Ending::kDone, {}, {}));
  }
  EXPECT_EQ(order,
            (std::vector{CommandKind::kVerify, CommandKind::kWipeSlot, CommandKind::kSynthesise}));
}

TEST_F(DispatcherTest, LongTasksLeaveOneOfTwoSynthWorkersToOthers) {
  two_synths();
  for (int i = 0; i < 2; ++i) {
    auto task = request(CommandKind::kPrepareKey);
    task.long_running = true;
    dispatcher.submit(std::move(task));
  }
  dispatcher.dispatch();
  EXPECT_EQ(port.count(CommandKind::kPrepareKey), 1U);
  submit(CommandKind::kVerify);
  dispatcher.dispatch();
  EXPECT_EQ(port.count(CommandKind::kVerify), 1U);
}

TEST_F(DispatcherTest, ALoneSynthWorkerTakesLongTasksToo) {
  dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
  auto task = request(CommandKind::kPrepareKey);
  task.long_running = true;
  dispatcher.submit(std::move(task));
  dispatcher.dispatch();
  EXPECT_EQ(port.sent.size(), 1U);
}

TEST_F(DispatcherTest, ATaskThatCannotStartHoldsItsKindBackAndNoOther) {
  two_synths();
  bool room = false;
  auto blocked = request(CommandKind::kSynthesise, 1);
  blocked.build = [&room](WorkerLife) -> Result<std::optional<Command>> {
    return room ? std::optional<Command>(Command{}) : std::nullopt;
  };
  const TaskId first = dispatcher.submit(std::move(blocked));
  submit(CommandKind::kSynthesise, 2);
  submit(CommandKind::kExplain, 3);
  dispatcher.dispatch();
  EXPECT_EQ(port.count(CommandKind::kSynthesise), 0U);
  EXPECT_EQ(port.count(CommandKind::kExplain), 1U);
  room = true;
  dispatcher.dispatch();
  EXPECT_EQ(port.last(CommandKind::kSynthesise).task, first);
}

TEST_F(DispatcherTest, ABuildErrorEndsTheTask) {
  dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
  auto broken = request(CommandKind::kSynthesise);
  broken.build = [](WorkerLife) -> Result<std::optional<Command>> {
    return bad_request("no such input");
  };
  dispatcher.submit(std::move(broken));
  dispatcher.dispatch();
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].ending, Ending::kFailed);
  EXPECT_EQ(outcomes[0].error.what, "no such input");
  EXPECT_TRUE(dispatcher.idle());
}

TEST_F(DispatcherTest, DeathEndsAllTasksOfTheWorkerAndBlamesTheFirst) {
  dispatcher.worker_ready(kGpu0, WorkerRole::kGpu, 2);
  submit(CommandKind::kProve, 1);
  submit(CommandKind::kProve, 2);
  dispatcher.dispatch();
  dispatcher.worker_died(kGpu0, Error{ErrorClass::kRetryElsewhere, "signal 9 (Killed)", {}, {}});
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].ending, Ending::kDied);
  EXPECT_TRUE(outcomes[0].blamed);
  EXPECT_FALSE(outcomes[1].blamed);
  EXPECT_TRUE(dispatcher.idle());
}

TEST_F(DispatcherTest, WhatADeadLifeSaysIsNotHeard) {
  dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
  const TaskId task = submit(CommandKind::kVerify);
  dispatcher.dispatch();
  dispatcher.worker_died(kSynth0, bug("gone"));
  dispatcher.worker_ready({WorkerIndex{0}, Epoch{2}}, WorkerRole::kSynth, 1);
  EXPECT_FALSE(dispatcher.task_ended(kSynth0, task, Ending::kDone, {}, {}));
  EXPECT_EQ(outcomes.size(), 1U);
}

TEST_F(DispatcherTest, AnAnswerToATaskThatItDoesNotHaveIsALie) {
  two_synths();
  const TaskId task = submit(CommandKind::kVerify);
  dispatcher.dispatch();
  const WorkerLife other = port.sent[0].life == kSynth0 ? kSynth1 : kSynth0;
  EXPECT_FALSE(dispatcher.task_ended(other, task, Ending::kDone, {}, {}));
  EXPECT_FALSE(dispatcher.task_ended(port.sent[0].life, TaskId{999}, Ending::kDone, {}, {}));
  EXPECT_TRUE(outcomes.empty());
}

TEST_F(DispatcherTest, StoppingAQueuedTaskForgetsIt) {
  const TaskId task = submit(CommandKind::kSynthesise);
  EXPECT_EQ(dispatcher.stop(task), Dispatcher::StopResult::kWithdrawn);
  EXPECT_EQ(dispatcher.stop(task), Dispatcher::StopResult::kUnknown);
  dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
  dispatcher.dispatch();
  EXPECT_TRUE(port.sent.empty());
  EXPECT_TRUE(outcomes.empty());
}

TEST_F(DispatcherTest, StoppingARunningTaskAsksAndStillHearsItsAnswer) {
  dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
  const TaskId task = submit(CommandKind::kSynthesise);
  dispatcher.dispatch();
  EXPECT_EQ(dispatcher.stop(task), Dispatcher::StopResult::kStopping);
  EXPECT_EQ(port.cancelled, std::vector{task});
  EXPECT_TRUE(dispatcher.task_ended(kSynth0, task, Ending::kFailed, {},
                                    Error{ErrorClass::kOperator, "cancelled", {}, {}}));
  EXPECT_EQ(outcomes.size(), 1U);
}

TEST_F(DispatcherTest, AnAvoidedWorkerIsUsedOnlyWhenItIsTheLastOne) {
  two_synths();
  auto task = request(CommandKind::kVerify);
  task.avoid = WorkerIndex{0};
  dispatcher.submit(std::move(task));
  dispatcher.dispatch();
  EXPECT_EQ(port.sent.at(0).life, kSynth1);
  // The other one is busy, not gone: the task waits for it.
  task = request(CommandKind::kVerify);
  task.avoid = WorkerIndex{0};
  dispatcher.submit(std::move(task));
  dispatcher.dispatch();
  EXPECT_EQ(port.sent.size(), 1U);
  dispatcher.worker_died(kSynth1, bug("gone"));
  dispatcher.dispatch();
  ASSERT_EQ(port.sent.size(), 2U);
  EXPECT_EQ(port.sent[1].life, kSynth0);
}

TEST_F(DispatcherTest, ADeviceThatHasTheKeyIsPreferred) {
  dispatcher.worker_ready(kGpu0, WorkerRole::kGpu, 2);
  dispatcher.worker_ready(kGpu1, WorkerRole::kGpu, 2);
  auto with_key = [this](std::uint64_t key) {
    auto task = request(CommandKind::kProve);
    task.affinity = key;
    dispatcher.submit(std::move(task));
    dispatcher.dispatch();
    return std::pair(port.sent.back().life, port.sent.back().task);
  };
  const auto a = with_key(7);
  const auto b = with_key(9);
  EXPECT_NE(a.first, b.first);
  EXPECT_TRUE(dispatcher.task_ended(a.first, a.second, Ending::kDone, {}, {}));
  EXPECT_TRUE(dispatcher.task_ended(b.first, b.second, Ending::kDone, {}, {}));
  EXPECT_EQ(with_key(9).first, b.first);
}

TEST_F(DispatcherTest, ADrainingWorkerGetsNothingNew) {
  dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
  dispatcher.worker_draining(WorkerIndex{0});
  submit(CommandKind::kVerify);
  dispatcher.dispatch();
  EXPECT_TRUE(port.sent.empty());
}

TEST_F(DispatcherTest, AWorkerThatTakesNoCommandLosesTheTaskWithoutBlame) {
  two_synths();
  port.refuse = WorkerIndex{0};
  int deaths = 0;
  auto task = request(CommandKind::kVerify);
  task.ended = [&](const Outcome& outcome) {
    deaths += static_cast<int>(outcome.ending == Ending::kDied && !outcome.blamed);
    submit(CommandKind::kVerify);
  };
  dispatcher.submit(std::move(task));
  dispatcher.dispatch();
  EXPECT_EQ(deaths, 1);
  ASSERT_EQ(port.sent.size(), 1U);
  EXPECT_EQ(port.sent[0].life, kSynth1);
}

TEST(VirtualStart, APriorityMovesAheadByTimeAndSoStarvesNobody) {
  // A low request that has waited for longer than the head start of a high one goes first.
  const std::int64_t low = 0 - head_start_ms(1);
  const std::int64_t high_soon = 1'000 - head_start_ms(3);
  const std::int64_t high_late = 1'000'000 - head_start_ms(3);
  EXPECT_LT(high_soon, low);
  EXPECT_LT(low, high_late);
}

}  // namespace
}  // namespace cuzk::supervisor
