// The worker's side of its channel: the region, the rings and the control socket that it was born with.
//
// Only mechanism; common/worker/runtime.hpp makes a command loop of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.hpp"
#include "common/types.hpp"
#include "common/worker/messages.hpp"
#include "shm/fd_socket.hpp"
#include "shm/region.hpp"
#include "shm/slot_word.hpp"

namespace cuzk::shm {

// A command from the supervisor, checked.
struct Command {
  CommandKind kind{};
  TaskId task;
  SlotIndex slot;      // for logs; the descriptor comes over the control socket
  SlotWord slot_word;  // of the slot as the supervisor's table has it
  std::string body;

  // The body as a message of common/worker/messages.hpp; kBug when it is another.
  template <class Message>
  Result<Message> as() const {
    auto message = decode<Message>(body);
    if (!message) return bug(message.error().what, "command body");
    return message;
  }
};

class WorkerEndpoint {
 public:
  // Takes the four descriptors over, sets close-on-exec, maps the region and checks its header.
  // Errors: kOperator when they are not what a supervisor hands over (started by hand).
  static Result<WorkerEndpoint> attach(UniqueFd control, UniqueFd region, UniqueFd command_eventfd,
                                       UniqueFd event_eventfd);
  WorkerEndpoint(WorkerEndpoint&&) = default;
  WorkerEndpoint& operator=(WorkerEndpoint&&) = default;

  WorkerIndex worker() const;
  Epoch epoch() const;
  // Whose child this process is if the supervisor still lives.
  int supervisor_pid() const;

  int command_fd() const { return command_eventfd_.get(); }
  FdSocket& control() { return control_; }

  void clear_wake() { drain_eventfd(command_eventfd_.get()); }
  Result<std::optional<Command>> pop_command();

  // Errors: kBusy when the ring is full or, for progress, nearly full; then nothing was sent.
  Status push_event(EventKind kind, TaskId task, std::string_view body);

  // Whether the supervisor said that nobody wants this task any more.
  bool cancelled(TaskId task) const;
  void set_task(TaskId task) { page_.set_task(task); }
  void mark(TaskId task, std::string_view step, std::uint32_t permille) {
    page_.mark(task, step, permille);
  }

 private:
  WorkerEndpoint(FdSocket control, UniqueFd region, Mapping mapping, UniqueFd command_eventfd,
                 UniqueFd event_eventfd);
  Region& region() const { return *reinterpret_cast<Region*>(mapping_.data()); }

  FdSocket control_;
  UniqueFd region_fd_;
  Mapping mapping_;
  UniqueFd command_eventfd_;
  UniqueFd event_eventfd_;
  RingConsumer commands_;
  RingProducer events_;
  WorkerPageWriter page_;
};

}  // namespace cuzk::shm
