// prove and await against daemons that accept, work, refuse, stall and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <pthread.h>
#include <sys/stat.h>

#include "common/formats/json.hpp"
#include "tests/cli/ctl.hpp"

namespace cuzk::cli {
namespace {

using test::FakeConnection;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

JobReport done_report(std::uint64_t job = 17) {
  JobReport report;
  report.job = JobId{job};
  report.circuit_name = "circuit.zkey";
  report.curve = CurveId::kBn254;
  report.priority = Priority::kNormal;
  report.state = JobState::kDone;
  report.attempts = 1;
  report.permille = 1000;
  report.submitted_ms = 1'700'000'000'000;
  report.finished_ms = 1'700'000'000'430;
  report.device = "cpu";
  report.stages = {{"queue", 900}, {"proving", 400'000}, {"proving/quotient", 123'000}, {"verify", 6'000}};
  report.proof = std::string(proof_bytes(CurveId::kBn254), '\0');
  for (std::size_t i = 0; i < 8; ++i) report.proof[32 * i] = static_cast<char>(i + 1);
  report.publics = std::string(64, '\0');
  report.publics[0] = 33;
  report.publics[32] = 5;
  return report;
}

JobReport failed_report(Error error, const std::string& device) {
  JobReport report = done_report();
  report.state = JobState::kFailed;
  report.error = std::move(error);
  report.device = device;
  report.proof.clear();
  report.publics.clear();
  return report;
}

// Accepts one job and answers the wait for it with `report`.
test::FakeServer::Handler daemon_that_answers(const JobReport& report) {
  return [report](FakeConnection& connection) {
    if (!connection.next<SubmitRequest>(MessageType::kSubmit)) return;
    connection.send(MessageType::kSubmit, SubmitReply{report.job, JobState::kAccepted, false});
    if (!connection.next<AwaitRequest>(MessageType::kAwait)) return;
    connection.send(MessageType::kAwait, report);
    connection.hold();
  };
}

class Prove : public testing::Test {
 protected:
  Folder folder_;
  std::string zkey_ = folder_.write("k.zkey", "a key");
  std::string wtns_ = folder_.write("w.wtns", "a witness");
  std::vector<std::string> command_ = {"prove", "--zkey", zkey_, "--wtns", wtns_};

  std::vector<std::string> with(std::vector<std::string> more) const {
    std::vector<std::string> all = command_;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(Prove, WritesTheAnswerAsSnarkjsDoesAndTellsTheStages) {
  const JobReport report = done_report();
  const Outcome outcome = ctl_with(daemon_that_answers(report),
                                   with({"--proof", folder_.file("proof.json"), "--public", folder_.file("public.json")}));
  EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
  EXPECT_EQ(read_text(folder_.file("proof.json")), proof_to_json(CurveId::kBn254, report.proof));
  EXPECT_EQ(read_text(folder_.file("public.json")), publics_to_json(report.publics));
  EXPECT_EQ(nlohmann::json::parse(read_text(folder_.file("public.json"))), nlohmann::json({"33", "5"}));
  EXPECT_EQ(outcome.out,
            "job 17: circuit.zkey proved on cpu in 430.0 ms\n"
            "  queue           900 us\n"
            "  proving       400.0 ms\n"
            "    quotient    123.0 ms\n"
            "  verify          6.0 ms\n"
            "proof written to " + folder_.file("proof.json") + "\n"
            "public signals written to " + folder_.file("public.json") + "\n");
  EXPECT_THAT(outcome.err, IsEmpty());
  // Written beside and renamed: nothing else is left.
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("k.zkey", "w.wtns", "proof.json", "public.json"));
}

TEST_F(Prove, WithoutFilesPrintsTheAnswer) {
  const Outcome outcome = ctl_with(daemon_that_answers(done_report()), command_);
  EXPECT_EQ(outcome.exit_code, kDone);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\"pi_a\""), HasSubstr("public signals:\n[\n \"33\"")));
  EXPECT_THAT(folder_.names(), UnorderedElementsAre("k.zkey", "w.wtns"));
}

TEST_F(Prove, JsonIsOneObjectWithJobStateStagesProofAndPublic) {
  const Outcome outcome = ctl_with(daemon_that_answers(done_report()), with({"--json"}));
  EXPECT_EQ(outcome.exit_code, kDone);
  EXPECT_THAT(outcome.err, IsEmpty());
  const auto json = outcome.json();
  ASSERT_TRUE(json.is_object()) << outcome.out;
  EXPECT_EQ(json["job"], 17);
  EXPECT_EQ(json["state"], "done");
  EXPECT_EQ(json["circuit"], "circuit.zkey");
  EXPECT_EQ(json["curve"], "bn128");
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["request_id"], nullptr);
  EXPECT_EQ(json["error"], nullptr);
  EXPECT_EQ(json["stages"][0], nlohmann::json({{"step", "queue"}, {"microseconds", 900}}));
  EXPECT_EQ(json["proof"]["pi_a"], nlohmann::json({"1", "2", "1"}));
  EXPECT_EQ(json["proof"]["protocol"], "groth16");
  EXPECT_EQ(json["public"], nlohmann::json({"33", "5"}));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);
}

