// The child processes of the synthesis process: bounded, alone, and dead when they should be.
#include "synth_worker/process/child.hpp"

#include <chrono>
#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include "tests/synth_worker/support.hpp"

namespace cuzk::test {
namespace {

using testing::HasSubstr;
using End = ChildOutcome::End;

// A shell is the handiest child to test with; the program itself never uses one.
ChildCommand shell(std::string script) {
  ChildCommand command;
  command.program = "/bin/sh";
  command.arguments = {"sh", "-c", std::move(script)};
  command.environment = plain_environment();
  return command;
}

bool is_alive(const std::string& pid) {
  std::ifstream status("/proc/" + pid + "/stat");
  std::string line;
  if (!std::getline(status, line)) return false;
  return line[line.rfind(')') + 2] != 'Z';
}

TEST(Child, ReportsTheExitCodeAndWhatWasWrittenToStderr) {
  const auto outcome = run_child(shell("echo trouble >&2; exit 3"));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kExited);
  EXPECT_EQ(outcome->code, 3);
  EXPECT_EQ(outcome->error_output, "trouble\n");
  EXPECT_FALSE(outcome->succeeded());
  EXPECT_EQ(outcome->describe(), "exit code 3");
}

TEST(Child, ReportsTheSignalThatKilledIt) {
  const auto outcome = run_child(shell("kill -SEGV $$"));
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kSignalled);
  EXPECT_EQ(outcome->code, SIGSEGV);
  EXPECT_THAT(outcome->describe(), HasSubstr("signal 11"));
}

TEST(Child, IsKilledWithItsDescendantsWhenItsTimeIsOver) {
  const TemporaryFolder folder;
  ChildCommand command = shell("sleep 1000 & echo $! > pid; echo started >&2; wait");
  command.folder = folder.path();
  command.limits.wall_time = std::chrono::milliseconds(300);
  const auto outcome = run_child(command);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kTimedOut);
  EXPECT_LT(outcome->duration, std::chrono::seconds(20));
  std::string pid = read_bytes(folder / "pid");
  pid.erase(pid.find('\n'));
  for (int i = 0; i < 1000 && is_alive(pid); ++i) ::usleep(5000);
  EXPECT_FALSE(is_alive(pid)) << pid;
}

TEST(Child, LeavesNoDescendantsBehindWhenItEndsByItself) {
  const TemporaryFolder folder;
  ChildCommand command = shell("sleep 1000 & echo $! > pid; exit 0");
  command.folder = folder.path();
  const auto outcome = run_child(command);
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->succeeded());
  std::string pid = read_bytes(folder / "pid");
  pid.erase(pid.find('\n'));
  for (int i = 0; i < 1000 && is_alive(pid); ++i) ::usleep(5000);
  EXPECT_FALSE(is_alive(pid)) << pid;
}

TEST(Child, IsKilledWhenNobodyWantsItAnyMore) {
  int asked = 0;
  const auto outcome = run_child(shell("sleep 1000"), [&asked] { return ++asked < 3; });
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kStopped);
  EXPECT_EQ(asked, 3);
}

TEST(Child, GetsOnlyTheDescriptorsAndTheEnvironmentOfItsCommand) {
  const UniqueFd secret = memory_file("secret");
  const UniqueFd inherited(::fcntl(secret.get(), F_DUPFD, 50));  // not close-on-exec
  ASSERT_EQ(inherited.get(), 50);
  const UniqueFd first = memory_file("first ");
  const UniqueFd second = memory_file("second");
  ::setenv("CUZK_TEST_SECRET", "1", 1);
  ChildCommand command =
      shell("cat /proc/self/fd/3 /proc/self/fd/4 >&2; for f in /proc/$$/fd/*; do echo -n \" $f\" >&2; "
            "done; env >&2; ulimit -c >&2; grep SigBlk /proc/self/status >&2");
  command.descriptors = {first.get(), second.get()};
  sigset_t terminate;
  ::sigemptyset(&terminate);
  ::sigaddset(&terminate, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &terminate, nullptr);
  const auto outcome = run_child(command);
  ::pthread_sigmask(SIG_UNBLOCK, &terminate, nullptr);
  ::unsetenv("CUZK_TEST_SECRET");
  ASSERT_TRUE(outcome.ok());
  const std::string& output = outcome->error_output;
  EXPECT_THAT(output, HasSubstr("first second"));
  EXPECT_THAT(output, HasSubstr("/fd/4"));
  EXPECT_THAT(output, testing::Not(HasSubstr("/fd/50")));
  EXPECT_THAT(output, testing::Not(HasSubstr("SECRET")));
  EXPECT_THAT(output, HasSubstr("LC_ALL=C"));
  EXPECT_THAT(output, HasSubstr("\n0\n")) << "core dumps would hold witnesses";
  EXPECT_THAT(output, HasSubstr("SigBlk:\t0000000000000000"));
}

