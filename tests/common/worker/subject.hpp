// Starts the test worker on a channel and talks to it with a deadline.
#pragma once

#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "common/worker/options.hpp"
#include "shm/channel.hpp"

namespace cuzk {

inline constexpr int kPatienceMilliseconds = 20'000;

inline bool wait_readable(int fd, int milliseconds = kPatienceMilliseconds) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, milliseconds) == 1;
}

// fork and exec with the channel's descriptors as 3 to 6, as a launcher does it.
inline pid_t start_subject(const shm::WorkerChannel& channel, const WorkerOptions& options) {
  std::vector<std::string> arguments = to_arguments(options);
  std::vector<char*> argv{const_cast<char*>(CUZK_RUNTIME_SUBJECT)};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const auto fds = channel.child_fds();
  const pid_t child = ::fork();
  if (child != 0) return child;
  // First out of the way, then into place: the sources may themselves be 3 to 6.
  int moved[4];
  for (int i = 0; i < 4; ++i) moved[i] = ::fcntl(fds[static_cast<std::size_t>(i)], F_DUPFD_CLOEXEC, 100);
  for (int i = 0; i < 4; ++i) ::dup2(moved[i], shm::kControlSocketFd + i);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

class Subject {
 public:
  Subject() {
    auto channel = shm::WorkerChannel::create(WorkerIndex{1}, Epoch{7});
    if (!channel) throw std::runtime_error(channel.error().message());
    channel_.emplace(*std::move(channel));
    WorkerOptions options;
    options.name = "subject";
    options.epoch = Epoch{7};
    options.log.level = "warn";
    pid_ = start_subject(*channel_, options);
    channel_->close_child_side();
  }
  ~Subject() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  shm::WorkerChannel& channel() { return *channel_; }
  pid_t pid() const { return pid_; }
  void drop_channel() { channel_.reset(); }

  // The next event, progress included; none after the deadline or a broken channel.
  std::optional<shm::Event> next_event() {
    while (true) {
      auto event = channel_->pop_event();
      if (!event) {
        ADD_FAILURE() << event.error().message();
        return std::nullopt;
      }
      if (*event) return std::move(*event);
      if (!wait_readable(channel_->event_fd())) {
        ADD_FAILURE() << "no event came in time";
        return std::nullopt;
      }
      channel_->clear_wake();
    }
  }
  // The next event that is no progress.
  std::optional<shm::Event> next_answer() {
    while (true) {
      auto event = next_event();
      if (!event || event->kind != EventKind::kProgress) return event;
    }
  }
  bool wait_ready() {
    const auto event = next_event();
    return event && event->kind == EventKind::kReady && event->task == TaskId{0};
  }
  // The wait status of the ended process.
  int wait_end() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return status;
  }

 private:
  std::optional<shm::WorkerChannel> channel_;
  pid_t pid_ = 0;
};

}  // namespace cuzk
