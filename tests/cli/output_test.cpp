// Text for people: times, sizes, tables, and the progress line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/output/progress.hpp"
#include "cli/output/text.hpp"

namespace cuzk::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using std::chrono::steady_clock;

TEST(Text, TimesAreShortAtEveryScale) {
  const std::pair<microseconds, const char*> cases[] = {
      {microseconds(-5), "0 us"},  {0us, "0 us"},           {999us, "999 us"},
      {1000us, "1.0 ms"},          {41'234us, "41.2 ms"},   {999'949us, "999.9 ms"},
      {999'950us, "1.00 s"},       {1'234'567us, "1.23 s"}, {59'994'000us, "59.99 s"},
      {59'996'000us, "1 min 0 s"}, {192s, "3 min 12 s"},    {3599s, "59 min 59 s"},
      {3600s, "1 h 0 min"},        {7500s, "2 h 5 min"},    {86400s, "1 d 0 h"},
      {273600s, "3 d 4 h"}};
  for (const auto& [time, text] : cases) EXPECT_EQ(time_text(time), text);
}

TEST(Text, AgesAreWholeNumbers) {
  EXPECT_EQ(age_text(-5s), "0 s");
  EXPECT_EQ(age_text(59'999ms), "59 s");
  EXPECT_EQ(age_text(60s), "1 min");
  EXPECT_EQ(age_text(7500s), "2 h");
  EXPECT_EQ(age_text(400'000s), "4 d");
}

TEST(Text, ATailKeepsTheEndAndWholeCharacters) {
  EXPECT_EQ(tail("short", 10), "short");
  EXPECT_EQ(tail("0123456789", 10), "0123456789");
  EXPECT_EQ(tail("/data/circom/k.zkey", 10), ".../k.zkey");
  EXPECT_EQ(tail("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f"
                 "ab",
                 5),
            "...ab");
}

TEST(Text, SizesAreInBinaryUnits) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1024), "1.0 KiB");
  EXPECT_EQ(size_text(1536), "1.5 KiB");
  EXPECT_EQ(size_text((std::uint64_t{1} << 20) - 1), "1.0 MiB");
  EXPECT_EQ(size_text(std::uint64_t{24} << 20), "24.0 MiB");
  EXPECT_EQ(size_text(std::uint64_t{47} << 30), "47.0 GiB");
  EXPECT_EQ(size_text(~std::uint64_t{0}), "16777216.0 TiB");
}

TEST(Text, NothingForeignReachesTheTerminalAsAnEscape) {
  EXPECT_EQ(one_line("plain"), "plain");
  EXPECT_EQ(one_line("a\nb\tc\r\x1b[31m\x7f"), "a?b?c??[31m?");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "31m"),
            "?31m")
      << "CSI as one C1 character";
  EXPECT_EQ(one_line("gr\xc3\xbc\xc3\x9f"
                     "e"),
            "gr\xc3\xbc\xc3\x9f"
            "e");
  EXPECT_EQ(one_line(std::string("\0x", 2)), "?x");
  EXPECT_EQ(one_line("\xc2"), "\xc2");
}

TEST(Table, AlignsByCharactersAndEndsNoLineInBlanks) {
  Table table({"NAME", "COUNT>", "NOTE"});
  EXPECT_TRUE(table.empty());
  table.add(
      {"gr\xc3\xbc"
       "n",
       "7", ""});
  table.add({"a", "12345678", "note"});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(),
            "NAME     COUNT  NOTE\n"
            "gr\xc3\xbc"
            "n         7\n"
            "a     12345678  note\n");
}

class Progress : public testing::Test {
 protected:
  void show(ProgressLine& line, const std::string& stage, std::uint32_t permille,
            steady_clock::duration at) {
    line.show(ProgressEvent{JobId{17}, stage, "B2", permille}, steady_clock::time_point{} + at);
  }
  std::ostringstream out_;
  std::ostringstream err_;
  Terminal terminal_{out_, err_, false, false};
  Session session_{terminal_, "/s", false};
};

TEST_F(Progress, OnATerminalIsOneLineThatIsErasedAtTheEnd) {
  terminal_.err_is_terminal = true;
  {
    ProgressLine line(session_);
    show(line, "preparing key", 100, 0s);
    show(line, "preparing key", 101, 10ms);  // too soon to draw again
    show(line, "proving", 990, 1s);
  }
  EXPECT_EQ(err_.str(),
            "\r\x1b[Kjob 17: preparing key: B2, 10 %"
            "\r\x1b[Kjob 17: proving: B2, 99 %"
            "\r\x1b[K");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(Progress, InALogIsALineForEachLongStageAndEveryFewSeconds) {
  ProgressLine line(session_);
  show(line, "queued", 0, 0ms);
  show(line, "preparing key", 10, 100ms);
  show(line, "preparing key", 20, 600ms);
  EXPECT_EQ(err_.str(), "") << "what is short is not worth a line";
  show(line, "preparing key", 400, 1200ms);
  show(line, "preparing key", 500, 3s);
  show(line, "preparing key", 900, 7s);
  show(line, "proving", 100, 7500ms);
  show(line, "proving", 300, 9s);
  EXPECT_EQ(err_.str(),
            "job 17: preparing key: B2, 40 %\n"
            "job 17: preparing key: B2, 90 %\n"
            "job 17: proving: B2, 30 %\n");
}

TEST_F(Progress, WithJsonIsSilent) {
  session_.json = true;
  terminal_.err_is_terminal = true;
  {
    ProgressLine line(session_);
    show(line, "proving", 100, 5s);
    show(line, "proving", 200, 50s);
  }
  EXPECT_EQ(err_.str(), "");
}

}  // namespace
}  // namespace cuzk::cli
