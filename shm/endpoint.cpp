#include "shm/endpoint.hpp"

#include <fcntl.h>

namespace cuzk::shm {

namespace {

// Kept free for answers: progress is dropped first.
constexpr std::size_t kEntriesKeptForAnswers = 8;

Error not_started_by_supervisor(std::string what) {
  return {ErrorClass::kOperator, std::move(what), "worker start",
          "workers are started by cuzk-supervisor, not by hand"};
}

}  // namespace

Result<WorkerEndpoint> WorkerEndpoint::attach(UniqueFd control, UniqueFd region,
                                              UniqueFd command_eventfd, UniqueFd event_eventfd) {
  for (const UniqueFd* fd : {&control, &region, &command_eventfd, &event_eventfd}) {
    if (::fcntl(fd->get(), F_SETFD, FD_CLOEXEC) != 0) {
      return not_started_by_supervisor(fmt::format("descriptor {} is not open", fd->get()));
    }
  }
  auto size = sealed_size(region);
  if (!size || *size != kRegionBytes) {
    return not_started_by_supervisor("the shared region is missing or of another version");
  }
  CUZK_TRY(mapping, Mapping::map(region, Mapping::Access::kReadWrite, 0, kRegionBytes));
  const RegionHeader& header = reinterpret_cast<const Region*>(mapping.data())->header;
  if (header.magic != kRegionMagic || header.version != kRegionVersion ||
      header.region_bytes != kRegionBytes) {
    return not_started_by_supervisor("the shared region is of another version");
  }
  return WorkerEndpoint(FdSocket(std::move(control)), std::move(region), std::move(mapping),
                        std::move(command_eventfd), std::move(event_eventfd));
}

WorkerEndpoint::WorkerEndpoint(FdSocket control, UniqueFd region_fd, Mapping mapping,
                               UniqueFd command_eventfd, UniqueFd event_eventfd)
    : control_(std::move(control)),
      region_fd_(std::move(region_fd)),
      mapping_(std::move(mapping)),
      command_eventfd_(std::move(command_eventfd)),
      event_eventfd_(std::move(event_eventfd)),
      commands_(region().commands, command_bodies(mapping_, region_fd_.get()), "command ring"),
      events_(region().events, event_bodies(mapping_, region_fd_.get()), "event ring"),
      page_(region().worker) {}

WorkerIndex WorkerEndpoint::worker() const {
  return WorkerIndex{static_cast<std::uint16_t>(region().header.worker)};
}
Epoch WorkerEndpoint::epoch() const { return Epoch{region().header.epoch}; }
int WorkerEndpoint::supervisor_pid() const {
  return static_cast<int>(region().header.supervisor_pid);
}

Result<std::optional<Command>> WorkerEndpoint::pop_command() {
  CUZK_TRY(message, commands_.pop());
  if (!message) return std::optional<Command>();
  const auto slot_word = SlotWord::unpack(message->entry.slot_word);
  if (!slot_word) return bug("a command's slot word has no state", "command ring");
  return std::optional<Command>(Command{static_cast<CommandKind>(message->entry.kind),
                                        TaskId{message->entry.task}, SlotIndex{message->entry.slot},
                                        *slot_word, std::move(message->body)});
}

Status WorkerEndpoint::push_event(EventKind kind, TaskId task, std::string_view body) {
  if (kind == EventKind::kProgress) {
    CUZK_TRY(free, events_.free_entries());
    if (free <= kEntriesKeptForAnswers) {
      return Error{ErrorClass::kBusy, "the event ring is nearly full", "event ring", {}};
    }
  }
  RingEntry entry;
  entry.kind = static_cast<std::uint16_t>(kind);
  entry.task = task.value;
  CUZK_CHECK(events_.push(entry, std::as_bytes(std::span(body.data(), body.size()))));
  signal_eventfd(event_eventfd_.get());
  return {};
}

bool WorkerEndpoint::cancelled(TaskId task) const {
  for (const SharedWord& word : region().supervisor.cancelled) {
    // Relaxed; written by WorkerChannel::cancel.
    if (word.load(std::memory_order_relaxed) == task.value && task.value != 0) return true;
  }
  return false;
}

}  // namespace cuzk::shm