TEST_F(Prove, SendsWhatWasAskedAndTheFilesAsDescriptors) {
  const std::string large = folder_.write("large.wtns", std::string((256 << 10) + 1, 'w'));
  SubmitRequest seen;
  std::vector<std::string> contents;
  const auto handler = [&](FakeConnection& connection) {
    Frame frame;
    const auto request = connection.next<SubmitRequest>(MessageType::kSubmit, &frame);
    if (!request) return;
    seen = *request;
    for (const UniqueFd& fd : frame.fds) {
      std::string content(300'000, '\0');
      const ssize_t got = ::pread(fd.get(), content.data(), content.size(), 0);
      content.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      contents.push_back(content);
    }
    connection.send(MessageType::kSubmit, SubmitReply{JobId{3}, JobState::kAccepted, false});
  };
  const Outcome outcome = ctl_with(handler, {"prove", "--zkey", zkey_, "--wtns", large, "--no-wait", "--priority",
                                             "High", "--request-id", "mine"});
  EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
  EXPECT_EQ(outcome.out, "job 3: accepted\n");
  EXPECT_EQ(seen.request_id, "mine");
  EXPECT_EQ(seen.priority, Priority::kHigh);
  EXPECT_TRUE(seen.key_attached);
  EXPECT_EQ(seen.key_name, zkey_);
  EXPECT_EQ(seen.input_kind, InputKind::kWitness);
  EXPECT_TRUE(seen.input_attached);
  EXPECT_EQ(seen.input_name, large);
  ASSERT_EQ(contents.size(), 2u);
  EXPECT_EQ(contents[0], "a key");
  EXPECT_EQ(contents[1].size(), (256u << 10) + 1);
}

TEST_F(Prove, SendsSmallInputsInTheMessage) {
  const std::string input = folder_.write("input.json", std::string(256 << 10, ' '));
  SubmitRequest seen;
  std::size_t fds = 99;
  const auto handler = [&](FakeConnection& connection) {
    Frame frame;
    const auto request = connection.next<SubmitRequest>(MessageType::kSubmit, &frame);
    if (!request) return;
    seen = *request;
    fds = frame.fds.size();
    connection.send(MessageType::kSubmit, SubmitReply{JobId{4}, JobState::kDone, true});
  };
  const Outcome outcome = ctl_with(handler, {"prove", "merkle", "--input", input, "--no-wait", "--json"});
  EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
  EXPECT_EQ(outcome.json(), nlohmann::json({{"job", 4}, {"state", "done"}, {"existed", true}}));
  EXPECT_EQ(seen.circuit_name, "merkle");
  EXPECT_EQ(seen.input_kind, InputKind::kJson);
  EXPECT_EQ(seen.input_inline.size(), 256u << 10);
  EXPECT_FALSE(seen.input_attached);
  EXPECT_EQ(fds, 0u);
  EXPECT_FALSE(seen.progress) << "--json shows none";
}

TEST_F(Prove, UsageErrorsAreExitCode2AndSayWhatToDo) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"prove"}, "give either --zkey FILE or the NAME"},
      {{"prove", "--zkey", zkey_}, "nothing to prove"},
      {{"prove", "name", "--zkey", zkey_, "--wtns", wtns_}, "both a circuit's name and --zkey"},
      {{"prove", "name", "--input", wtns_, "--wtns", wtns_}, "both --wtns and --input"},
      {{"prove", "--zkey", zkey_, "--input", wtns_}, "cuzkctl circuit add"},
      {with({"--priority", "urgent"}), "--priority"},
      {with({"--timeout", "soon"}), "--timeout"},
      {with({"--timeout", "-1"}), "--timeout"},
      {with({"--request-id", std::string(129, 'x')}), "at most 128 bytes"},
      {with({"--no-wait", "--proof", "p.json"}), "cuzkctl await ID"},
      {with({"--proof", "same.json", "--public", "same.json"}), "name the same file"},
      {with({"--unknown"}), "--unknown"},
      {with({"more", "arguments"}), "arguments"},
      {{"prove", "--zkey", folder_.file("missing"), "--wtns", wtns_}, "missing: open: No such file"},
      {{"prove", "--zkey", "/", "--wtns", wtns_}, "not a regular file"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = ctl(arguments, "/nonexistent/cuzk.sock");
    EXPECT_EQ(outcome.exit_code, kUsage) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(testing::StartsWith("cuzkctl: "), HasSubstr(message)));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST_F(Prove, WithoutADaemonIsExitCode3AndNamesTheSocket) {
  const Outcome outcome = ctl(command_, "/nonexistent/cuzk.sock");
  EXPECT_EQ(outcome.exit_code, kNoDaemon);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("/nonexistent/cuzk.sock"), HasSubstr("start cuzk-supervisor")));
  const Outcome json = ctl(with({"--json"}), "/nonexistent/cuzk.sock");
  EXPECT_EQ(json.exit_code, kNoDaemon);
  EXPECT_EQ(json.json()["error"]["class"], "unavailable");
}

