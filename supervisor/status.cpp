// What `cuzkctl status` shows: a picture of all parts at one moment.

#include <map>

#include "supervisor/process/proc_stat.hpp"
#include "supervisor/supervisor.hpp"

namespace cuzk::supervisor {
namespace {

std::string describe(const std::deque<Dispatcher::Running>& tasks) {
  if (tasks.empty()) return {};
  const auto& first = tasks.front();
  std::string text = name_of(first.kind);
  if (first.job) text += fmt::format(" of job {}", first.job->value);
  if (tasks.size() > 1) text += fmt::format(", {} waiting", tasks.size() - 1);
  return text;
}

}  // namespace

std::vector<WorkerStatus> Supervisor::worker_statuses() const {
  std::vector<WorkerStatus> statuses;
  for (const auto& worker : tree_.workers()) {
    WorkerStatus status;
    status.name = worker->name();
    status.device = worker->spec().options.device;
    status.state = name_of(worker->state());
    status.pid = static_cast<std::uint32_t>(worker->pid());
    status.epoch = worker->life().epoch.value;
    status.restarts = worker->restarts();
    status.task = describe(dispatcher_.tasks_of(worker->index()));
    if (!status.task.empty()) status.step = worker->last_step();
    if (worker->pid() != 0) {
      if (const auto usage = read_usage(worker->pid())) {
        status.resident_bytes = usage->resident_bytes;
        status.cpu_ms = usage->cpu_ms;
      }
    }
    if (worker->died_at()) {
      const auto ago =
          std::chrono::duration_cast<std::chrono::seconds>(clock_.now() - *worker->died_at());
      status.last_death = fmt::format("{}, {} s ago", worker->last_death(), ago.count());
    }
    statuses.push_back(std::move(status));
  }
  return statuses;
}

StatusReply Supervisor::status() {
  StatusReply reply;
  reply.version = version_reply();
  reply.uptime_ms = microseconds_between(started_at_, clock_.now()) / 1000;
  reply.state_folder = folder_.root().string();
  reply.workers = worker_statuses();
  for (const SlotPool::View& slot : slots_.view()) {
    SlotStatus status;
    status.index = slot.index.value;
    status.state = shm::name_of(slot.word.state);
    if (slot.word.owner != shm::kNoOwner) status.owner = tree_.worker_name(slot.word.owner);
    status.generation = slot.word.generation.value;
    status.bytes = slot.bytes;
    status.job = slot.job;
    reply.slots.push_back(std::move(status));
  }
  std::map<JobState, std::uint64_t> counts;
  scheduler_.for_each([&counts](const Job& job) { ++counts[job.record.state]; });
  if (intake_.under_way() != 0) counts[JobState::kAccepted] += intake_.under_way();
  for (const auto& [state, jobs] : counts) reply.queue.push_back({name_of(state), jobs});
  reply.keys = keys_.list();
  reply.jobs_done = book_.jobs_done();
  reply.jobs_failed = book_.jobs_failed();
  return reply;
}

}  // namespace cuzk::supervisor
