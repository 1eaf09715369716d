// Sizes, durations and the distance between words.
#include "common/config/values.hpp"

#include <gtest/gtest.h>

namespace cuzk::config {
namespace {

using std::chrono::milliseconds;

TEST(ConfigValues, SizesHaveBinaryUnitsOrNone) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("17"), 17u);
  EXPECT_EQ(parse_size("17B"), 17u);
  EXPECT_EQ(parse_size("3KiB"), 3072u);
  EXPECT_EQ(parse_size("512 MiB"), std::uint64_t{512} << 20);
  EXPECT_EQ(parse_size("5GiB"), std::uint64_t{5} << 30);
  EXPECT_EQ(parse_size("2TiB"), std::uint64_t{2} << 40);
  for (const char* wrong :
       {"", " 5", "-5", "5GB", "5gib", "5 GiB ", "GiB", "1.5GiB", "0x10", "5GiB5"}) {
    EXPECT_EQ(parse_size(wrong), std::nullopt) << wrong;
  }
}

TEST(ConfigValues, SizesThatOverflowAreRefused) {
  EXPECT_EQ(parse_size("8388607TiB"), std::uint64_t{8388607} << 40);
  EXPECT_EQ(parse_size("8388608TiB"), std::nullopt);
  EXPECT_EQ(parse_size("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_size("9223372036854775807"), std::uint64_t{9223372036854775807u});
  EXPECT_EQ(parse_size("9223372036854775808"), std::nullopt);
}

TEST(ConfigValues, DurationsNeedAUnit) {
  EXPECT_EQ(parse_duration("200ms"), milliseconds(200));
  EXPECT_EQ(parse_duration("30s"), milliseconds(30000));
  EXPECT_EQ(parse_duration("5 m"), milliseconds(300000));
  EXPECT_EQ(parse_duration("12h"), milliseconds(43200000));
  EXPECT_EQ(parse_duration("7d"), milliseconds(604800000));
  for (const char* wrong : {"", "5", "s", "-1s", "1.5s", "1w", "99999999999999999999s", "36501d"}) {
    EXPECT_EQ(parse_duration(wrong), std::nullopt) << wrong;
  }
}

TEST(ConfigValues, EditDistanceCountsSwapsOfNeighboursAsOne) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("socket", "socket"), 0u);
  EXPECT_EQ(edit_distance("sokcet", "socket"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("level", "levels"), 1u);
}

}  // namespace
}  // namespace cuzk::config
