// Messages of hostile peers: every damage is an error, never an allocation or a crash.
#include "common/protocol/archive.hpp"

#include <gtest/gtest.h>

#include <random>

#include "common/protocol/messages.hpp"

namespace cuzk {
namespace {

JobReport sample_report() {
  JobReport report;
  report.job = JobId{17};
  report.request_id = "request";
  report.circuit_name = "merkle";
  report.circuit[5] = 0xab;
  report.curve = CurveId::kBls12_381;
  report.priority = Priority::kHigh;
  report.state = JobState::kDone;
  report.attempts = 2;
  report.submitted_ms = -5;
  report.device = "cpu";
  report.error = bad_request("what", "where", "hint");
  report.stages = {{"queue", 12}, {"proving", 345}};
  report.proof = std::string(256, 'p');
  report.publics = std::string(64, 'x');
  return report;
}

TEST(Archive, AMessageComesBackAsItWas) {
  const auto back = decode<JobReport>(encode(sample_report()));
  ASSERT_TRUE(back.ok()) << back.error().message();
  EXPECT_EQ(back->job.value, 17u);
  EXPECT_EQ(back->circuit[5], 0xab);
  EXPECT_EQ(back->submitted_ms, -5);
  EXPECT_EQ(back->error->hint, "hint");
  ASSERT_EQ(back->stages.size(), 2u);
  EXPECT_EQ(back->stages[1].microseconds, 345u);
  EXPECT_EQ(back->proof, std::string(256, 'p'));
}

TEST(Archive, EveryTruncationAndEverySurplusIsRefused) {
  const std::string bytes = encode(sample_report());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto back = decode<JobReport>(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(back.ok()) << size;
    EXPECT_EQ(back.error().error_class, ErrorClass::kBadRequest);
  }
  EXPECT_FALSE(decode<JobReport>(bytes + '\0').ok());
}

TEST(Archive, AHugeCountIsRefusedWithoutAnAllocation) {
  // A list whose count says 2^60 elements: resizing to it would throw bad_alloc or kill the
  // process.
  std::string bytes = encode(JobsReply{});
  ASSERT_EQ(bytes.size(), 9u);
  const std::uint64_t huge = std::uint64_t{1} << 60;
  std::memcpy(bytes.data() + 1, &huge, sizeof huge);
  const auto back = decode<JobsReply>(bytes);
  ASSERT_FALSE(back.ok());
  EXPECT_NE(back.error().message().find("count exceeds"), std::string::npos)
      << back.error().message();
}

TEST(Archive, RandomDamageNeverThrowsOut) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string bytes = encode(sample_report());
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto back = decode<JobReport>(damaged);
    if (back.ok()) {
      EXPECT_LE(back->proof.size() + back->stages.size(), bytes.size());
    }
  }
}

TEST(Archive, AWrongByteOrderOrTruthValueIsRefused) {
  std::string bytes = encode(CircuitAddRequest{"name", "key", true, false, false});
  ASSERT_TRUE(decode<CircuitAddRequest>(bytes).ok());
  std::string big_endian = bytes;
  big_endian[0] = 0;
  EXPECT_FALSE(decode<CircuitAddRequest>(big_endian).ok());
  bytes.back() = 2;
  EXPECT_FALSE(decode<CircuitAddRequest>(bytes).ok());
}

}  // namespace
}  // namespace cuzk