TEST(Child, CannotWriteFilesBeyondItsLimit) {
  const TemporaryFolder folder;
  ChildCommand command = shell("exec dd if=/dev/zero of=big bs=65536 count=100");
  command.folder = folder.path();
  command.limits.file_bytes = 100'000;
  const auto outcome = run_child(command);
  ASSERT_TRUE(outcome.ok());
  EXPECT_FALSE(outcome->succeeded());
  EXPECT_LE(fs::file_size(folder / "big"), 100'000U);
}

TEST(Child, KeepsTheBeginningAndTheEndOfALongStderr) {
  const auto outcome =
      run_child(shell("echo first >&2; i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done >&2; "
                      "echo last >&2"));
  ASSERT_TRUE(outcome.ok());
  EXPECT_LT(outcome->error_output.size(), 5000U);
  EXPECT_TRUE(outcome->error_output.starts_with("first\n"));
  EXPECT_TRUE(outcome->error_output.ends_with("last\n"));
}

TEST(Child, ThatCannotBeStartedIsAnErrorThatNamesIt) {
  ChildCommand command;
  command.program = "/nonexistent/program";
  command.arguments = {"program"};
  const auto outcome = run_child(command);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().error_class, ErrorClass::kRetryHere);
  EXPECT_THAT(outcome.error().message(), HasSubstr("/nonexistent/program"));
}

TEST(FindProgram, NamesThePackageOfWhatIsMissing) {
  EXPECT_TRUE(find_program("sh", "dash").ok());
  const auto missing = find_program("no-such-program", "its-package");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().error_class, ErrorClass::kOperator);
  EXPECT_THAT(missing.error().message(), HasSubstr("its-package"));
}

TEST(PrivateFolder, DisappearsWithItsContentUnlessItIsKept) {
  const TemporaryFolder parent;
  {
    auto folder = PrivateFolder::create(parent.path(), "x-");
    ASSERT_TRUE(folder.ok());
    write_bytes(folder->path() / "file", "1");
    EXPECT_EQ(fs::status(folder->path()).permissions(), fs::perms::owner_all);
  }
  EXPECT_EQ(parent.entries(), 0U);
  {
    auto folder = PrivateFolder::create(parent.path(), "x-");
    ASSERT_TRUE(folder.ok());
    write_bytes(folder->path() / "file", "2");
    ASSERT_TRUE(folder->keep_as(parent / "kept").ok());
  }
  EXPECT_EQ(parent.entries(), 1U);
  EXPECT_EQ(read_bytes(parent / "kept/file"), "2");
}

TEST(PrivateFolder, ReplacesWhatWasThereBefore) {
  const TemporaryFolder parent;
  fs::create_directory(parent / "kept");
  write_bytes(parent / "kept/old", "1");
  {
    auto folder = PrivateFolder::create(parent.path(), "x-");
    ASSERT_TRUE(folder.ok());
    write_bytes(folder->path() / "new", "2");
    ASSERT_TRUE(folder->keep_as(parent / "kept").ok());
  }
  EXPECT_EQ(parent.entries(), 1U);
  EXPECT_FALSE(fs::exists(parent / "kept/old"));
  EXPECT_TRUE(fs::exists(parent / "kept/new"));
}

TEST(PrivateFolder, OfADeadProcessIsRemovedOnceItIsOld) {
  const TemporaryFolder parent;
  fs::create_directory(parent / ".adding-abc");
  fs::create_directory(parent / ".adding-def");
  fs::create_directory(parent / "other");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(2);
  fs::last_write_time(parent / ".adding-abc", long_ago);
  fs::last_write_time(parent / "other", long_ago);
  remove_abandoned_folders(parent.path(), ".adding-", 3600);
  EXPECT_FALSE(fs::exists(parent / ".adding-abc"));
  EXPECT_TRUE(fs::exists(parent / ".adding-def"));
  EXPECT_TRUE(fs::exists(parent / "other"));
}

}  // namespace
}  // namespace cuzk::test
