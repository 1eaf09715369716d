// Worker processes that a test plays in its own process and thread.
//
// They speak the real channel over real shared memory; only their pids are invented. Unless a test
// intercepts a command, it is answered as a healthy worker would, with made-up keys and proofs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/worker/options.hpp"
#include "shm/endpoint.hpp"
#include "supervisor/process/launcher.hpp"

namespace cuzk::supervisor {

class FakeWorker {
 public:
  FakeWorker(pid_t pid, const SpawnRequest& request);

  // Takes descriptors and the next command, if there is one.
  std::optional<shm::Command> next();
  UniqueFd take_fd(TaskId task, FdRole role);

  void say_ready() { say(EventKind::kReady, TaskId{0}, {}); }
  void done(TaskId task, const std::string& body) { say(EventKind::kDone, task, body); }
  void failed(TaskId task, const Error& error) { say(EventKind::kFailed, task, encode(error)); }
  void say(EventKind kind, TaskId task, const std::string& body);
  void print(const std::string& text);
  // Ends the process as the kernel would report it.
  void die(ExitStatus status);

  const std::string& name() const { return options_.name; }
  const WorkerOptions& options() const { return options_; }
  bool is_gpu() const { return name().starts_with("gpu"); }
  bool dead() const { return status_.has_value(); }
  pid_t pid() const { return pid_; }
  shm::WorkerEndpoint& endpoint() { return *endpoint_; }

  std::vector<int> signals;
  bool obeys_sigterm = true;

 private:
  friend class FakeWorkers;
  pid_t pid_;
  WorkerOptions options_;
  std::optional<shm::WorkerEndpoint> endpoint_;
  UniqueFd death_;   // an eventfd in a pidfd's place
  UniqueFd output_;  // its standard error
  Child child_;      // what the launcher hands out
  std::optional<ExitStatus> status_;
  std::map<std::pair<TaskId, FdRole>, UniqueFd> fds_;
};

class FakeWorkers final : public Launcher {
 public:
  // Returns true when the test has dealt with the command itself (or wants it to wait for ever).
  using Intercept = std::function<bool(FakeWorker&, const shm::Command&)>;

  Result<Child> spawn(const SpawnRequest& request) override;
  std::optional<ExitStatus> reap(const Child& child) override;
  void signal(const Child& child, int signal_number) override;
  void reap_strangers(const std::set<pid_t>&) override {}

  // Lets every living worker take and answer what was sent to it.
  void step();
  // Answers a command as a healthy worker does.
  void answer(FakeWorker& worker, const shm::Command& command);

  FakeWorker* find(const std::string& name);  // its present, living process
  std::size_t started(const std::string& name) const;
  int commands_taken() const;
  void forget() { workers_.clear(); }  // with their supervisor

  Intercept intercept;
  std::function<void(FakeWorker&)> on_start = [](FakeWorker& worker) { worker.say_ready(); };
  std::optional<Error> refuse_start;
  std::map<CommandKind, int> commands;  // how many were taken
  bool proofs_are_valid = true;

 private:
  std::vector<std::unique_ptr<FakeWorker>> workers_;
  pid_t last_pid_ = 1'000'000'000;
};

// What the made-up keys look like.
inline constexpr std::uint64_t kFakeVariables = 4;
inline constexpr std::uint64_t kFakePublics = 1;

}  // namespace cuzk::supervisor
