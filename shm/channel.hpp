// The supervisor's side of a worker process: commands and descriptors out, events in.
//
// One channel for each process: a restarted worker gets a new one, so nothing of a dead process is ever
// mistaken for its successor's. What comes in is checked before it is returned; a worker that breaks the
// rules yields an Error, from then on always, and deserves to be killed. No call blocks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocol/archive.hpp"
#include "common/result.hpp"
#include "common/types.hpp"
#include "common/worker/messages.hpp"
#include "shm/fd_socket.hpp"
#include "shm/region.hpp"
#include "shm/slot_word.hpp"

namespace cuzk::shm {

// An event whose kind is one of EventKind and whose body is at most 1 MiB.
struct Event {
  EventKind kind{};
  TaskId task;  // 0 for kReady
  std::string body;

  // The body as a message; kBug when the worker sent something else.
  template <class Message>
  Result<Message> as() const {
    auto message = decode<Message>(body);
    if (!message) return bug(message.error().what, "event body");
    return message;
  }
  // The error of a kFailed event, with a class that exists.
  Error failure() const;
};

class WorkerChannel {
 public:
  static Result<WorkerChannel> create(WorkerIndex worker, Epoch epoch);
  WorkerChannel(WorkerChannel&&) = default;
  WorkerChannel& operator=(WorkerChannel&&) = default;

  WorkerIndex worker() const { return worker_; }
  Epoch epoch() const { return epoch_; }

  // The worker's descriptors in the order in which they become 3, 4, 5 and 6 in the child. All are
  // close-on-exec; dup2 to another number clears that.
  std::array<int, 4> child_fds() const;
  // After the child is started: without this, its end would not be seen on the control socket.
  void close_child_side() { child_control_.close(); }

  // Readable when events may be waiting; for the supervisor's loop.
  int event_fd() const { return event_eventfd_.get(); }
  // Readable (end-of-file) when the worker closed its side.
  int control_fd() const { return control_.fd(); }

  // Sends the descriptors, then the command, then wakes the worker. Errors: kBusy when the ring or the
  // socket is full (nothing was sent; try again after the worker's next event), kRetryElsewhere when the
  // worker is gone, kBug when the worker broke its side.
  Status push_command(CommandKind kind, TaskId task, SlotIndex slot, const SlotWord& slot_word,
                      std::string_view body, std::span<const LabelledFd> fds = {});
  // The same for a message of common/worker/messages.hpp.
  template <class Message>
  Status push(CommandKind kind, TaskId task, SlotIndex slot, const SlotWord& slot_word,
              const Message& message, std::span<const LabelledFd> fds = {}) {
    return push_command(kind, task, slot, slot_word, encode(message), fds);
  }
  // For commands that concern no slot.
  template <class Message>
  Status push(CommandKind kind, TaskId task, const Message& message,
              std::span<const LabelledFd> fds = {}) {
    return push_command(kind, task, SlotIndex{0}, kFreshSlot, encode(message), fds);
  }
  // Asks the worker to finish its task and exit.
  Status push_shutdown();

  // Call when event_fd() is readable, before popping: a wake that comes later is then not lost.
  void clear_wake() { drain_eventfd(event_eventfd_.get()); }
  // The next event or nothing. Works on a dead worker's channel too: what it said before it died counts.
  // At most kRingEntries events are waiting, but a wild worker refills: bound the pops of one loop turn.
  Result<std::optional<Event>> pop_event();

  // Tells the worker that nobody wants this task any more; it looks between steps.
  void cancel(TaskId task);
  // Call once a loop turn or second: shows people that the supervisor's loop turns.
  void beat();

  // Hints from the worker's page, for the watch-dog, the status and crash records.
  std::uint64_t progress() const { return view().progress(); }
  TaskId current_task() const { return view().task(); }
  std::vector<MarkCopy> marks() const { return view().marks(); }

 private:
  WorkerChannel(WorkerIndex worker, Epoch epoch, UniqueFd region, Mapping mapping, FdSocket control,
                FdSocket child_control, UniqueFd command_eventfd, UniqueFd event_eventfd);
  Region& region() const { return *reinterpret_cast<Region*>(mapping_.data()); }
  WorkerPageView view() const { return WorkerPageView(region().worker); }

  WorkerIndex worker_;
  Epoch epoch_;
  UniqueFd region_fd_;
  Mapping mapping_;
  FdSocket control_;
  FdSocket child_control_;
  UniqueFd command_eventfd_;
  UniqueFd event_eventfd_;
  RingProducer commands_;
  RingConsumer events_;
  std::optional<Error> broken_;  // set by the first event that breaks the rules
  std::size_t next_cancel_ = 0;
  std::uint64_t beats_ = 0;
};

}  // namespace cuzk::shm
