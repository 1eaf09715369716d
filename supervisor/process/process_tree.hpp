// The worker processes: started, watched, and started again.
//
// Each worker has one process at a time; each process is an epoch. Death is seen through a pidfd in
// the loop, what the worker said before it died is heard first, and a worker that breaks the
// protocol is killed. Time is the clock's: `tick` does whatever is due.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "common/worker/options.hpp"
#include "supervisor/clock.hpp"
#include "supervisor/process/launcher.hpp"
#include "supervisor/process/restart_policy.hpp"
#include "supervisor/process/worker_process.hpp"
#include "supervisor/scheduler/dispatcher.hpp"
#include "supervisor/scheduler/worker_names.hpp"

namespace cuzk::supervisor {

class ProcessTree final : public WorkerPort, public WorkerNames {
 public:
  struct Settings {
    RestartSettings restart;
    Duration start_limit = std::chrono::seconds(60);  // from exec to ready
    Duration stop_grace = std::chrono::seconds(10);   // from the request to SIGKILL
  };
  ProcessTree(Settings settings, boost::asio::io_context& loop, const Clock& clock,
              Launcher& launcher, WorkerListener& listener);
  ~ProcessTree() override;

  // Adds a worker and starts it. Its index is its place in workers().
  void add(WorkerSpec spec);

  // Starts what is due, kills what is late.
  void tick();
  std::optional<TimePoint> next_deadline() const;

  // Asks all workers to finish and exit; none is started again.
  void shut_down();
  void kill_all(const std::string& reason);
  bool all_stopped() const;

  // WorkerPort
  Status send(WorkerLife life, TaskId task, CommandKind kind, Command command) override;
  void cancel(WorkerLife life, TaskId task) override;

  // WorkerNames
  std::string worker_name(WorkerIndex worker) const override;
  std::string device_name(WorkerIndex worker) const override;

  // A message that is no task.
  void notify(WorkerIndex worker, CommandKind kind, const std::string& body);
  void kill(WorkerLife life, const std::string& reason);

  const std::vector<std::unique_ptr<WorkerProcess>>& workers() const { return workers_; }

 private:
  WorkerProcess* find(WorkerLife life);
  void reap_strangers();

  Settings settings_;
  boost::asio::io_context& loop_;
  const Clock& clock_;
  Launcher& launcher_;
  WorkerListener& listener_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
};

}  // namespace cuzk::supervisor
