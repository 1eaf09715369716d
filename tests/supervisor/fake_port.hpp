// Workers that exist only as what was sent to them.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "supervisor/scheduler/dispatcher.hpp"

namespace cuzk::supervisor {

class FakePort final : public WorkerPort {
 public:
  struct Sent {
    WorkerLife life;
    TaskId task;
    CommandKind kind{};
    Command command;
  };

  Status send(WorkerLife life, TaskId task, CommandKind kind, Command command) override {
    if (refuse == life.worker)
      return Error{ErrorClass::kRetryElsewhere, "the ring is full", {}, {}};
    sent.push_back({life, task, kind, std::move(command)});
    return {};
  }
  void cancel(WorkerLife, TaskId task) override { cancelled.push_back(task); }

  // The last command of this kind; a test that asks for one that was not sent fails.
  Sent& last(CommandKind kind) {
    const auto found =
        std::find_if(sent.rbegin(), sent.rend(), [kind](const Sent& s) { return s.kind == kind; });
    if (found == sent.rend())
      throw std::runtime_error(std::string("nothing sent: ") + name_of(kind));
    return *found;
  }
  std::size_t count(CommandKind kind) const {
    return static_cast<std::size_t>(
        std::count_if(sent.begin(), sent.end(), [kind](const Sent& s) { return s.kind == kind; }));
  }

  std::vector<Sent> sent;
  std::vector<TaskId> cancelled;
  std::optional<WorkerIndex> refuse;
};

}  // namespace cuzk::supervisor
