#include "supervisor/stores/state_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mapped_file.hpp"
#include "tests/supervisor/temporary_folder.hpp"

namespace cuzk::supervisor {
namespace {

void touch(const std::filesystem::path& path) { std::ofstream(path) << "x"; }

TEST(StateFolder, ASecondSupervisorIsToldWhoUsesTheFolder) {
  TemporaryFolder folder;
  const auto first = StateFolder::open(folder.path() / "state", folder.path() / "state" / "keys");
  ASSERT_TRUE(first);
  const auto second = StateFolder::open(folder.path() / "state", folder.path() / "state" / "keys");
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message().find(std::to_string(::getpid())), std::string::npos);
}

TEST(StateFolder, TheLockEndsWithItsHolder) {
  TemporaryFolder folder;
  { ASSERT_TRUE(StateFolder::open(folder.path(), folder.path() / "keys")); }
  EXPECT_TRUE(StateFolder::open(folder.path(), folder.path() / "keys"));
}

TEST(StateFolder, NobodyElseMayLookInside) {
  TemporaryFolder folder;
  const auto state = StateFolder::open(folder.path() / "state", folder.path() / "state" / "keys");
  ASSERT_TRUE(state);
  struct stat found {};
  ASSERT_EQ(::stat((folder.path() / "state").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700U);
}

TEST(StateFolder, CleanUpRemovesLeftOversAndKeepsWhatIsNamed) {
  TemporaryFolder folder;
  const auto state = StateFolder::open(folder.path(), folder.path() / "keys");
  ASSERT_TRUE(state);
  touch(state->spool() / "1");
  touch(state->spool() / "2");
  touch(state->spool() / "2.99.0.tmp");
  touch(state->keys() / "abc.ckey");
  touch(state->keys() / "abc.ckey.99.0.tmp");
  std::filesystem::create_directories(state->circuits() / "old.1");
  touch(state->circuits() / "old.1" / "circuit.so");
  std::filesystem::create_directories(state->circuits() / "used.2");
  EXPECT_EQ(state->clean_up({"1"}, {"used.2"}), 4U);
  EXPECT_TRUE(std::filesystem::exists(state->spool() / "1"));
  EXPECT_FALSE(std::filesystem::exists(state->spool() / "2"));
  EXPECT_TRUE(std::filesystem::exists(state->keys() / "abc.ckey"));
  EXPECT_FALSE(std::filesystem::exists(state->keys() / "abc.ckey.99.0.tmp"));
  EXPECT_TRUE(std::filesystem::exists(state->circuits() / "used.2"));
  EXPECT_FALSE(std::filesystem::exists(state->circuits() / "old.1"));
}

TEST(StateFolder, AKeyThatSomebodyIsWritingStays) {
  TemporaryFolder folder;
  const auto state = StateFolder::open(folder.path() / "state", folder.path() / "shared-keys");
  ASSERT_TRUE(state);
  touch(state->keys() / "abc.ckey.99.0.tmp");
  const auto writer = open_for_reading(state->keys() / "abc.ckey.99.0.tmp");
  ASSERT_TRUE(writer);
  ASSERT_EQ(::flock(writer->get(), LOCK_EX), 0);
  EXPECT_EQ(state->clean_up({}, {}), 0U);
}

TEST(StateFolder, AnInputGoesWithWhatWasLeftUnfinishedBesideIt) {
  TemporaryFolder folder;
  const auto state = StateFolder::open(folder.path(), folder.path() / "keys");
  ASSERT_TRUE(state);
  for (const char* name : {"1", "1.77.0.tmp", "11"}) touch(state->spool() / name);
  state->remove_input("1");
  EXPECT_FALSE(std::filesystem::exists(state->spool() / "1"));
  EXPECT_FALSE(std::filesystem::exists(state->spool() / "1.77.0.tmp"));
  EXPECT_TRUE(std::filesystem::exists(state->spool() / "11"));
}

}  // namespace
}  // namespace cuzk::supervisor
