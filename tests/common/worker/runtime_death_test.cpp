// Either side of a worker's channel dies, or was never there.
#include <cstring>

#include <sys/syscall.h>

#include <gtest/gtest.h>

#include "tests/common/worker/subject.hpp"

namespace cuzk {
namespace {

TEST(WorkerDeath, WhatTheWorkerSaidBeforeItDiedIsStillRead) {
  Subject subject;
  ASSERT_TRUE(subject.wait_ready());
  for (std::uint64_t task = 1; task <= 3; ++task) {
    ASSERT_TRUE(subject.channel().push_command(CommandKind::kVerify, TaskId{task}, SlotIndex{0},
                                               shm::kFreshSlot, "answer"));
  }
  ASSERT_TRUE(subject.channel().push_command(CommandKind::kWipeSlot, TaskId{4}, SlotIndex{0},
                                             shm::kFreshSlot, {}));
  const int status = subject.wait_end();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3);
  EXPECT_TRUE(wait_readable(subject.channel().control_fd(), 0)) << "end-of-file";
  for (std::uint64_t task = 1; task <= 3; ++task) {
    auto event = subject.channel().pop_event();
    ASSERT_TRUE(event && *event);
    EXPECT_EQ((*event)->task, TaskId{task});
  }
  auto event = subject.channel().pop_event();
  ASSERT_TRUE(event);
  EXPECT_FALSE(*event) << "task 4 is owed, and the supervisor's tables know";
}

TEST(WorkerDeath, CommandsToADeadWorkerNeverBlock) {
  Subject subject;
  ASSERT_TRUE(subject.wait_ready());
  ASSERT_EQ(::kill(subject.pid(), SIGKILL), 0);
  subject.wait_end();
  Status pushed;
  for (std::size_t i = 0; i <= shm::kRingEntries; ++i) {
    pushed = subject.channel().push_command(CommandKind::kVerify, TaskId{i + 1}, SlotIndex{0},
                                            shm::kFreshSlot, "x");
  }
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().error_class, ErrorClass::kBusy);
}

TEST(SupervisorDeath, ADroppedChannelEndsTheWorkerPolitely) {
  Subject subject;
  ASSERT_TRUE(subject.wait_ready());
  subject.drop_channel();
  const int status = subject.wait_end();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// A child of this test plays the supervisor, starts a worker, and is killed. The worker must go, idle or
// in the middle of a task that would go on for ever.
void kill_the_supervisor_of(bool busy_worker) {
  int report[2];
  ASSERT_EQ(::pipe2(report, O_CLOEXEC), 0);
  const pid_t supervisor = ::fork();
  ASSERT_GE(supervisor, 0);
  if (supervisor == 0) {
    Subject subject;
    if (!subject.wait_ready()) ::_exit(1);
    if (busy_worker) {
      if (!subject.channel().push_command(CommandKind::kExplain, TaskId{1}, SlotIndex{0},
                                          shm::kFreshSlot, {})) {
        ::_exit(1);
      }
      if (!subject.next_event()) ::_exit(1);
    }
    const pid_t worker = subject.pid();
    if (::write(report[1], &worker, sizeof worker) != sizeof worker) ::_exit(1);
    while (true) ::pause();
  }
  pid_t worker = 0;
  ASSERT_TRUE(wait_readable(report[0]));
  ASSERT_EQ(::read(report[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, worker, 0)));
  ASSERT_TRUE(pidfd) << std::strerror(errno);
  EXPECT_FALSE(wait_readable(pidfd.get(), 0)) << "the worker lives as long as its supervisor";
  ASSERT_EQ(::kill(supervisor, SIGKILL), 0);
  EXPECT_TRUE(wait_readable(pidfd.get())) << "the worker outlives its supervisor";
  ASSERT_EQ(::waitpid(supervisor, nullptr, 0), supervisor);
  ::close(report[0]);
  ::close(report[1]);
}

TEST(SupervisorDeath, AnIdleWorkerDiesWithItsSupervisor) { kill_the_supervisor_of(false); }
TEST(SupervisorDeath, ABusyWorkerDiesWithItsSupervisor) { kill_the_supervisor_of(true); }

TEST(WorkerStart, ByHandItSaysWhoStartsWorkersAndExitsWith2) {
  int output[2];
  ASSERT_EQ(::pipe2(output, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::dup2(output[1], 2);
    for (int fd = 3; fd < 64; ++fd) ::close(fd);
    ::execl(CUZK_RUNTIME_SUBJECT, "worker", "--name", "by hand", nullptr);
    ::_exit(127);
  }
  ::close(output[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << status;
  char text[1000] = {};
  ASSERT_GT(::read(output[0], text, sizeof text - 1), 0);
  EXPECT_NE(std::string(text).find("cuzk-supervisor"), std::string::npos) << text;
  ::close(output[0]);
}

TEST(WorkerStart, AWorkerOfAnotherEpochIsRefused) {
  auto channel = shm::WorkerChannel::create(WorkerIndex{1}, Epoch{7});
  ASSERT_TRUE(channel);
  WorkerOptions options;
  options.name = "subject";
  options.epoch = Epoch{8};
  options.log.level = "off";
  const pid_t child = start_subject(*channel, options);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << status;
}

// A worker that starts after its supervisor died finds another parent, and goes.
TEST(WorkerStart, AnOrphanRefusesToStart) {
  auto channel = shm::WorkerChannel::create(WorkerIndex{1}, Epoch{7});  // says that we are the parent
  ASSERT_TRUE(channel);
  WorkerOptions options;
  options.name = "subject";
  options.epoch = Epoch{7};
  options.log.level = "off";
  const pid_t between = ::fork();
  ASSERT_GE(between, 0);
  if (between == 0) {
    const pid_t grandchild = start_subject(*channel, options);
    int status = 0;
    ::waitpid(grandchild, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(between, &status, 0), between);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << status;
}

}  // namespace
}  // namespace cuzk
