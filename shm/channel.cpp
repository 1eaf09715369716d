#include "shm/channel.hpp"

#include <unistd.h>

namespace cuzk::shm {

namespace {

bool known(std::uint16_t kind) {
  switch (static_cast<EventKind>(kind)) {
    case EventKind::kReady:
    case EventKind::kProgress:
    case EventKind::kDone:
    case EventKind::kFailed: return true;
  }
  return false;
}

// Has the bytes of an Error; a Result cannot hold an Error as its value.
struct ErrorBody {
  Error error;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(error);
  }
};

bool known(ErrorClass error_class) { return std::string_view(name_of(error_class)) != "unknown"; }

}  // namespace

Error Event::failure() const {
  auto decoded = as<ErrorBody>();
  if (!decoded) return std::move(decoded).error();
  if (!known(decoded->error.error_class)) {
    return bug("a worker's error has an unknown class", "event body");
  }
  return std::move(decoded->error);
}

Result<WorkerChannel> WorkerChannel::create(WorkerIndex worker, Epoch epoch) {
  CUZK_TRY(region, create_memfd("cuzk-worker", kRegionBytes));
  CUZK_TRY(mapping, Mapping::map(region, Mapping::Access::kReadWrite, 0, kRegionBytes));
  CUZK_TRY(sockets, FdSocket::pair());
  CUZK_TRY(command_eventfd, create_eventfd());
  CUZK_TRY(event_eventfd, create_eventfd());
  auto& header = reinterpret_cast<Region*>(mapping.data())->header;
  header.magic = kRegionMagic;
  header.version = kRegionVersion;
  header.worker = worker.value;
  header.epoch = epoch.value;
  header.supervisor_pid = static_cast<std::uint32_t>(::getpid());
  header.region_bytes = kRegionBytes;
  return WorkerChannel(worker, epoch, std::move(region), std::move(mapping),
                       std::move(sockets.first), std::move(sockets.second),
                       std::move(command_eventfd), std::move(event_eventfd));
}

WorkerChannel::WorkerChannel(WorkerIndex worker, Epoch epoch, UniqueFd region_fd, Mapping mapping,
                             FdSocket control, FdSocket child_control, UniqueFd command_eventfd,
                             UniqueFd event_eventfd)
    : worker_(worker),
      epoch_(epoch),
      region_fd_(std::move(region_fd)),
      mapping_(std::move(mapping)),
      control_(std::move(control)),
      child_control_(std::move(child_control)),
      command_eventfd_(std::move(command_eventfd)),
      event_eventfd_(std::move(event_eventfd)),
      commands_(region().commands, command_bodies(mapping_, region_fd_.get()),
                fmt::format("command ring of worker {} epoch {}", worker.value, epoch.value)),
      events_(region().events, event_bodies(mapping_, region_fd_.get()),
              fmt::format("event ring of worker {} epoch {}", worker.value, epoch.value)) {}

std::array<int, 4> WorkerChannel::child_fds() const {
  return {child_control_.fd(), region_fd_.get(), command_eventfd_.get(), event_eventfd_.get()};
}

Status WorkerChannel::push_command(CommandKind kind, TaskId task, SlotIndex slot,
                                   const SlotWord& slot_word, std::string_view body,
                                   std::span<const LabelledFd> fds) {
  if (body.size() > kBodyCellBytes) {
    return bug(fmt::format("a command of {} bytes exceeds {}", body.size(), kBodyCellBytes), "channel");
  }
  // Only this side fills the ring, so room seen now is still there after the descriptors are sent: a
  // refusal below leaves no descriptor behind at the worker.
  CUZK_TRY(free, commands_.free_entries());
  if (free == 0) return Error{ErrorClass::kBusy, "the worker's command ring is full", "channel", {}};
  if (!fds.empty()) CUZK_CHECK(control_.send(task, fds));
  RingEntry entry;
  entry.kind = static_cast<std::uint16_t>(kind);
  entry.slot = slot.value;
  entry.task = task.value;
  entry.slot_word = slot_word.pack();
  CUZK_CHECK(commands_.push(entry, std::as_bytes(std::span(body.data(), body.size()))));
  signal_eventfd(command_eventfd_.get());
  return {};
}

Status WorkerChannel::push_shutdown() {
  return push_command(CommandKind::kShutdown, TaskId{0}, SlotIndex{0}, kFreshSlot, {});
}

Result<std::optional<Event>> WorkerChannel::pop_event() {
  if (broken_) return *broken_;
  CUZK_TRY(message, events_.pop());
  if (!message) return std::optional<Event>();
  if (!known(message->entry.kind)) {
    broken_ = bug(fmt::format("an event of unknown kind {}", message->entry.kind),
                  fmt::format("worker {} epoch {}", worker_.value, epoch_.value));
    return *broken_;
  }
  return std::optional<Event>(Event{static_cast<EventKind>(message->entry.kind),
                                    TaskId{message->entry.task}, std::move(message->body)});
}

void WorkerChannel::cancel(TaskId task) {
  // Relaxed; read by WorkerEndpoint::cancelled. The list is longer than the tasks a worker can have, so
  // what is overwritten is over.
  region().supervisor.cancelled[next_cancel_++ % kCancels].store(task.value,
                                                                 std::memory_order_relaxed);
}

void WorkerChannel::beat() {
  region().supervisor.heartbeat.store(++beats_, std::memory_order_relaxed);
}

}  // namespace cuzk::shm
