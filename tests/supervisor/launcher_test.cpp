// The launcher with real children: what they inherit and what they do not.

#include "supervisor/process/launcher.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cuzk::supervisor {
namespace {

struct Ended {
  ExitStatus status;
  std::string output;
};

// Reads the child's output to its end and waits for its pidfd.
Ended wait_for(ForkLauncher& launcher, const Child& child) {
  Ended ended;
  std::array<char, 4096> buffer{};
  for (ssize_t got; (got = ::read(child.output.get(), buffer.data(), buffer.size())) > 0;) {
    ended.output.append(buffer.data(), static_cast<std::size_t>(got));
  }
  pollfd death{child.pidfd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&death, 1, 30'000), 1);
  const auto status = launcher.reap(child);
  EXPECT_TRUE(status);
  ended.status = status.value_or(ExitStatus{});
  return ended;
}

SpawnRequest shell(const std::string& script, std::vector<int> fds = {}) {
  return {"/bin/sh", {"-c", script}, std::move(fds)};
}

Ended run(const std::string& script, std::vector<int> fds = {}) {
  ForkLauncher launcher;
  const auto child = launcher.spawn(shell(script, std::move(fds)));
  EXPECT_TRUE(child);
  return child ? wait_for(launcher, *child) : Ended{};
}

TEST(ForkLauncher, TellsTheExitCodeAndTheOutput) {
  const Ended ended = run("echo out; echo err >&2; exit 3");
  EXPECT_FALSE(ended.status.signalled);
  EXPECT_EQ(ended.status.code, 3);
  EXPECT_EQ(ended.status.text(), "exit code 3");
  EXPECT_EQ(ended.output, "out\nerr\n");
}

TEST(ForkLauncher, TellsTheSignal) {
  const Ended ended = run("kill -9 $$");
  EXPECT_TRUE(ended.status.signalled);
  EXPECT_EQ(ended.status.code, SIGKILL);
  EXPECT_EQ(ended.status.text(), "signal 9 (Killed)");
}

TEST(ForkLauncher, DescriptorsBecomeThreeAndUpWhateverTheirNumbersWere) {
  std::array<int, 2> first{};
  std::array<int, 2> second{};
  ASSERT_EQ(::pipe2(first.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(second.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::write(first[1], "one\n", 4), 4);
  ASSERT_EQ(::write(second[1], "two\n", 4), 4);
  // In this order the targets would overwrite the sources if they were placed one by one.
  const Ended ended = run("read a <&3; read b <&4; echo $a $b", {second[0], first[0]});
  EXPECT_EQ(ended.output, "two one\n");
  for (const int fd : {first[0], first[1], second[0], second[1]}) ::close(fd);
}

TEST(ForkLauncher, NothingElseIsInherited) {
  const int leaky =
      ::open("/dev/null", O_RDONLY);  // as a careless library would: not close-on-exec
  ASSERT_GE(leaky, 0);
  const Ended ended = run("ls /proc/$$/fd | tr '\\n' ' '", {leaky});
  ::close(leaky);
  // Some shells keep one for themselves, above 9.
  EXPECT_EQ(ended.output.substr(0, 8), "0 1 2 3 ") << ended.output;
  EXPECT_EQ(ended.output.find(" 4 "), std::string::npos) << ended.output;
}

TEST(ForkLauncher, SignalsAreAtTheirDefaultsInTheChild) {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  const Ended ended = run("exec grep -E 'Sig(Blk|Ign)' /proc/self/status");
  ::sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(ended.output, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(ForkLauncher, TheChildHasAProcessGroupOfItsOwn) {
  const Ended ended = run("cut -d' ' -f1,5 /proc/$$/stat");
  std::istringstream words(ended.output);
  int pid = 0;
  int group = -1;
  words >> pid >> group;
  EXPECT_EQ(pid, group);
}

TEST(ForkLauncher, AProgramThatIsNotThereIsAnErrorAndNoProcess) {
  ForkLauncher launcher;
  const auto child = launcher.spawn({"/nowhere/program", {}, {}});
  ASSERT_FALSE(child);
  EXPECT_NE(child.error().message().find("/nowhere/program"), std::string::npos);
  EXPECT_NE(child.error().message().find("No such file"), std::string::npos);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(ForkLauncher, ReapingEndsTheWholeGroupAndStrangersAreReaped) {
  ASSERT_TRUE(become_subreaper());
  ForkLauncher launcher;
  const auto child = launcher.spawn(shell("sleep 600 & echo $!; exec 1>&- 2>&-; exit 0"));
  ASSERT_TRUE(child);
  std::array<char, 64> buffer{};
  ASSERT_GT(::read(child->output.get(), buffer.data(), buffer.size() - 1), 0);
  const pid_t grandchild = std::atoi(buffer.data());
  ASSERT_GT(grandchild, 1);
  pollfd death{child->pidfd.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&death, 1, 30'000), 1);
  ASSERT_TRUE(launcher.reap(*child));
  // It was killed with the group and is this process's child now; wait for its death without
  // reaping.
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(grandchild), &info, WEXITED | WNOWAIT), 0);
  launcher.reap_strangers({});
  EXPECT_EQ(::waitpid(grandchild, nullptr, WNOHANG), -1);
}

TEST(ForkLauncher, AChildThatRunsIsNotReaped) {
  ForkLauncher launcher;
  const auto child = launcher.spawn(shell("sleep 600"));
  ASSERT_TRUE(child);
  EXPECT_FALSE(launcher.reap(*child));
  launcher.signal(*child, SIGTERM);
  const Ended ended = wait_for(launcher, *child);
  EXPECT_EQ(ended.status.code, SIGTERM);
}

TEST(ForkLauncher, TheChildDiesWithItsParent) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    ForkLauncher launcher;
    const auto child = launcher.spawn(shell("sleep 600", {pipe[1]}));
    ::_exit(child ? 0 : 1);
  }
  ::close(pipe[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  ASSERT_EQ(status, 0);
  // The child held the other end: it closes when the kernel has killed it.
  pollfd end{pipe[0], POLLIN, 0};
  ASSERT_EQ(::poll(&end, 1, 30'000), 1);
  char byte = 0;
  EXPECT_EQ(::read(pipe[0], &byte, 1), 0);
  ::close(pipe[0]);
}

}  // namespace
}  // namespace cuzk::supervisor
