#include "supervisor/scheduler/dispatcher.hpp"

#include <algorithm>
#include <tuple>

namespace cuzk::supervisor {
namespace {

// Kinds that free a slot or finish a job go before those that begin one. There are never more of
// them than slots, so they cannot keep the others out.
int rank_of(CommandKind kind) {
  switch (kind) {
    case CommandKind::kVerify: return 0;
    case CommandKind::kExplain:
    case CommandKind::kWipeSlot: return 1;
    default: return 2;
  }
}

}  // namespace

TaskId Dispatcher::submit(TaskRequest request) {
  const TaskId id{++last_task_};
  queues_[request.kind].insert({request.order, id.value});
  tasks_.emplace(id, Task{std::move(request), std::nullopt});
  return id;
}

Dispatcher::StopResult Dispatcher::stop(TaskId id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return StopResult::kUnknown;
  Task& task = found->second;
  if (!task.worker) {
    queues_[task.request.kind].erase({task.request.order, id.value});
    tasks_.erase(found);
    return StopResult::kWithdrawn;
  }
  port_.cancel(workers_.at(*task.worker).life, id);
  return StopResult::kStopping;
}

void Dispatcher::worker_ready(WorkerLife life, WorkerRole role, std::uint32_t capacity) {
  workers_[life.worker] = Worker{life, role, std::max(capacity, 1U), false, {}, 0};
}

void Dispatcher::worker_draining(WorkerIndex index) {
  const auto found = workers_.find(index);
  if (found != workers_.end()) found->second.draining = true;
}

void Dispatcher::worker_died(WorkerLife life, const Error& death) {
  Worker* worker = find(life);
  if (worker == nullptr) return;
  const std::deque<TaskId> lost = std::move(worker->tasks);
  workers_.erase(life.worker);
  bool blamed = true;
  for (const TaskId id : lost) {
    end(id, Outcome{Ending::kDied, {}, death, life, blamed});
    blamed = false;
  }
}

bool Dispatcher::task_ended(WorkerLife life, TaskId id, Ending ending, std::string body,
                            Error error) {
  Worker* worker = find(life);
  if (worker == nullptr) return false;
  // A worker does its tasks in the order in which it got them.
  if (worker->tasks.empty() || worker->tasks.front() != id) return false;
  worker->tasks.pop_front();
  end(id, Outcome{ending, std::move(body), std::move(error), life, false});
  return true;
}

bool Dispatcher::task_progress(WorkerLife life, TaskId id, const TaskProgress& progress) {
  Worker* worker = find(life);
  if (worker == nullptr || worker->tasks.empty() || worker->tasks.front() != id) return false;
  const TaskRequest& request = tasks_.at(id).request;
  if (request.progress) request.progress(progress);
  return true;
}

void Dispatcher::end(TaskId id, Outcome outcome) {
  const auto found = tasks_.find(id);
  const auto ended = std::move(found->second.request.ended);
  tasks_.erase(found);  // first: `ended` may submit and stop tasks
  ended(std::move(outcome));
}

void Dispatcher::dispatch() {
  dispatch_role(WorkerRole::kSynth);
  dispatch_role(WorkerRole::kGpu);
}

void Dispatcher::dispatch_role(WorkerRole role) {
  std::set<CommandKind> blocked;
  while (const auto kind = next_kind(role, blocked)) {
    const TaskId id{queues_[*kind].begin()->second};
    Worker* worker = choose_worker(tasks_.at(id).request);
    if (worker == nullptr || try_start(id, *worker) == Attempt::kWaits) blocked.insert(*kind);
  }
}

std::optional<CommandKind> Dispatcher::next_kind(WorkerRole role,
                                                 const std::set<CommandKind>& blocked) const {
  std::optional<CommandKind> best;
  std::tuple<int, Place> best_key;
  for (const auto& [kind, queue] : queues_) {
    if (queue.empty() || role_of(kind) != role || blocked.contains(kind)) continue;
    const std::tuple<int, Place> key{rank_of(kind), *queue.begin()};
    if (!best || key < best_key) {
      best = kind;
      best_key = key;
    }
  }
  return best;
}

bool Dispatcher::has_room(const Worker& worker) const {
  return !worker.draining && worker.tasks.size() < worker.capacity;
}

bool Dispatcher::long_task_allowed() const {
  std::size_t ready = 0;
  std::size_t busy_long = 0;
  for (const auto& [index, worker] : workers_) {
    if (worker.role != WorkerRole::kSynth || worker.draining) continue;
    ++ready;
    busy_long += static_cast<std::size_t>(std::ranges::any_of(
        worker.tasks, [this](TaskId id) { return tasks_.at(id).request.long_running; }));
  }
  return ready < 2 || busy_long + 1 < ready;
}

Dispatcher::Worker* Dispatcher::choose_worker(const TaskRequest& request) {
  const WorkerRole role = role_of(request.kind);
  if (request.long_running && !long_task_allowed()) return nullptr;
  std::size_t others = 0;
  for (const auto& [index, worker] : workers_) {
    others +=
        static_cast<std::size_t>(worker.role == role && !worker.draining && request.avoid != index);
  }
  Worker* best = nullptr;
  std::tuple<std::size_t, int> best_key;
  for (auto& [index, worker] : workers_) {
    if (worker.role != role || !has_room(worker)) continue;
    if (request.avoid == index && others > 0) continue;
    const bool warm = request.affinity != 0 && worker.last_affinity == request.affinity;
    const std::tuple<std::size_t, int> key{worker.tasks.size(), warm ? 0 : 1};
    if (best == nullptr || key < best_key) {
      best = &worker;
      best_key = key;
    }
  }
  return best;
}

Dispatcher::Attempt Dispatcher::try_start(TaskId id, Worker& worker) {
  Task& task = tasks_.at(id);
  const WorkerLife life = worker.life;
  auto command = task.request.build(life);
  if (command && !*command) return Attempt::kWaits;
  queues_[task.request.kind].erase({task.request.order, id.value});
  if (!command) {
    end(id, Outcome{Ending::kFailed, {}, std::move(command).error(), life, false});
    return Attempt::kEnded;
  }
  const auto sent = port_.send(life, id, task.request.kind, std::move(**command));
  if (!sent) {
    worker.draining = true;  // the port ends it
    end(id, Outcome{Ending::kDied, {}, sent.error(), life, false});
    return Attempt::kEnded;
  }
  task.worker = life.worker;
  worker.tasks.push_back(id);
  worker.last_affinity = task.request.affinity;
  return Attempt::kStarted;
}

Dispatcher::Worker* Dispatcher::find(WorkerLife life) {
  const auto found = workers_.find(life.worker);
  return found != workers_.end() && found->second.life == life ? &found->second : nullptr;
}

std::deque<Dispatcher::Running> Dispatcher::tasks_of(WorkerIndex index) const {
  std::deque<Running> running;
  const auto found = workers_.find(index);
  if (found == workers_.end()) return running;
  for (const TaskId id : found->second.tasks) {
    const TaskRequest& request = tasks_.at(id).request;
    running.push_back({id, request.kind, request.job});
  }
  return running;
}

std::size_t Dispatcher::queued(CommandKind kind) const {
  const auto found = queues_.find(kind);
  return found == queues_.end() ? 0 : found->second.size();
}

std::size_t Dispatcher::ready_workers(WorkerRole role) const {
  return static_cast<std::size_t>(std::ranges::count_if(workers_, [role](const auto& entry) {
    return entry.second.role == role && !entry.second.draining;
  }));
}

}  // namespace cuzk::supervisor
