// One worker and the process that is it at the moment.
//
//   backing-off ─▶ starting ─▶ ready ─▶ (death) ─▶ backing-off ...
//   any of them ─▶ stopping ─▶ stopped
//
// Everything that belongs to one process (channel, pidfd, output pipe) sits in `Life` and goes with
// it, so nothing of a dead process can be taken for its successor's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "common/worker/options.hpp"
#include "shm/channel.hpp"
#include "supervisor/clock.hpp"
#include "supervisor/fd_watch.hpp"
#include "supervisor/process/launcher.hpp"
#include "supervisor/process/output_tail.hpp"
#include "supervisor/process/restart_policy.hpp"
#include "supervisor/scheduler/task.hpp"

namespace cuzk::supervisor {

struct WorkerSpec {
  WorkerRole role{};
  std::filesystem::path program;
  WorkerOptions options;       // the epoch is set at each start
  std::uint32_t capacity = 1;  // tasks it holds at once
};

enum class WorkerState : std::uint8_t { kBackingOff, kStarting, kReady, kStopping, kStopped };

constexpr const char* name_of(WorkerState state) {
  switch (state) {
    case WorkerState::kBackingOff: return "backing-off";
    case WorkerState::kStarting: return "starting";
    case WorkerState::kReady: return "ready";
    case WorkerState::kStopping: return "stopping";
    case WorkerState::kStopped: return "stopped";
  }
  return "unknown";
}

class WorkerProcess;

// Who is told about workers.
class WorkerListener {
 public:
  virtual ~WorkerListener() = default;
  virtual void worker_ready(const WorkerProcess& worker) = 0;
  // kProgress, kDone, kFailed. An error says that the worker lies; it is killed.
  virtual Status worker_event(const WorkerProcess& worker, shm::Event event) = 0;
  virtual void worker_stopping(const WorkerProcess& worker) = 0;
  virtual void worker_died(const WorkerProcess& worker, WorkerLife life, const Error& death) = 0;
};

class WorkerProcess {
 public:
  WorkerProcess(WorkerIndex index, WorkerSpec spec, RestartSettings restart,
                boost::asio::io_context& loop, const Clock& clock, Launcher& launcher,
                WorkerListener& listener);

  void start(Duration start_limit);
  void tick(Duration start_limit);
  std::optional<TimePoint> next_deadline() const;
  // Asks it to finish and exit; SIGKILL after `grace`. It is not started again.
  void stop(Duration grace);
  void kill(const std::string& reason);

  Status send(TaskId task, CommandKind kind, Command command);
  void cancel(TaskId task);
  void beat();

  const WorkerSpec& spec() const { return spec_; }
  const std::string& name() const { return spec_.options.name; }
  WorkerIndex index() const { return index_; }
  WorkerLife life() const { return {index_, epoch_}; }
  WorkerState state() const { return state_; }
  std::uint32_t restarts() const { return restarts_; }
  pid_t pid() const { return life_ ? life_->child.pid : 0; }
  // What its last progress mark names; a hint for people.
  std::string last_step() const;
  const std::string& last_death() const { return last_death_; }
  std::optional<TimePoint> died_at() const { return died_at_; }

 private:
  struct Life {
    Life(shm::WorkerChannel its_channel, Child its_child)
        : channel(std::move(its_channel)),
          child(std::move(its_child)) {}
    shm::WorkerChannel channel;
    Child child;
    std::optional<FdWatch> events;  // the watches go before what they watch
    std::optional<FdWatch> death;
    std::optional<FdWatch> output;
    std::optional<TimePoint> ready_since;
    std::string kill_reason;
  };

  Status launch();
  void read_events();
  bool handle(shm::Event event);
  void read_output();
  void relay(const std::string& line) const;
  void reap();
  void on_death(const Error& death, std::optional<TimePoint> ready_since);

  WorkerIndex index_;
  WorkerSpec spec_;
  boost::asio::io_context& loop_;
  const Clock& clock_;
  Launcher& launcher_;
  WorkerListener& listener_;
  RestartPolicy policy_;

  WorkerState state_ = WorkerState::kBackingOff;
  Epoch epoch_{0};
  std::uint32_t restarts_ = 0;
  // Of the present state: start again, give up starting, SIGKILL.
  std::optional<TimePoint> deadline_;
  std::unique_ptr<Life> life_;
  OutputTail tail_;
  std::string last_death_;
  std::optional<TimePoint> died_at_;
};

}  // namespace cuzk::supervisor
