// The command loop of a worker process.
//
// A worker's main parses its options, attaches, says ready(), and then takes one command after the other
// with next(), answering each with exactly one done() or failed(). The runtime does what every worker
// must do alike: live no longer than the supervisor, stop politely, hold the descriptors of waiting
// tasks, show progress. All functions but cancelled() belong to one thread, the one that works.
//
//     auto runtime = WorkerRuntime::attach(options);
//     (*runtime)->ready();
//     while (auto command = (*runtime)->next()) { ... (*runtime)->done(result); }
//     return (*runtime)->exit_code();
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocol/archive.hpp"
#include "common/result.hpp"
#include "common/types.hpp"
#include "common/unique_fd.hpp"
#include "common/worker/messages.hpp"
#include "common/worker/options.hpp"
#include "shm/endpoint.hpp"

namespace cuzk {

using shm::Command;

class WorkerRuntime {
 public:
  // Call before any thread is started: it blocks SIGTERM for the whole process (taken in next()),
  // ignores SIGPIPE and SIGINT (a terminal's Ctrl-C reaches the supervisor, which decides), asks the
  // kernel for SIGKILL when the supervisor dies, and takes the descriptors 3 to 6 over. Sets up logging.
  // Errors: kOperator when started by hand, kUnavailable when the supervisor is already gone.
  static Result<std::unique_ptr<WorkerRuntime>> attach(const WorkerOptions& options);
  WorkerRuntime(const WorkerRuntime&) = delete;
  WorkerRuntime& operator=(const WorkerRuntime&) = delete;

  // Tells the supervisor that commands may come. Call once.
  void ready();

  // Waits for the next command; nothing when it is time to exit: SIGTERM, kShutdown, the supervisor is
  // gone, or the channel is broken. A command that was not answered is answered with kBug first.
  // Commands still waiting at exit are not run; the supervisor's tables know them.
  std::optional<Command> next();

  // The descriptor that came with the present command under this role. Errors: kBug when there is none.
  // Those that nobody takes are closed when the task ends.
  Result<UniqueFd> take_fd(FdRole role);
  bool has_fd(FdRole role);

  // End the present command with an encoded result, a message, no body, or an error. A command of kind
  // kDropKey ends with finish_silently(): it has no event.
  void done(std::string_view body);
  template <class Message>
    requires(!std::convertible_to<Message, std::string_view>)
  void done(const Message& message) {
    done(std::string_view(encode(message)));
  }
  void done() { done(std::string_view()); }
  void failed(const Error& error);
  void finish_silently();

  // Marks the worker page (what the watch-dog counts) and, at most every 100 ms or when the step
  // changes, tells the supervisor. `permille` of the step, 0 to 1000. Cheap enough for once a millisecond.
  void progress(std::string_view step, std::uint32_t permille);

  // Whether the present command should be given up: answer with failed(cancelled_error()). Any thread.
  bool cancelled() const;
  static Error cancelled_error() {
    return {ErrorClass::kOperator, "the job was cancelled", {}, {}};
  }

  WorkerIndex worker() const { return endpoint_.worker(); }
  Epoch epoch() const { return endpoint_.epoch(); }
  // For main's return: 0 after a polite end, 1 when the channel broke.
  int exit_code() const { return exit_code_; }

 private:
  struct HeldFd {
    TaskId task;
    FdRole role{};
    UniqueFd fd;
  };

  WorkerRuntime(shm::WorkerEndpoint endpoint, UniqueFd signals)
      : endpoint_(std::move(endpoint)), signals_(std::move(signals)) {}
  void stop(int exit_code, std::string_view why);
  void break_off(const Error& error);
  void wait();
  void read_signals();
  void read_control();
  void send(EventKind kind, TaskId task, std::string_view body);
  void end_task();

  shm::WorkerEndpoint endpoint_;
  UniqueFd signals_;
  std::vector<HeldFd> held_;  // of waiting tasks and the present one
  std::atomic<std::uint64_t> task_{0};  // relaxed: cancelled() may be asked by the task's threads
  CommandKind kind_{};        // of the present command
  bool answered_ = true;
  bool stopping_ = false;
  int exit_code_ = 0;
  std::string last_step_;
  std::chrono::steady_clock::time_point last_progress_{};
};

// Undoes in a child, between fork and exec, what attach did to signals: a program that a worker starts
// must not inherit a blocked SIGTERM. Async-signal-safe.
void restore_signals_for_child();

}  // namespace cuzk
