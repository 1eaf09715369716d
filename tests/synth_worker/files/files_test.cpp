// Copies of what clients hand over: whole and on disk, or not there.
#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synth_worker/files/copy_file.hpp"
#include "synth_worker/files/spool_input.hpp"
#include "tests/synth_worker/support.hpp"

namespace cuzk::test {
namespace {

using testing::HasSubstr;

std::string pattern(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 2654435761U >> 13);
  return text;
}

// Larger than one chunk of the copy, so that it takes several.
constexpr std::size_t kLarge = (std::size_t{9} << 20) + 123;

TEST(CopyFile, CopiesAFileFromItsBeginningWhateverItsPosition) {
  const TemporaryFolder folder;
  const std::string content = pattern(kLarge);
  write_bytes(folder / "source", content);
  const UniqueFd source = open_file(folder / "source");
  ::lseek(source.get(), 1000, SEEK_SET);
  const auto bytes = copy_to_new_file(source, "source", folder / "target", {kLarge, 0400, "copy"}, {});
  ASSERT_TRUE(bytes.ok()) << bytes.error().message();
  EXPECT_EQ(*bytes, kLarge);
  EXPECT_EQ(read_bytes(folder / "target"), content);
  EXPECT_EQ(fs::status(folder / "target").permissions(), fs::perms::owner_read);
}

TEST(CopyFile, CopiesAMemoryFileToDisk) {
  const TemporaryFolder folder;
  const std::string content = pattern(kLarge);
  const auto bytes = copy_to_new_file(memory_file(content), "memory", folder / "target", {kLarge}, {});
  ASSERT_TRUE(bytes.ok()) << bytes.error().message();
  EXPECT_EQ(read_bytes(folder / "target"), content);
}

TEST(CopyFile, RefusesWhatIsTooLarge) {
  const TemporaryFolder folder;
  const auto bytes = copy_to_new_file(memory_file("12345"), "in.json", folder / "target", {4}, {});
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().error_class, ErrorClass::kBadRequest);
  EXPECT_EQ(bytes.error().message(), "in.json: is 5 bytes, more than the 4 allowed");
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(CopyFile, NoticesAFileThatGrowsMeanwhile) {
  const TemporaryFolder folder;
  const UniqueFd source = memory_file(std::string(10, 'x'));
  TaskMonitor monitor;
  monitor.progress = [&source](std::string_view, std::uint32_t) {
    ASSERT_EQ(::write(source.get(), "more", 4), 4);
  };
  const auto bytes = copy_to_new_file(source, "in.json", folder / "target", {12}, monitor);
  ASSERT_FALSE(bytes.ok());
  EXPECT_THAT(bytes.error().message(), HasSubstr("grew"));
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(CopyFile, RefusesAPipe) {
  const TemporaryFolder folder;
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const UniqueFd reader(ends[0]), writer(ends[1]);
  const auto bytes = copy_to_new_file(reader, "pipe", folder / "target", {100}, {});
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().error_class, ErrorClass::kBadRequest);
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(CopyFile, StopsWhenNobodyWantsItAndLeavesNothing) {
  const TemporaryFolder folder;
  int asked = 0;
  TaskMonitor monitor;
  monitor.keep_running = [&asked] { return ++asked < 2; };
  const auto bytes =
      copy_to_new_file(memory_file(pattern(kLarge)), "memory", folder / "target", {kLarge}, monitor);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().error_class, ErrorClass::kOperator);
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(SpoolInput, LeavesTheWholeFileUnderItsNameAndNothingElse) {
  const TemporaryFolder folder;
  write_bytes(folder / "17.part", "left over by a process that was killed");
  const std::string content = pattern(kLarge);
  std::vector<std::uint32_t> permilles;
  TaskMonitor monitor;
  monitor.progress = [&permilles](std::string_view, std::uint32_t p) { permilles.push_back(p); };
  const auto info = spool_input({(folder / "17").string(), kLarge}, memory_file(content), monitor);
  ASSERT_TRUE(info.ok()) << info.error().message();
  EXPECT_EQ(info->bytes, kLarge);
  EXPECT_EQ(read_bytes(folder / "17"), content);
  EXPECT_EQ(folder.entries(), 1U);
  EXPECT_GE(permilles.size(), 2U);
  EXPECT_TRUE(std::is_sorted(permilles.begin(), permilles.end()));
  EXPECT_EQ(permilles.back(), 1000U);
}

TEST(SpoolInput, FailsWithoutATraceWhereThereIsNoFolder) {
  const TemporaryFolder folder;
  const auto info = spool_input({(folder / "no/17").string(), 100}, memory_file("x"), {});
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.error().error_class, ErrorClass::kRetryHere);
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(SpoolInput, FailsWithoutATraceWhenTheInputIsTooLarge) {
  const TemporaryFolder folder;
  const auto info = spool_input({(folder / "17").string(), 3}, memory_file("1234"), {});
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.error().error_class, ErrorClass::kBadRequest);
  EXPECT_EQ(folder.entries(), 0U);
}

}  // namespace
}  // namespace cuzk::test
