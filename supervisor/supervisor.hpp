// The supervisor: wires the parts together and turns the loop.
//
// One thread. A turn is: run what is ready, hand out tasks, commit the journal, and only then let
// replies go. Nothing in a turn waits, except for that one flush to disk. If the journal cannot be
// written, the supervisor ends without sending the turn's replies: what it cannot keep it does not
// promise.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/config/config.hpp"
#include "supervisor/api/requests.hpp"
#include "supervisor/api/server.hpp"
#include "supervisor/clock.hpp"
#include "supervisor/intake/intake.hpp"
#include "supervisor/job_book.hpp"
#include "supervisor/journal/journal.hpp"
#include "supervisor/process/process_tree.hpp"
#include "supervisor/scheduler/dispatcher.hpp"
#include "supervisor/scheduler/scheduler.hpp"
#include "supervisor/slots/slot_pool.hpp"
#include "supervisor/stores/circuit_store.hpp"
#include "supervisor/stores/key_store.hpp"
#include "supervisor/stores/state_folder.hpp"

namespace cuzk::supervisor {

class Supervisor final : public WorkerListener {
 public:
  // Opens the state folder, the journal and the socket; starts nothing. `programs`: where the
  // worker programs lie. `launcher` and `clock` must outlive it.
  static Result<std::unique_ptr<Supervisor>> create(const Config& config,
                                                    const std::filesystem::path& programs,
                                                    Launcher& launcher, const Clock& clock);
  ~Supervisor() override;

  // Starts the workers, takes up open jobs, and serves until a signal or `shut_down`. Returns the
  // exit code: 0 after a polite end, 1 when the journal failed.
  int run();
  // One turn of the loop, waiting at most `patience` for something to happen. For tests.
  void turn(Duration patience);
  void start();
  void shut_down();
  bool finished() const;

  StatusReply status();

  // WorkerListener
  void worker_ready(const WorkerProcess& worker) override;
  Status worker_event(const WorkerProcess& worker, shm::Event event) override;
  void worker_stopping(const WorkerProcess& worker) override;
  void worker_died(const WorkerProcess& worker, WorkerLife life, const Error& death) override;

 private:
  Supervisor(const Config& config, const std::filesystem::path& programs, Launcher& launcher,
             const Clock& clock, StateFolder folder, Journal journal, UniqueFd listener);

  Status load();
  void resume_jobs();
  void preload_keys();
  void add_workers();
  void end_turn();
  void tick();
  void arm_timer();
  void watch_signals();
  void journal_failed(const Error& error);
  void log_start() const;
  std::vector<WorkerStatus> worker_statuses() const;
  bool folder_in_use(const std::string& folder) const;

  const Config config_;
  const std::filesystem::path programs_;
  const Clock& clock_;
  const TimePoint started_at_;

  boost::asio::io_context loop_;
  boost::asio::steady_timer timer_;
  boost::asio::signal_set signals_;

  StateFolder folder_;
  Journal journal_;
  ProcessTree tree_;
  Dispatcher dispatcher_;
  SlotPool slots_;
  KeyStore keys_;
  CircuitStore circuits_;
  JobBook book_;
  Scheduler scheduler_;
  Intake intake_;
  Requests requests_;
  ApiServer server_;

  std::optional<TimePoint> armed_for_;  // when the timer will fire
  std::optional<TimePoint> next_tick_;
  std::optional<TimePoint> next_prune_;
  bool announced_ready_ = false;
  bool stopping_ = false;
  bool failed_ = false;
};

}  // namespace cuzk::supervisor
