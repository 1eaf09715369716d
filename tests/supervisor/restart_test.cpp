// The supervisor itself dies at any moment and is started again: accepted means accepted.

#include "tests/supervisor/supervisor_fixture.hpp"

#include <csignal>

#include <sys/resource.h>

namespace cuzk::supervisor {
namespace {

class RestartTest : public SupervisorTest {
 protected:
  void hold(CommandKind kind) {
    workers.intercept = [kind](FakeWorker&, const shm::Command& command) {
      return command.kind == kind;
    };
  }
  void let_go() { workers.intercept = {}; }
};

TEST_F(RestartTest, AnAcceptedJobIsFinishedWhereverItStood) {
  for (const auto kind : {CommandKind::kSynthesise, CommandKind::kProve, CommandKind::kVerify}) {
    SCOPED_TRACE(name_of(kind));
    folder_again();
    hold(kind);
    start();
    {
      RawClient client(config.daemon.socket);
      ASSERT_TRUE(submit(client, submission("survives")));
      settle();
    }
    crash();
    let_go();
    start();
    RawClient client(config.daemon.socket);
    const auto report = await(client, "survives");
    ASSERT_TRUE(report);
    EXPECT_EQ(report->state, JobState::kDone);
    crash();
  }
}

TEST_F(RestartTest, ALargeInputIsStillThere) {
  hold(CommandKind::kProve);
  start();
  {
    RawClient client(config.daemon.socket);
    const UniqueFd key = file("k.zkey", "a key");
    const UniqueFd input = file("big.wtns", std::string(400'000, 'w'));
    auto request = submission("large");
    request.input_inline.clear();
    request.input_attached = true;
    client.send(MessageType::kSubmit, request, 1, {key.get(), input.get()});
    ASSERT_TRUE(reply_to<SubmitReply>(client, MessageType::kSubmit));
  }
  crash();
  std::ofstream(state() / "spool" / "999") << "orphan";
  let_go();
  start();
  EXPECT_FALSE(std::filesystem::exists(state() / "spool" / "999"));
  RawClient client(config.daemon.socket);
  EXPECT_EQ(await(client, "large")->state, JobState::kDone);
  EXPECT_EQ(spooled(), 0U);
}

TEST_F(RestartTest, TheSameRequestIdFindsTheSameAnswerAfterwards) {
  start();
  JobReport before;
  {
    RawClient client(config.daemon.socket);
    ASSERT_TRUE(submit(client, submission("idempotent")));
    const auto report = await(client, "idempotent");
    ASSERT_TRUE(report);
    before = *report;
  }
  crash();
  start();
  RawClient client(config.daemon.socket);
  const auto again = submit(client, submission("idempotent"));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->existed);
  EXPECT_EQ(again->job, before.job);
  EXPECT_EQ(again->state, JobState::kDone);
  EXPECT_EQ(await(client, "idempotent")->proof, before.proof);
  EXPECT_EQ(workers.commands[CommandKind::kProve], 1);
}

TEST_F(RestartTest, ACancelledJobStaysCancelled) {
  hold(CommandKind::kProve);
  start();
  {
    RawClient client(config.daemon.socket);
    ASSERT_TRUE(submit(client, submission("cancelled")));
    client.send(MessageType::kCancel, CancelRequest{"cancelled"});
    ASSERT_TRUE(reply_to<CancelReply>(client, MessageType::kCancel));
  }
  crash();
  let_go();
  start();
  RawClient client(config.daemon.socket);
  EXPECT_EQ(await(client, "cancelled")->state, JobState::kCancelled);
}

TEST_F(RestartTest, AJobWhosePreparedKeyIsGoneFailsAndSaysWhatToDo) {
  hold(CommandKind::kProve);
  start();
  {
    RawClient client(config.daemon.socket);
    ASSERT_TRUE(submit(client, submission("keyless")));
  }
  crash();
  for (const auto& entry : std::filesystem::directory_iterator(state() / "keys")) {
    std::filesystem::remove(entry.path());
  }
  let_go();
  start();
  RawClient client(config.daemon.socket);
  const auto report = await(client, "keyless");
  ASSERT_TRUE(report && report->error);
  EXPECT_EQ(report->state, JobState::kFailed);
  EXPECT_NE(report->error->hint.find("submit its key file"), std::string::npos);
}

TEST_F(RestartTest, CircuitsAndKeysAreKnownAfterwards) {
  start();
  {
    RawClient client(config.daemon.socket);
    const UniqueFd key = file("k.zkey", "a key");
    CircuitAddRequest request;
    request.name = "kept";
    client.send(MessageType::kCircuitAdd, request, 1, {key.get()});
    ASSERT_TRUE(reply_to<CircuitInfo>(client, MessageType::kCircuitAdd));
  }
  crash();
  std::filesystem::create_directories(state() / "circuits" / "half-made.5");
  start();
  EXPECT_FALSE(std::filesystem::exists(state() / "circuits" / "half-made.5"));
  RawClient client(config.daemon.socket);
  SubmitRequest job;
  job.circuit_name = "kept";
  job.input_inline = "witness";
  client.send(MessageType::kSubmit, job);
  const auto accepted = reply_to<SubmitReply>(client, MessageType::kSubmit);
  ASSERT_TRUE(accepted);
  EXPECT_EQ(await(client, std::to_string(accepted->job.value))->state, JobState::kDone);
}

TEST_F(RestartTest, WhatWasNotCommittedWasNotPromised) {
  start();
  RawClient client(config.daemon.socket);
  ASSERT_TRUE(submit(client, submission("first")));
  // The journal's folder becomes unwritable in the way that a full disk does: SQLite cannot grow
  // its log.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit none = before;
  none.rlim_cur = 1;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const UniqueFd key(::open((folder.path() / "k.zkey").c_str(), O_RDONLY | O_CLOEXEC));
  client.send(MessageType::kSubmit, submission("second"), 1, {key.get()});
  settle();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  client.receive();
  for (const Frame& frame : client.frames) EXPECT_NE(frame.type, MessageType::kSubmit);
  crash();
  start();
  RawClient later(config.daemon.socket);
  EXPECT_EQ(await(later, "first")->state, JobState::kDone);
}

}  // namespace
}  // namespace cuzk::supervisor
