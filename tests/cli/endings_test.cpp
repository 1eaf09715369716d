// How prove and await end when the job, the daemon, the time or the user ends it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <pthread.h>
#include <unistd.h>

#include "tests/cli/jobs_of_tests.hpp"

namespace cuzk::cli {
namespace {

using test::FakeConnection;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Endings : public ProveCommand {};

TEST_F(Endings, ABusyDaemonIsExitCode4) {
  const Outcome outcome = ctl_with(
      [](FakeConnection& connection) {
        if (!connection.next<SubmitRequest>(MessageType::kSubmit)) return;
        connection.error({ErrorClass::kBusy, "10000 jobs are waiting", "queue", "try again later"});
      },
      command_);
  EXPECT_EQ(outcome.exit_code, kBusy);
  EXPECT_EQ(outcome.err, "cuzkctl: queue: 10000 jobs are waiting (try again later)\n");
}

TEST_F(Endings, AnInputThatIsRefusedBeforeProvingIsExitCode2) {
  const auto report =
      failed_report(bad_request("value 3 is not below r", "w.wtns, offset 0x6c"), "");
  const Outcome outcome = ctl_with(daemon_that_answers(report), command_);
  EXPECT_EQ(outcome.exit_code, kUsage);
  EXPECT_EQ(outcome.err, "cuzkctl: job 17 failed: w.wtns, offset 0x6c: value 3 is not below r\n");
  EXPECT_THAT(outcome.out, IsEmpty());
}

TEST_F(Endings, AProofThatFailsIsExitCode1) {
  const auto report =
      failed_report(bad_request("the witness does not satisfy the circuit: constraint 999"), "cpu");
  const Outcome outcome =
      ctl_with(daemon_that_answers(report), with({"--proof", folder_.file("proof.json")}));
  EXPECT_EQ(outcome.exit_code, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("constraint 999"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("proof.json")));
  for (const ErrorClass error_class :
       {ErrorClass::kPoisonJob, ErrorClass::kBug, ErrorClass::kDeviceFault}) {
    EXPECT_EQ(
        ctl_with(daemon_that_answers(failed_report({error_class, "trouble", {}, {}}, "")), command_)
            .exit_code,
        kFailed);
  }
}

TEST_F(Endings, AFailedJobIsJsonToo) {
  const auto report = failed_report(bad_request("no", "here", "do this"), "");
  const Outcome outcome = ctl_with(daemon_that_answers(report), with({"--json"}));
  const auto json = outcome.json();
  EXPECT_EQ(json["state"], "failed");
  EXPECT_EQ(json["error"]["class"], "bad_request");
  EXPECT_EQ(json["error"]["hint"], "do this");
  EXPECT_EQ(json["error"]["message"], "here: no (do this)");
  EXPECT_FALSE(json.contains("proof"));
  EXPECT_THAT(outcome.err, HasSubstr("job 17 failed"));
}

TEST_F(Endings, ACancelledJobIsExitCode1) {
  JobReport report = failed_report({ErrorClass::kOperator, "the job was cancelled", {}, {}}, "");
  report.state = JobState::kCancelled;
  const Outcome outcome = ctl_with(daemon_that_answers(report), command_);
  EXPECT_EQ(outcome.exit_code, kFailed);
  EXPECT_EQ(outcome.err, "cuzkctl: job 17 cancelled: the job was cancelled\n");
}

TEST_F(Endings, ADaemonThatGoesDuringTheWaitIsExitCode3AndSaysHowToGoOn) {
  const Outcome outcome = ctl_with(
      [](FakeConnection& connection) {
        if (!connection.next<SubmitRequest>(MessageType::kSubmit)) return;
        connection.send(MessageType::kSubmit, SubmitReply{JobId{17}, JobState::kAccepted, false});
        connection.next<AwaitRequest>(MessageType::kAwait);
      },
      command_);
  EXPECT_EQ(outcome.exit_code, kNoDaemon);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("the daemon closed the connection"), HasSubstr("cuzkctl await 17")));
}

