// Hands tasks to workers.
//
// Pure logic: events of workers come in, and commands leave through a WorkerPort, so that tests run
// it without a process. It promises that a task is given to one worker at most, that it ends
// exactly once, that the best place in the queue goes first within its kind, and that long tasks
// leave one synth worker to the short ones wherever there are two.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "supervisor/clock.hpp"
#include "supervisor/scheduler/task.hpp"

namespace cuzk::supervisor {

// The way to the workers.
class WorkerPort {
 public:
  virtual ~WorkerPort() = default;
  // Sends a command. On an error nothing was sent, and the port ends that worker by itself.
  virtual Status send(WorkerLife life, TaskId task, CommandKind kind, Command command) = 0;
  // Asks the worker to give up a task at its next step, or before it begins; it still answers.
  virtual void cancel(WorkerLife life, TaskId task) = 0;
};

class Dispatcher {
 public:
  explicit Dispatcher(WorkerPort& port) : port_(port) {}

  TaskId submit(TaskRequest request);

  enum class StopResult { kUnknown, kWithdrawn, kStopping };
  // A task that has not started is forgotten (its `ended` is not called); a running one is asked to
  // stop and ends as usual.
  StopResult stop(TaskId task);

  // A worker takes commands from now on. `capacity`: tasks it holds at once (the first runs).
  void worker_ready(WorkerLife life, WorkerRole role, std::uint32_t capacity);
  // No new tasks for it; those it has go on.
  void worker_draining(WorkerIndex worker);
  // It is dead: its tasks end with kDied, the first of them blamed.
  void worker_died(WorkerLife life, const Error& death);

  // An answer of a worker. False: it does not have that task, so it lies.
  bool task_ended(WorkerLife life, TaskId task, Ending ending, std::string body, Error error);
  bool task_progress(WorkerLife life, TaskId task, const TaskProgress& progress);

  // Gives waiting tasks to workers that have room. Call it after any of the above.
  void dispatch();

  struct Running {
    TaskId task;
    CommandKind kind{};
    std::optional<JobId> job;
  };
  // What the worker has, the one it works on first.
  std::deque<Running> tasks_of(WorkerIndex worker) const;
  std::size_t queued(CommandKind kind) const;
  std::size_t ready_workers(WorkerRole role) const;
  bool idle() const { return tasks_.empty(); }

 private:
  struct Task {
    TaskRequest request;
    std::optional<WorkerIndex> worker;  // running there
  };
  struct Worker {
    WorkerLife life;
    WorkerRole role{};
    std::uint32_t capacity = 1;
    bool draining = false;
    std::deque<TaskId> tasks;  // in the order in which they were sent
    std::uint64_t last_affinity = 0;
  };
  using Place = std::pair<std::int64_t, std::uint64_t>;  // order, task id
  using Queue = std::set<Place>;

  enum class Attempt { kStarted, kWaits, kEnded };
  Attempt try_start(TaskId id, Worker& worker);
  Worker* choose_worker(const TaskRequest& request);
  bool has_room(const Worker& worker) const;
  bool long_task_allowed() const;
  Worker* find(WorkerLife life);
  // The kind whose head goes next for `role`, leaving out `blocked` kinds.
  std::optional<CommandKind> next_kind(WorkerRole role, const std::set<CommandKind>& blocked) const;
  void dispatch_role(WorkerRole role);
  void end(TaskId id, Outcome outcome);

  WorkerPort& port_;
  std::map<TaskId, Task> tasks_;
  std::map<CommandKind, Queue> queues_;
  std::map<WorkerIndex, Worker> workers_;
  std::uint64_t last_task_ = 0;
};

}  // namespace cuzk::supervisor