TEST_F(Prove, ABusyDaemonIsExitCode4) {
  const Outcome outcome = ctl_with(
      [](FakeConnection& connection) {
        if (!connection.next<SubmitRequest>(MessageType::kSubmit)) return;
        connection.error({ErrorClass::kBusy, "10000 jobs are waiting", "queue", "try again later"});
      },
      command_);
  EXPECT_EQ(outcome.exit_code, kBusy);
  EXPECT_EQ(outcome.err, "cuzkctl: queue: 10000 jobs are waiting (try again later)\n");
}

TEST_F(Prove, AnInputThatIsRefusedBeforeProvingIsExitCode2) {
  const auto report = failed_report(bad_request("value 3 is not below r", "w.wtns, offset 0x6c"), "");
  const Outcome outcome = ctl_with(daemon_that_answers(report), command_);
  EXPECT_EQ(outcome.exit_code, kUsage);
  EXPECT_EQ(outcome.err, "cuzkctl: job 17 failed: w.wtns, offset 0x6c: value 3 is not below r\n");
  EXPECT_THAT(outcome.out, IsEmpty());
}

TEST_F(Prove, AProofThatFailsIsExitCode1) {
  const auto report = failed_report(bad_request("the witness does not satisfy the circuit: constraint 999"), "cpu");
  const Outcome outcome = ctl_with(daemon_that_answers(report), with({"--proof", folder_.file("proof.json")}));
  EXPECT_EQ(outcome.exit_code, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("constraint 999"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("proof.json")));
  for (const ErrorClass error_class : {ErrorClass::kPoisonJob, ErrorClass::kBug, ErrorClass::kDeviceFault}) {
    EXPECT_EQ(ctl_with(daemon_that_answers(failed_report({error_class, "trouble", {}, {}}, "")), command_).exit_code,
              kFailed);
  }
}

TEST_F(Prove, AFailedJobIsJsonToo) {
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

TEST_F(Prove, ACancelledJobIsExitCode1) {
  JobReport report = failed_report({ErrorClass::kOperator, "the job was cancelled", {}, {}}, "");
  report.state = JobState::kCancelled;
  const Outcome outcome = ctl_with(daemon_that_answers(report), command_);
  EXPECT_EQ(outcome.exit_code, kFailed);
  EXPECT_EQ(outcome.err, "cuzkctl: job 17 cancelled: the job was cancelled\n");
}

TEST_F(Prove, ADaemonThatGoesDuringTheWaitIsExitCode3AndSaysHowToGoOn) {
  const Outcome outcome = ctl_with(
      [](FakeConnection& connection) {
        if (!connection.next<SubmitRequest>(MessageType::kSubmit)) return;
        connection.send(MessageType::kSubmit, SubmitReply{JobId{17}, JobState::kAccepted, false});
        connection.next<AwaitRequest>(MessageType::kAwait);
      },
      command_);
  EXPECT_EQ(outcome.exit_code, kNoDaemon);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the daemon closed the connection"), HasSubstr("cuzkctl await 17")));
}

TEST_F(Prove, ATimeOutIsExitCode4WhoeverNoticesItFirst) {
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
        if (accept(connection)) connection.error({ErrorClass::kBusy, "job 17 is still proving", {}, {}});
      },
      with({"--timeout", "7"}));
  EXPECT_EQ(by_daemon.exit_code, kBusy);
  EXPECT_THAT(by_daemon.err, AllOf(HasSubstr("still proving"), HasSubstr("the job goes on: cuzkctl await 17")));
  EXPECT_GT(asked, 6000u);
  EXPECT_LE(asked, 7000u);

  const Outcome silent = ctl_with([](FakeConnection& connection) { connection.hold(); },
                                  with({"--timeout", "0.05"}));
  EXPECT_EQ(silent.exit_code, kBusy);
  EXPECT_THAT(silent.err, HasSubstr("no answer within 0.05 s"));
}

TEST_F(Prove, AnAnswerThatIsNoProofIsRefused) {
  JobReport report = done_report();
  report.proof.pop_back();
  const Outcome outcome = ctl_with(daemon_that_answers(report), with({"--proof", folder_.file("proof.json")}));
  EXPECT_EQ(outcome.exit_code, kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("is not a proof"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("proof.json")));
}

TEST_F(Prove, AnAnswerThatCannotBeWrittenSaysThatItIsKept) {
  const Outcome outcome =
      ctl_with(daemon_that_answers(done_report()), with({"--proof", folder_.file("no/such/folder.json")}));
  EXPECT_NE(outcome.exit_code, kDone);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("no/such/folder.json"), HasSubstr("cuzkctl await 17")));
}

// SIGINT is blocked in all threads of the test, so that only the descriptor sees it.
class Interrupted : public Prove {
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
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("job 17 goes on"), HasSubstr("cuzkctl await 17"), HasSubstr("cuzkctl cancel 17")));
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
  const Outcome outcome = ctl_with(handler, {"await", "my-request", "--proof", folder.file("p.json"), "--public",
                                             folder.file("s.json")});
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
