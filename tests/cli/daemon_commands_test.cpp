// The commands that ask the daemon one question each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/ctl.hpp"

namespace cuzk::cli {
namespace {

using test::FakeConnection;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

KeyInfo sample_key() {
  KeyInfo key;
  key.digest.fill(0xab);
  key.curve = CurveId::kBls12_381;
  key.n_variables = 1003;
  key.n_public = 2;
  key.domain_size = 1024;
  key.file_bytes = 3 << 20;
  key.converted = true;
  key.microseconds = 1'500'000;
  key.path = "/var/lib/cuzk/keys/ab.ckey";
  return key;
}

CircuitInfo sample_circuit(const std::string& name) {
  CircuitInfo circuit;
  circuit.name = name;
  circuit.key_name = "k.zkey";
  circuit.key = sample_key();
  circuit.artefacts = {true, false, true, 7'200'000};
  circuit.added_ms = 1'700'000'000'000;
  return circuit;
}

// Answers one request of `type` with `reply`.
template <class Request, class Reply>
test::FakeServer::Handler answer(MessageType type, const Reply& reply, Request* seen = nullptr) {
  return [=](FakeConnection& connection) {
    const auto request = connection.next<Request>(type);
    if (!request) return;
    if (seen != nullptr) *seen = *request;
    connection.send(type, reply);
  };
}

StatusReply sample_status() {
  StatusReply status;
  status.version = {"1.2.3", "abcdef", 1, 4242};
  status.uptime_ms = 3'723'000;
  status.state_folder = "/var/lib/cuzk";
  WorkerStatus synth;
  synth.name = "synth0";
  synth.state = "ready";
  synth.pid = 100;
  synth.resident_bytes = 12 << 20;
  synth.cpu_ms = 300;
  WorkerStatus gpu = synth;
  gpu.name = "gpu0";
  gpu.device = "cpu";
  gpu.pid = 101;
  gpu.restarts = 1;
  gpu.task = "prove job 17";
  gpu.step = "msm h";
  gpu.last_death = "signal 9 (Killed), 3 s ago";
  status.workers = {synth, gpu};
  status.slots = {{0, "BOUND", "gpu0", 3, 4 << 20, JobId{17}},
                  {1, "FREE", "", 0, 4 << 20, JobId{}}};
  status.queue = {{"queued", 2}, {"proving", 1}, {"ready", 0}};
  status.keys = {sample_key()};
  status.jobs_done = 12;
  status.jobs_failed = 1;
  return status;
}

TEST(Status, IsATableWhoseColumnsLineUp) {
  const Outcome outcome =
      ctl_with(answer<StatusRequest>(MessageType::kStatus, sample_status()), {"status"});
  EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("cuzk 1.2.3 (abcdef) on "),
                                 HasSubstr("pid 4242, up 1 h 2 min, state in /var/lib/cuzk\n"),
                                 HasSubstr("jobs: 2 queued, 1 proving; 12 done, 1 failed\n")));
  EXPECT_THAT(outcome.out, HasSubstr("WORKER  DEVICE  STATE  PID  RESTARTS    MEMORY       CPU  "
                                     "TASK                  LAST DEATH\n"
                                     "synth0          ready  100         0  12.0 MiB  300.0 ms\n"
                                     "gpu0    cpu     ready  101         1  12.0 MiB  300.0 ms  "
                                     "prove job 17 (msm h)  signal 9 (Killed), 3 s ago\n"));
  EXPECT_THAT(outcome.out, HasSubstr("SLOT  STATE  OWNER     SIZE  JOB\n"
                                     "   0  BOUND  gpu0   4.0 MiB   17\n"
                                     "   1  FREE          4.0 MiB\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("abababababab  bls12381       1003       2    1024  3.0 MiB\n"));
}

TEST(Status, JsonHasTheDocumentedFields) {
  const Outcome outcome =
      ctl_with(answer<StatusRequest>(MessageType::kStatus, sample_status()), {"status", "--json"});
  const auto json = outcome.json();
  EXPECT_EQ(json["daemon"],
            nlohmann::json(
                {{"version", "1.2.3"}, {"revision", "abcdef"}, {"protocol", 1}, {"pid", 4242}}));
  EXPECT_EQ(json["uptime_ms"], 3'723'000);
  EXPECT_EQ(json["workers"][0]["name"], "synth0");
  EXPECT_EQ(json["workers"][0]["device"], nullptr);
  EXPECT_EQ(json["workers"][1]["pid"], 101);
  EXPECT_EQ(json["workers"][1]["restarts"], 1);
  EXPECT_EQ(json["slots"][0]["state"], "BOUND");
  EXPECT_EQ(json["slots"][0]["job"], 17);
  EXPECT_EQ(json["slots"][1]["job"], nullptr);
  EXPECT_EQ(json["queue"], nlohmann::json({{"queued", 2}, {"proving", 1}, {"ready", 0}}));
  EXPECT_EQ(json["keys"][0]["public_signals"], 2);
  EXPECT_EQ(json["jobs_done"], 12);
  EXPECT_EQ(json["payload_bytes_copied"], 0);
}

TEST(Jobs, AreListedNewestFirstWithForeignTextMadeHarmless) {
  JobsReply reply;
  JobReport job;
  job.job = JobId{18};
  job.circuit_name = "evil\x1b[2J\nname";
  job.request_id = "\xff\xfe";
  job.state = JobState::kProving;
  job.priority = Priority::kCritical;
  job.permille = 430;
  reply.jobs.push_back(job);
  job.job = JobId{9};
  job.state = JobState::kFailed;
  job.error = bad_request("broken");
  job.submitted_ms = 1000;
  job.finished_ms = 2500;
  reply.jobs.push_back(job);
  JobsRequest seen;
  const Outcome outcome =
      ctl_with(answer<JobsRequest>(MessageType::kJobs, reply, &seen), {"jobs", "--limit", "7"});
  EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
  EXPECT_EQ(seen.limit, 7u);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("evil?[2J?name"), HasSubstr("critical"), HasSubstr("43 %"),
                    HasSubstr("1.50 s"), HasSubstr("broken"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 3);

  const Outcome json = ctl_with(answer<JobsRequest>(MessageType::kJobs, reply), {"jobs", "--json"});
  EXPECT_EQ(json.json()["jobs"][0]["job"], 18);
  EXPECT_EQ(json.json()["jobs"][0]["finished_ms"], nullptr);
  EXPECT_EQ(json.json()["jobs"][1]["error"]["what"], "broken");
  EXPECT_EQ(ctl_with(answer<JobsRequest>(MessageType::kJobs, JobsReply{}), {"jobs"}).out,
            "no jobs\n");
}

TEST(Cancel, SaysWhatBecameOfTheJob) {
  CancelRequest seen;
  const auto cancel = [&](JobState state, bool was_running) {
    return ctl_with(answer<CancelRequest>(MessageType::kCancel,
                                          CancelReply{JobId{17}, was_running, state}, &seen),
                    {"cancel", "17"});
  };
  EXPECT_EQ(cancel(JobState::kCancelled, true).out, "job 17: cancelled (cancelled)\n");
  EXPECT_EQ(cancel(JobState::kDone, false).out,
            "job 17: not cancelled, it had ended before (done)\n");
  EXPECT_EQ(cancel(JobState::kProving, true).out, "job 17: is being cancelled (proving)\n");
  EXPECT_EQ(seen.id, "17");
  const Outcome json =
      ctl_with(answer<CancelRequest>(MessageType::kCancel,
                                     CancelReply{JobId{17}, true, JobState::kCancelled}),
               {"cancel", "17", "--json"});
  EXPECT_EQ(json.json(),
            nlohmann::json({{"job", 17}, {"state", "cancelled"}, {"was_running", true}}));
}

TEST(Version, IsToldWithAndWithoutADaemon) {
  const VersionReply reply{"9.8.7", "fedcba", 1, 77};
  const Outcome with = ctl_with(answer<VersionRequest>(MessageType::kVersion, reply), {"version"});
  EXPECT_EQ(with.exit_code, kDone);
  EXPECT_THAT(with.out, AllOf(StartsWith("cuzkctl "),
                              HasSubstr("daemon  9.8.7 (fedcba), protocol 1, pid 77\n")));
  const Outcome without = ctl({"version"}, "/nonexistent/cuzk.sock");
  EXPECT_EQ(without.exit_code, kDone);
  EXPECT_THAT(without.out, HasSubstr("daemon  none: /nonexistent/cuzk.sock"));
  const auto json = ctl({"version", "--json"}, "/nonexistent/cuzk.sock").json();
  EXPECT_EQ(json["daemon"], nullptr);
  EXPECT_EQ(json["error"]["class"], "unavailable");
  EXPECT_EQ(json["socket"], "/nonexistent/cuzk.sock");
}

TEST(CircuitAdd, SendsTheFilesInTheOrderOfTheMessage) {
  Folder folder;
  const std::string zkey = folder.write("k.zkey", "KEY");
  const std::string program = folder.write("prog", "PROGRAM");
  const std::string r1cs = folder.write("c.r1cs", "R1CS");
  std::vector<std::string> contents;
  CircuitAddRequest seen;
  const auto handler = [&](FakeConnection& connection) {
    Frame frame;
    const auto request = connection.next<CircuitAddRequest>(MessageType::kCircuitAdd, &frame);
    if (!request) return;
    seen = *request;
    for (const UniqueFd& fd : frame.fds) {
      char buffer[64];
      const ssize_t got = ::pread(fd.get(), buffer, sizeof buffer, 0);
      contents.emplace_back(buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
    connection.progress("preparing key", 500);
    connection.send(MessageType::kCircuitAdd, sample_circuit("chain"));
  };
  const std::vector<std::string> command = {"circuit",           "add",   "chain",  "--zkey", zkey,
                                            "--witness-program", program, "--r1cs", r1cs};
  const Outcome missing = ctl(command, "/nonexistent/cuzk.sock");
  EXPECT_EQ(missing.exit_code, kUsage);
  EXPECT_THAT(missing.err,
              AllOf(HasSubstr(program + ".dat"), HasSubstr("beside the witness program")));

  folder.write("prog.dat", "DATA");
  const Outcome outcome = ctl_with(handler, command);
  EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
  EXPECT_EQ(contents, (std::vector<std::string>{"KEY", "PROGRAM", "DATA", "R1CS"}));
  EXPECT_EQ(seen.name, "chain");
  EXPECT_EQ(seen.key_name, zkey);
  EXPECT_TRUE(seen.program_attached);
  EXPECT_FALSE(seen.wasm_attached);
  EXPECT_TRUE(seen.r1cs_attached);
  EXPECT_THAT(
      outcome.out,
      AllOf(StartsWith("circuit chain: bls12381, 1003 variables, 2 public signals, domain 1024"),
            HasSubstr("checked and converted"), HasSubstr("7.20 s")));
}

TEST(CircuitAdd, UsageErrors) {
  Folder folder;
  const std::string file = folder.write("f", "x");
  EXPECT_EQ(ctl({"circuit", "add"}).exit_code, kUsage);
  EXPECT_EQ(ctl({"circuit", "add", "name"}).exit_code, kUsage);
  EXPECT_EQ(ctl({"circuit"}).exit_code, kUsage);
  const Outcome both =
      ctl({"circuit", "add", "name", "--zkey", file, "--wasm", file, "--witness-program", file});
  EXPECT_EQ(both.exit_code, kUsage);
  EXPECT_THAT(both.err, AllOf(HasSubstr("--wasm"), HasSubstr("--witness-program")));
}

TEST(CircuitList, IsATableOrJson) {
  const CircuitListReply reply{{sample_circuit("chain"), sample_circuit("merkle20")}};
  const Outcome outcome =
      ctl_with(answer<CircuitListRequest>(MessageType::kCircuitList, reply), {"circuit", "list"});
  EXPECT_EQ(outcome.out,
            "CIRCUIT   CURVE     VARIABLES  PUBLIC  DOMAIN  KEY SIZE  KEY           TAKES\n"
            "chain     bls12381       1003       2    1024   3.0 MiB  abababababab  inputs by "
            "wasm, constraints known\n"
            "merkle20  bls12381       1003       2    1024   3.0 MiB  abababababab  inputs by "
            "wasm, constraints known\n");
  const auto json = ctl_with(answer<CircuitListRequest>(MessageType::kCircuitList, reply),
                             {"circuit", "list", "--json"})
                        .json();
  EXPECT_EQ(json["circuits"][1]["name"], "merkle20");
  EXPECT_EQ(json["circuits"][0]["key"]["curve"], "bls12381");
  EXPECT_EQ(json["circuits"][0]["has_wasm"], true);
  EXPECT_THAT(ctl_with(answer<CircuitListRequest>(MessageType::kCircuitList, CircuitListReply{}),
                       {"circuit", "list"})
                  .out,
              HasSubstr("no circuits"));
}

TEST(CircuitRemove, NamesWhatWentOrFailsAsABadRequest) {
  CircuitRemoveRequest seen;
  const Outcome outcome = ctl_with(
      answer<CircuitRemoveRequest>(MessageType::kCircuitRemove, sample_circuit("chain"), &seen),
      {"circuit", "remove", "chain"});
  EXPECT_EQ(outcome.exit_code, kDone);
  EXPECT_EQ(seen.name, "chain");
  EXPECT_THAT(outcome.out, HasSubstr("circuit chain removed"));
  const Outcome unknown = ctl_with(
      [](FakeConnection& connection) {
        if (!connection.next<CircuitRemoveRequest>(MessageType::kCircuitRemove)) return;
        connection.error(bad_request("there is no circuit of this name", "nobody"));
      },
      {"circuit", "remove", "nobody"});
  EXPECT_EQ(unknown.exit_code, kUsage);
}

TEST(EveryCommand, HasHelpWithAnExampleAndExitCode0) {
  const std::vector<std::vector<std::string>> commands = {
      {"prove"},          {"await"},           {"cancel"},           {"jobs"},
      {"status"},         {"version"},         {"verify"},           {"vkey", "export"},
      {"circuit", "add"}, {"circuit", "list"}, {"circuit", "remove"}};
  for (auto command : commands) {
    std::string name = "cuzkctl";
    for (const std::string& word : command) name += " " + word;
    command.push_back("--help");
    const Outcome outcome = ctl(command);
    EXPECT_EQ(outcome.exit_code, kDone) << name;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("Example:\n  " + name), HasSubstr("--json"),
                                   HasSubstr("--socket")));
  }
  const Outcome help = ctl({"--help"});
  EXPECT_EQ(help.exit_code, kDone);
  for (const char* word : {"prove", "circuit", "await", "cancel", "jobs", "status", "version",
                           "verify", "vkey", "Exit codes"}) {
    EXPECT_THAT(help.out, HasSubstr(word));
  }
  EXPECT_EQ(ctl({"--version"}).exit_code, kDone);
}

TEST(EveryCommand, WrongUsageIsExitCode2) {
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"unknown"},
                                                       {"status", "more"},
                                                       {"cancel"},
                                                       {"jobs", "--limit", "0"},
                                                       {"jobs", "--limit", "x"},
                                                       {"verify"},
                                                       {"vkey"},
                                                       {"vkey", "export"},
                                                       {"circuit", "rename"},
                                                       {"--socket"},
                                                       {"status", "--bad"}};
  for (const auto& arguments : wrong) {
    const Outcome outcome = ctl(arguments);
    EXPECT_EQ(outcome.exit_code, kUsage) << outcome.err << testing::PrintToString(arguments);
    EXPECT_THAT(outcome.err, AllOf(StartsWith("cuzkctl: "), HasSubstr("--help")));
  }
  const Outcome json = ctl({"jobs", "--limit", "x", "--json"});
  EXPECT_EQ(json.json()["error"]["class"], "bad_request");
}

TEST(Socket, TheOptionGoesBeforeTheEnvironmentBeforeTheDefault) {
  const auto socket_of = [](const std::vector<std::string>& arguments,
                            const std::optional<std::string>& environment) {
    return ctl(arguments, environment).json()["socket"].get<std::string>();
  };
  EXPECT_EQ(socket_of({"version", "--json"}, {}), kDefaultSocket);
  EXPECT_EQ(socket_of({"version", "--json"}, "/nonexistent/env"), "/nonexistent/env");
  EXPECT_EQ(socket_of({"version", "--json", "--socket", "/nonexistent/option"}, "/nonexistent/env"),
            "/nonexistent/option");
  EXPECT_EQ(socket_of({"--socket", "/nonexistent/front", "version", "--json"}, "/nonexistent/env"),
            "/nonexistent/front");
  EXPECT_EQ(ctl({"status", "--socket", std::string(200, 's')}).exit_code, kUsage);
}

}  // namespace
}  // namespace cuzk::cli
