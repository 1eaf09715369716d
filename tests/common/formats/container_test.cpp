#include "common/formats/container.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "tests/common/formats/test_files.hpp"

namespace cuzk::test {
namespace {

Result<Container> parse(const std::string& file) {
  static constexpr const char* kTitles[] = {nullptr, "one", "two"};
  return Container::parse(bytes_of(file), "zkey", 2, "k.zkey", kTitles);
}

std::string refusal(const std::string& file) {
  const auto parsed = parse(file);
  return parsed ? "accepted" : parsed.error().message();
}

TEST(Container, FindsSectionsInAnyOrderAndTheirOffsets) {
  const std::string file = make_container("zkey", 1, {{2, "abc"}, {7, ""}, {1, "xy"}});
  const auto parsed = parse(file);
  ASSERT_TRUE(parsed) << parsed.error().message();
  const auto one = parsed->section(1);
  const auto two = parsed->section(2);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->size(), 2u);
  EXPECT_EQ(two->size(), 3u);
  EXPECT_EQ(parsed->offset_of(*two), 24u);
  EXPECT_EQ(file.substr(parsed->offset_of(*one), 2), "xy");
  EXPECT_TRUE(parsed->find(7).has_value());
  EXPECT_FALSE(parsed->find(3).has_value());
  EXPECT_EQ(parsed->where(2, two->subspan(1), "byte 1"),
            "k.zkey, section 2 (two), byte 1, offset 0x19");
  EXPECT_EQ(parsed->where(7), "k.zkey, section 7");
}

TEST(Container, MissesAndDoublesAreErrorsOnlyForSectionsThatAreUsed) {
  const auto parsed = parse(make_container("zkey", 1, {{1, "a"}, {1, "b"}, {2, "c"}}));
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_TRUE(parsed->section(2));
  EXPECT_EQ(parsed->count(1), 2u);
  ASSERT_FALSE(parsed->section(1));
  EXPECT_EQ(parsed->section(1).error().what, "there are 2 sections with this id");
  ASSERT_FALSE(parsed->section(3));
  EXPECT_EQ(parsed->section(3).error().what, "the section is missing");
}

TEST(Container, AFileWithoutSectionsIsAContainer) {
  EXPECT_TRUE(parse(make_container("zkey", 1, {})));
}

TEST(Container, RefusesVersionsItDoesNotKnow) {
  EXPECT_TRUE(parse(make_container("zkey", 2, {})));
  EXPECT_NE(refusal(make_container("zkey", 3, {})).find("version 3"), std::string::npos);
  EXPECT_NE(refusal(make_container("zkey", 0, {})).find("version 0"), std::string::npos);
}

TEST(Container, RefusesBytesAfterTheLastSection) {
  const std::string file = make_container("zkey", 1, {{1, "a"}});
  for (const std::size_t extra : {1u, 11u, 12u, 100u}) {
    const std::string message = refusal(file + std::string(extra, '\0'));
    EXPECT_NE(
        message.find(std::to_string(extra) + " bytes are left after the last of its 1 sections"),
        std::string::npos)
        << message;
  }
}

TEST(Container, RefusesEveryTruncation) {
  const std::string file = make_container("zkey", 1, {{1, "abc"}, {2, "defg"}});
  ASSERT_TRUE(parse(file));
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(parse(file.substr(0, size))) << size;
  }
}

TEST(Container, RefusesMoreSectionsThanAnyFileHas) {
  const std::vector<RawSection> most(Container::kMaxSections, {9, ""});
  EXPECT_TRUE(parse(make_container("zkey", 1, most)));
  std::vector<RawSection> more = most;
  more.push_back({9, ""});
  EXPECT_NE(refusal(make_container("zkey", 1, more)).find("claims 1025 sections"),
            std::string::npos);
}

TEST(Container, SizesThatWrapAroundStayOutside) {
  for (const std::uint64_t size :
       {std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max() - 11,
        std::numeric_limits<std::uint64_t>::max() - 23, std::uint64_t{1} << 63,
        std::uint64_t{1} << 32}) {
    std::string file = make_container("zkey", 1, {{1, "abc"}, {2, "defg"}});
    std::memcpy(file.data() + 16, &size, sizeof size);
    EXPECT_FALSE(parse(file)) << size;
  }
}

TEST(Container, QuotesOnlyPrintableMagic) {
  EXPECT_NE(refusal(std::string("\x01\"\n\xff........", 12)).find("\"\\x01\\x22\\x0a\\xff\""),
            std::string::npos);
}

}  // namespace
}  // namespace cuzk::test