TEST_F(Endings, ATimeOutIsExitCode4WhoeverNoticesItFirst) {
  std::uint64_t asked = 0;
  const auto accept = [&](FakeConnection& connection) {
    if (!connection.next<SubmitRequest>(MessageType::kSubmit)) return false;
    connection.send(MessageType::kSubmit, SubmitReply{JobId{17}, JobState::kAccepted, false});
    const auto request = connection.next<AwaitRequest>(MessageType::kAwait);
    if (request) asked = request->timeout_ms;
    return request.has_value();
  };
  const Outcome by_daemon = ctl_with(
      [&](FakeConnection& connection) {
        if (accept(connection))
          connection.error({ErrorClass::kBusy, "job 17 is still proving", {}, {}});
      },
      with({"--timeout", "7"}));
  EXPECT_EQ(by_daemon.exit_code, kBusy);
  EXPECT_THAT(by_daemon.err,
              AllOf(HasSubstr("still proving"), HasSubstr("the job goes on: cuzkctl await 17")));
  EXPECT_GT(asked, 6000u);
  EXPECT_LE(asked, 7000u);

  const Outcome silent =
      ctl_with([](FakeConnection& connection) { connection.hold(); }, with({"--timeout", "0.05"}));
  EXPECT_EQ(silent.exit_code, kBusy);
  EXPECT_THAT(silent.err, HasSubstr("no answer within 0.05 s"));
}

TEST_F(Endings, AnAnswerThatIsNoProofIsRefused) {
  JobReport report = done_report();
  report.proof.pop_back();
  const Outcome outcome =
      ctl_with(daemon_that_answers(report), with({"--proof", folder_.file("proof.json")}));
  EXPECT_EQ(outcome.exit_code, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("is not a proof"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("proof.json")));
}

TEST_F(Endings, AnAnswerThatCannotBeWrittenSaysThatItIsKept) {
  const Outcome outcome = ctl_with(daemon_that_answers(done_report()),
                                   with({"--proof", folder_.file("no/such/folder.json")}));
  EXPECT_NE(outcome.exit_code, kDone);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("no/such/folder.json"), HasSubstr("cuzkctl await 17")));
}

// SIGINT is blocked in all threads of the test, so that only the descriptor sees it.
class Interrupted : public ProveCommand {
 protected:
  void SetUp() override {
    sigset_t mask;
    ::sigemptyset(&mask);
    ::sigaddset(&mask, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &mask, &before_);
  }
  void TearDown() override { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  sigset_t before_{};
};

TEST_F(Interrupted, WhileWaitingSaysThatTheJobGoesOnAndHowToAwaitOrCancelIt) {
  const Outcome outcome = ctl_with(
      [](FakeConnection& connection) {
        if (!connection.next<SubmitRequest>(MessageType::kSubmit)) return;
        connection.send(MessageType::kSubmit, SubmitReply{JobId{17}, JobState::kAccepted, false});
        if (!connection.next<AwaitRequest>(MessageType::kAwait)) return;
        ::kill(::getpid(), SIGINT);
        connection.hold();
      },
      command_);
  EXPECT_EQ(outcome.exit_code, kInterrupted);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("job 17 goes on"), HasSubstr("cuzkctl await 17"),
                                 HasSubstr("cuzkctl cancel 17")));
}

TEST_F(Interrupted, BeforeTheJobIsAcceptedSaysThatThereIsNone) {
  const Outcome outcome = ctl_with(
      [](FakeConnection& connection) {
        if (!connection.next<SubmitRequest>(MessageType::kSubmit)) return;
        ::kill(::getpid(), SIGINT);
        connection.hold();
      },
      command_);
  EXPECT_EQ(outcome.exit_code, kInterrupted);
  EXPECT_THAT(outcome.err, HasSubstr("before the job was accepted"));
}

TEST(Await, AsksForTheIdAndDeliversLikeProve) {
  Folder folder;
  std::string asked;
  const auto handler = [&](FakeConnection& connection) {
    const auto request = connection.next<AwaitRequest>(MessageType::kAwait);
    if (!request) return;
    asked = request->id;
    connection.send(MessageType::kAwait, done_report(5));
  };
  const Outcome outcome = ctl_with(
      handler,
      {"await", "my-request", "--proof", folder.file("p.json"), "--public", folder.file("s.json")});
  EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
  EXPECT_EQ(asked, "my-request");
  EXPECT_TRUE(std::filesystem::exists(folder.file("p.json")));
  EXPECT_TRUE(std::filesystem::exists(folder.file("s.json")));
}

TEST(Await, AnUnknownIdIsExitCode2) {
  const Outcome outcome = ctl_with(
      [](FakeConnection& connection) {
        if (!connection.next<AwaitRequest>(MessageType::kAwait)) return;
        connection.error(bad_request("no job is known by this id", "99"));
      },
      {"await", "99"});
  EXPECT_EQ(outcome.exit_code, kUsage);
  EXPECT_EQ(outcome.err, "cuzkctl: 99: no job is known by this id\n");
  EXPECT_EQ(ctl({"await"}).exit_code, kUsage);
}

}  // namespace
}  // namespace cuzk::cli
