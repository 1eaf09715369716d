// Answers of daemons to prove and await, and the files of a test that asks.
#pragma once

#include <gtest/gtest.h>

#include "common/groth16/encoding.hpp"
#include "tests/cli/ctl.hpp"

namespace cuzk::cli {

inline JobReport done_report(std::uint64_t job = 17) {
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
  report.stages = {
      {"queue", 900}, {"proving", 400'000}, {"proving/quotient", 123'000}, {"verify", 6'000}};
  report.proof = std::string(proof_bytes(CurveId::kBn254), '\0');
  for (std::size_t i = 0; i < 8; ++i) report.proof[32 * i] = static_cast<char>(i + 1);
  report.publics = std::string(64, '\0');
  report.publics[0] = 33;
  report.publics[32] = 5;
  return report;
}

inline JobReport failed_report(Error error, const std::string& device) {
  JobReport report = done_report();
  report.state = JobState::kFailed;
  report.error = std::move(error);
  report.device = device;
  report.proof.clear();
  report.publics.clear();
  return report;
}

// Accepts one job and answers the wait for it with `report`.
inline test::FakeServer::Handler daemon_that_answers(const JobReport& report) {
  return [report](test::FakeConnection& connection) {
    if (!connection.next<SubmitRequest>(MessageType::kSubmit)) return;
    connection.send(MessageType::kSubmit, SubmitReply{report.job, JobState::kAccepted, false});
    if (!connection.next<AwaitRequest>(MessageType::kAwait)) return;
    connection.send(MessageType::kAwait, report);
    connection.hold();
  };
}

// A folder with a key and a witness, and the command that proves them.
class ProveCommand : public testing::Test {
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

}  // namespace cuzk::cli
