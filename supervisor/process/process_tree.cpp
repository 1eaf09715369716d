#include "supervisor/process/process_tree.hpp"

#include <algorithm>

#include <spdlog/spdlog.h>

namespace cuzk::supervisor {

ProcessTree::ProcessTree(Settings settings, boost::asio::io_context& loop, const Clock& clock,
                         Launcher& launcher, WorkerListener& listener)
    : settings_(settings),
      loop_(loop),
      clock_(clock),
      launcher_(launcher),
      listener_(listener) {}

ProcessTree::~ProcessTree() = default;

void ProcessTree::add(WorkerSpec spec) {
  const WorkerIndex index{static_cast<std::uint16_t>(workers_.size())};
  workers_.push_back(std::make_unique<WorkerProcess>(index, std::move(spec), settings_.restart,
                                                     loop_, clock_, launcher_, listener_));
  workers_.back()->start(settings_.start_limit);
}

void ProcessTree::tick() {
  for (const auto& worker : workers_) {
    worker->tick(settings_.start_limit);
    worker->beat();
  }
  reap_strangers();
}

void ProcessTree::reap_strangers() {
  std::set<pid_t> children;
  for (const auto& worker : workers_) {
    if (worker->pid() != 0) children.insert(worker->pid());
  }
  launcher_.reap_strangers(children);
}

std::optional<TimePoint> ProcessTree::next_deadline() const {
  std::optional<TimePoint> earliest;
  for (const auto& worker : workers_) {
    const auto deadline = worker->next_deadline();
    if (deadline && (!earliest || *deadline < *earliest)) earliest = deadline;
  }
  return earliest;
}

void ProcessTree::shut_down() {
  for (const auto& worker : workers_) worker->stop(settings_.stop_grace);
}

void ProcessTree::kill_all(const std::string& reason) {
  for (const auto& worker : workers_) worker->kill(reason);
}

bool ProcessTree::all_stopped() const {
  return std::ranges::all_of(
      workers_, [](const auto& worker) { return worker->state() == WorkerState::kStopped; });
}

WorkerProcess* ProcessTree::find(WorkerLife life) {
  if (life.worker.value >= workers_.size()) return nullptr;
  WorkerProcess* worker = workers_[life.worker.value].get();
  return worker->life() == life ? worker : nullptr;
}

Status ProcessTree::send(WorkerLife life, TaskId task, CommandKind kind, Command command) {
  WorkerProcess* worker = find(life);
  if (worker == nullptr) return Error{ErrorClass::kRetryElsewhere, "the worker is gone", {}, {}};
  return worker->send(task, kind, std::move(command));
}

void ProcessTree::cancel(WorkerLife life, TaskId task) {
  if (WorkerProcess* worker = find(life)) worker->cancel(task);
}

std::string ProcessTree::worker_name(WorkerIndex worker) const {
  return worker.value < workers_.size() ? workers_[worker.value]->name() : "no worker";
}

std::string ProcessTree::device_name(WorkerIndex worker) const {
  return worker.value < workers_.size() ? workers_[worker.value]->spec().options.device : "";
}

void ProcessTree::notify(WorkerIndex index, CommandKind kind, const std::string& body) {
  WorkerProcess& worker = *workers_[index.value];
  if (worker.state() != WorkerState::kReady) return;
  Command command;
  command.body = body;
  if (const auto sent = worker.send(TaskId{0}, kind, std::move(command)); !sent) {
    spdlog::warn("{}: {}", worker.name(), sent.error().message());
  }
}

void ProcessTree::kill(WorkerLife life, const std::string& reason) {
  if (WorkerProcess* worker = find(life)) worker->kill(reason);
}

}  // namespace cuzk::supervisor
