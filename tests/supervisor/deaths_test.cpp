// kill -9 of any worker at any moment, through the whole supervisor: a correct answer, and nothing
// left.

#include "tests/supervisor/supervisor_fixture.hpp"

#include <csignal>

namespace cuzk::supervisor {
namespace {

class DeathsTest : public SupervisorTest {
 protected:
  // Lets the worker that takes `kind` die the first `times` times.
  void kill_at(CommandKind kind, int times) {
    workers.intercept = [kind, times, killed = 0](FakeWorker& worker,
                                                  const shm::Command& command) mutable {
      if (command.kind != kind || killed == times) return false;
      ++killed;
      worker.die({true, SIGKILL});
      return true;
    };
  }
  SubmitRequest large_submission() {
    auto request = submission("large");
    request.input_inline.clear();
    request.input_attached = true;
    return request;
  }
  std::optional<JobReport> run_large_job(RawClient& client) {
    const UniqueFd key = file("k.zkey", "a key");
    const UniqueFd input = file("big.wtns", std::string(400'000, 'w'));
    client.send(MessageType::kSubmit, large_submission(), 1, {key.get(), input.get()});
    // Dead workers come back after their delay.
    for (int i = 0; i < 40; ++i) pass(std::chrono::milliseconds(500));
    const auto accepted = reply_to<SubmitReply>(client, MessageType::kSubmit);
    if (!accepted) return std::nullopt;
    const auto report = await(client, std::to_string(accepted->job.value));
    for (int i = 0; i < 10; ++i) pass(std::chrono::milliseconds(500));
    return report;
  }
  void expect_nothing_left(RawClient& client) {
    const auto reply = status(client);
    ASSERT_TRUE(reply);
    for (const auto& slot : reply->slots) EXPECT_EQ(slot.state, "FREE");
    for (const auto& worker : reply->workers) EXPECT_EQ(worker.state, "ready") << worker.name;
    EXPECT_TRUE(reply->queue.empty());
    EXPECT_EQ(spooled(), 0U);
  }
};

TEST_F(DeathsTest, AWorkerThatDiesInAnyTaskCostsNoAnswer) {
  for (const auto kind :
       {CommandKind::kPrepareKey, CommandKind::kSpoolInput, CommandKind::kSynthesise,
        CommandKind::kProve, CommandKind::kVerify, CommandKind::kWipeSlot}) {
    SCOPED_TRACE(name_of(kind));
    folder_again();
    kill_at(kind, 2);
    start();
    RawClient client(config.daemon.socket);
    const auto report = run_large_job(client);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->state, JobState::kDone) << report->error.value_or(Error{}).message();
    expect_nothing_left(client);
    crash();
  }
}

TEST_F(DeathsTest, WorkThatKillsThreeWorkersFailsAsPoison) {
  for (const auto kind : {CommandKind::kPrepareKey, CommandKind::kSpoolInput,
                          CommandKind::kSynthesise, CommandKind::kProve, CommandKind::kVerify}) {
    SCOPED_TRACE(name_of(kind));
    folder_again();
    kill_at(kind, 3);
    start();
    RawClient client(config.daemon.socket);
    const UniqueFd key = file("k.zkey", "a key");
    const UniqueFd input = file("big.wtns", std::string(400'000, 'w'));
    client.send(MessageType::kSubmit, large_submission(), 1, {key.get(), input.get()});
    for (int i = 0; i < 40; ++i) pass(std::chrono::milliseconds(500));
    if (kind == CommandKind::kPrepareKey || kind == CommandKind::kSpoolInput) {
      const auto error = next_error(client);
      ASSERT_TRUE(error);
      EXPECT_EQ(error->error_class, ErrorClass::kPoisonJob);
    } else {
      ASSERT_TRUE(reply_to<SubmitReply>(client, MessageType::kSubmit));
      const auto report = await(client, "large");
      ASSERT_TRUE(report && report->error);
      EXPECT_EQ(report->error->error_class, ErrorClass::kPoisonJob);
    }
    for (int i = 0; i < 10; ++i) pass(std::chrono::milliseconds(500));
    expect_nothing_left(client);
    crash();
  }
}

TEST_F(DeathsTest, TheAnswerOfAWorkerThatDiedRightAfterwardsCounts) {
  workers.intercept = [this, once = false](FakeWorker& worker,
                                           const shm::Command& command) mutable {
    if (command.kind != CommandKind::kProve || once) return false;
    once = true;
    workers.answer(worker, command);
    worker.die({true, SIGKILL});
    return true;
  };
  start();
  RawClient client(config.daemon.socket);
  ASSERT_TRUE(submit(client, submission("once")));
  EXPECT_EQ(await(client, "once")->state, JobState::kDone);
  EXPECT_EQ(workers.commands[CommandKind::kProve], 1);
}

TEST_F(DeathsTest, AnIdleWorkerIsStartedAgainWithTheNextEpoch) {
  start();
  workers.find("gpu0")->die({true, SIGKILL});
  settle();
  RawClient client(config.daemon.socket);
  auto reply = status(client);
  EXPECT_EQ(reply->workers.at(2).state, "backing-off");
  EXPECT_NE(reply->workers.at(2).last_death.find("signal 9 (Killed)"), std::string::npos);
  pass(std::chrono::milliseconds(200));
  reply = status(client);
  EXPECT_EQ(reply->workers.at(2).state, "ready");
  EXPECT_EQ(reply->workers.at(2).epoch, 2U);
  EXPECT_EQ(reply->workers.at(2).restarts, 1U);
}

TEST_F(DeathsTest, DeathDuringStartUpBacksOffFurtherEachTime) {
  workers.on_start = [](FakeWorker& worker) {
    if (!worker.is_gpu()) return worker.say_ready();
    worker.print("cannot find the device\n");
    worker.die({false, 1});
  };
  start();
  EXPECT_EQ(workers.started("gpu0"), 1U);
  pass(std::chrono::milliseconds(200));
  EXPECT_EQ(workers.started("gpu0"), 2U);
  pass(std::chrono::milliseconds(200));
  EXPECT_EQ(workers.started("gpu0"), 2U);
  pass(std::chrono::milliseconds(200));
  EXPECT_EQ(workers.started("gpu0"), 3U);
  // Submissions are taken all the same and wait.
  RawClient client(config.daemon.socket);
  ASSERT_TRUE(submit(client, submission("waits")));
  workers.on_start = [](FakeWorker& worker) { worker.say_ready(); };
  pass(std::chrono::seconds(1));
  EXPECT_EQ(await(client, "waits")->state, JobState::kDone);
}

TEST_F(DeathsTest, AProgramThatCannotBeStartedIsTriedAgain) {
  workers.refuse_start = Error{ErrorClass::kRetryHere, "execve: Text file busy", {}, {}};
  start();
  RawClient client(config.daemon.socket);
  EXPECT_EQ(status(client)->workers.at(0).state, "backing-off");
  workers.refuse_start.reset();
  pass(std::chrono::milliseconds(200));
  EXPECT_EQ(status(client)->workers.at(0).state, "ready");
}

TEST_F(DeathsTest, AWorkerThatDoesNotBecomeReadyIsKilled) {
  workers.on_start = [](FakeWorker& worker) {
    if (!worker.is_gpu()) worker.say_ready();
  };
  start();
  pass(std::chrono::seconds(59));
  EXPECT_TRUE(workers.find("gpu0")->signals.empty());
  workers.on_start = [](FakeWorker& worker) { worker.say_ready(); };
  pass(std::chrono::seconds(1));
  pass(std::chrono::seconds(1));
  EXPECT_EQ(workers.started("gpu0"), 2U);
}

TEST_F(DeathsTest, AWorkerThatLiesIsKilledAndItsTaskDoneElsewhere) {
  using Lie = std::function<void(FakeWorker&, const shm::Command&)>;
  const std::vector<Lie> lies = {
      [](FakeWorker& worker, const shm::Command&) { worker.done(TaskId{12345}, {}); },
      [](FakeWorker& worker, const shm::Command&) { worker.say_ready(); },
      [](FakeWorker& worker, const shm::Command&) {
        worker.say(static_cast<EventKind>(77), TaskId{1}, {});
      },
      [](FakeWorker& worker, const shm::Command& command) {
        worker.say(EventKind::kProgress, command.task, "no progress message");
      }};
  for (const Lie& lie : lies) {
    folder_again();
    bool lied = false;
    workers.intercept = [&](FakeWorker& worker, const shm::Command& command) {
      if (command.kind != CommandKind::kSynthesise || lied) return false;
      lied = true;
      lie(worker, command);
      return true;
    };
    start();
    RawClient client(config.daemon.socket);
    ASSERT_TRUE(submit(client, submission("x")));
    pass(std::chrono::seconds(1));
    EXPECT_EQ(await(client, "x")->state, JobState::kDone);
    crash();
  }
}

TEST_F(DeathsTest, ShutdownKillsWhoDoesNotStop) {
  start();
  for (const char* name : {"synth0", "synth1", "gpu0"}) workers.find(name)->obeys_sigterm = false;
  workers.intercept = [](FakeWorker&, const shm::Command& command) {
    return command.kind == CommandKind::kShutdown;
  };
  supervisor->shut_down();
  settle();
  EXPECT_FALSE(supervisor->finished());
  pass(config.supervision.stop_patience);
  settle();
  EXPECT_TRUE(supervisor->finished());
}

TEST_F(DeathsTest, AnInvalidProofIsMadeAgainAndThenBlamedOnTheWitness) {
  workers.proofs_are_valid = false;
  start();
  RawClient client(config.daemon.socket);
  ASSERT_TRUE(submit(client, submission("wrong")));
  const auto report = await(client, "wrong");
  ASSERT_TRUE(report && report->error);
  EXPECT_EQ(report->state, JobState::kFailed);
  EXPECT_NE(report->error->what.find("does not satisfy"), std::string::npos);
  EXPECT_TRUE(report->proof.empty());
  EXPECT_EQ(workers.commands[CommandKind::kProve], 2);
  expect_nothing_left(client);
}

}  // namespace
}  // namespace cuzk::supervisor
