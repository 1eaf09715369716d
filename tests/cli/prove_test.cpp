// prove and await against daemons that accept, work, refuse, stall and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include "common/formats/json.hpp"
#include "tests/cli/jobs_of_tests.hpp"

namespace cuzk::cli {
namespace {

using test::FakeConnection;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Prove : public ProveCommand {};

TEST_F(Prove, WritesTheAnswerAsSnarkjsDoesAndTellsTheStages) {
  const JobReport report = done_report();
  const Outcome outcome = ctl_with(
      daemon_that_answers(report),
      with({"--proof", folder_.file("proof.json"), "--public", folder_.file("public.json")}));
  EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
  EXPECT_EQ(read_text(folder_.file("proof.json")), proof_to_json(CurveId::kBn254, report.proof));
  EXPECT_EQ(read_text(folder_.file("public.json")), publics_to_json(report.publics));
  EXPECT_EQ(nlohmann::json::parse(read_text(folder_.file("public.json"))),
            nlohmann::json({"33", "5"}));
  EXPECT_EQ(outcome.out,
            "job 17: circuit.zkey proved on cpu in 430.0 ms\n"
            "  queue           900 us\n"
            "  proving       400.0 ms\n"
            "    quotient    123.0 ms\n"
            "  verify          6.0 ms\n"
            "proof written to " +
                folder_.file("proof.json") +
                "\n"
                "public signals written to " +
                folder_.file("public.json") + "\n");
  EXPECT_THAT(outcome.err, IsEmpty());
  // Written beside and renamed: nothing else is left.
  EXPECT_THAT(folder_.names(),
              UnorderedElementsAre("k.zkey", "w.wtns", "proof.json", "public.json"));
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
  const Outcome outcome = ctl_with(handler, {"prove", "--zkey", zkey_, "--wtns", large, "--no-wait",
                                             "--priority", "High", "--request-id", "mine"});
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
  const Outcome outcome =
      ctl_with(handler, {"prove", "merkle", "--input", input, "--no-wait", "--json"});
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
      {{"prove", "--zkey", folder_.file("missing"), "--wtns", wtns_},
       "missing: open: No such file"},
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
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("/nonexistent/cuzk.sock"), HasSubstr("start cuzk-supervisor")));
  const Outcome json = ctl(with({"--json"}), "/nonexistent/cuzk.sock");
  EXPECT_EQ(json.exit_code, kNoDaemon);
  EXPECT_EQ(json.json()["error"]["class"], "unavailable");
}

}  // namespace
}  // namespace cuzk::cli
