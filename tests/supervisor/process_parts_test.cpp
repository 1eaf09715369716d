#include <gtest/gtest.h>

#include "supervisor/process/output_tail.hpp"
#include "supervisor/process/proc_stat.hpp"
#include "supervisor/process/restart_policy.hpp"

#include <unistd.h>

namespace cuzk::supervisor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(OutputTail, GivesWholeLinesOutOfPieces) {
  OutputTail tail;
  EXPECT_TRUE(tail.append("hel").empty());
  EXPECT_EQ(tail.append("lo\nwor"), std::vector<std::string>{"hello"});
  EXPECT_EQ(tail.lines(), (std::vector<std::string>{"hello", "wor"}));
}

TEST(OutputTail, KeepsTheLastLinesOnly) {
  OutputTail tail;
  for (int i = 0; i < 1000; ++i) (void)tail.append(std::to_string(i) + "\n");
  EXPECT_EQ(tail.lines().size(), OutputTail::kMaxLines);
  EXPECT_EQ(tail.lines().back(), "999");
}

TEST(OutputTail, ALineWithoutEndIsCut) {
  OutputTail tail;
  const auto lines = tail.append(std::string(3 * OutputTail::kMaxLine, 'x'));
  EXPECT_EQ(lines.size(), 2U);
  for (const auto& line : tail.lines()) EXPECT_LE(line.size(), OutputTail::kMaxLine);
}

TEST(OutputTail, EscapeSequencesDoNotReachATerminal) {
  OutputTail tail;
  EXPECT_EQ(tail.append("a\x1b[2Jb\r\n").at(0), "a?[2Jb?");
}

TEST(RestartPolicy, TheDelayDoublesUpToItsLimit) {
  RestartPolicy policy({milliseconds(200), seconds(30), seconds(60)});
  const TimePoint now{};
  std::vector<long> delays;
  for (int i = 0; i < 10; ++i) {
    delays.push_back(
        std::chrono::duration_cast<milliseconds>(policy.on_death(std::nullopt, now)).count());
  }
  EXPECT_EQ(delays,
            (std::vector<long>{200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000}));
}

TEST(RestartPolicy, AMinuteOfServiceForgives) {
  RestartPolicy policy({milliseconds(200), seconds(30), seconds(60)});
  const TimePoint start{};
  for (int i = 0; i < 5; ++i) policy.on_death(std::nullopt, start);
  EXPECT_GT(policy.on_death(start, start + seconds(59)), seconds(5));
  EXPECT_EQ(policy.on_death(start, start + seconds(60)), milliseconds(200));
}

TEST(ProcStat, ReadsACommandWithBracketsAndSpaces) {
  const auto usage = parse_stat(
      "42 (a) b (c) R 1 42 42 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 1 0 12345 "
      "1000000 256 18446744073709551615 1 1 0 0 0",
      4096, 100);
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->cpu_ms, 2000U);
  EXPECT_EQ(usage->resident_bytes, 256U * 4096);
}

TEST(ProcStat, RefusesWhatIsCutOff) {
  EXPECT_FALSE(parse_stat("42 (a", 4096, 100));
  EXPECT_FALSE(parse_stat("42 (a) R 1 42", 4096, 100));
  EXPECT_FALSE(parse_stat("", 4096, 100));
}

TEST(ProcStat, ThisProcessUsesMemory) {
  const auto usage = read_usage(::getpid());
  ASSERT_TRUE(usage);
  EXPECT_GT(usage->resident_bytes, 100'000U);
}

}  // namespace
}  // namespace cuzk::supervisor
