// How long a message takes from process to process, and how many pass in a second.
//
// Two real processes on the real channel: the supervisor's side here, the worker's side in a child. A
// hop is half of a round trip in which each side sleeps in poll() on its eventfd, as in production.
// Usage: bench_shm [round trips]. Prints microseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "shm/channel.hpp"
#include "shm/endpoint.hpp"

namespace cuzk::shm {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "bench_shm: {}\n", error.message());
  std::exit(1);
}

template <class T>
T value_of(Result<T> result) {
  if (!result) give_up(result.error());
  return *std::move(result);
}

void sleep_until_readable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  while (::poll(&wait, 1, -1) < 1) {
  }
}

// The child: answers every command with its own body, until the one without a task.
void echo(WorkerEndpoint endpoint) {
  while (true) {
    auto command = value_of(endpoint.pop_command());
    if (!command) {
      sleep_until_readable(endpoint.command_fd());
      endpoint.clear_wake();
      continue;
    }
    if (command->task == TaskId{0}) return;
    while (true) {
      const Status pushed = endpoint.push_event(EventKind::kDone, command->task, command->body);
      if (pushed) break;
      if (pushed.error().error_class != ErrorClass::kBusy) give_up(pushed.error());
      ::poll(nullptr, 0, 1);
    }
  }
}

Event wait_event(WorkerChannel& channel) {
  while (true) {
    auto event = value_of(channel.pop_event());
    if (event) return *std::move(event);
    sleep_until_readable(channel.event_fd());
    channel.clear_wake();
  }
}

void push(WorkerChannel& channel, std::uint64_t task, const std::string& body) {
  const Status pushed =
      channel.push_command(CommandKind::kVerify, TaskId{task}, SlotIndex{0}, kFreshSlot, body);
  if (!pushed) give_up(pushed.error());
}

void measure_hops(WorkerChannel& channel, std::size_t bytes, std::size_t most) {
  const std::size_t count = bytes < kPunchBytes ? most : std::max<std::size_t>(10, most / 50);
  const std::string body(bytes, 'b');
  std::vector<double> microseconds;
  for (std::size_t i = 0; i < count + count / 10; ++i) {
    const auto start = Clock::now();
    push(channel, i + 1, body);
    (void)wait_event(channel);
    const std::chrono::duration<double, std::micro> took = Clock::now() - start;
    if (i >= count / 10) microseconds.push_back(took.count() / 2);  // the first tenth warms up
  }
  std::sort(microseconds.begin(), microseconds.end());
  const auto at = [&](double part) {
    return microseconds[static_cast<std::size_t>(part * static_cast<double>(count - 1))];
  };
  fmt::print("hop, {:>7} byte body: p50 {:8.2f} us   p90 {:8.2f} us   p99 {:8.2f} us\n", bytes, at(0.5),
             at(0.9), at(0.99));
}

void measure_rate(WorkerChannel& channel, std::size_t bytes, std::size_t count) {
  const std::string body(bytes, 'b');
  const auto start = Clock::now();
  std::size_t sent = 0;
  for (std::size_t received = 0; received < count; ++received) {
    // Half a ring in flight: neither side runs dry and no answer waits for room.
    while (sent < count && sent - received < kRingEntries / 2) push(channel, ++sent, body);
    (void)wait_event(channel);
  }
  const std::chrono::duration<double> took = Clock::now() - start;
  fmt::print("command and answer, {:>7} byte body: {:.0f} a second\n", bytes,
             static_cast<double>(count) / took.count());
}

int run(std::size_t count) {
  WorkerChannel channel = value_of(WorkerChannel::create(WorkerIndex{0}, Epoch{1}));
  const pid_t child = ::fork();
  if (child < 0) give_up(system_error(ErrorClass::kRetryHere, "fork", "bench_shm"));
  if (child == 0) {
    std::array<UniqueFd, 4> fds;
    for (std::size_t i = 0; i < 4; ++i) fds[i] = UniqueFd(::dup(channel.child_fds()[i]));
    echo(value_of(WorkerEndpoint::attach(std::move(fds[0]), std::move(fds[1]), std::move(fds[2]),
                                         std::move(fds[3]))));
    ::_exit(0);
  }
  channel.close_child_side();
  for (const std::size_t bytes : {0u, 200u, 4096u, 65536u, 1048576u}) measure_hops(channel, bytes, count);
  for (const std::size_t bytes : {0u, 200u, 4096u}) measure_rate(channel, bytes, count);
  push(channel, 0, {});
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace
}  // namespace cuzk::shm

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20'000;
  if (count < 10 || count > 10'000'000) {
    fmt::print(stderr, "usage: bench_shm [round trips, 10 to 10000000]\n");
    return 2;
  }
  return cuzk::shm::run(static_cast<std::size_t>(count));
}
