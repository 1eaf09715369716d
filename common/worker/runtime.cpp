#include "common/worker/runtime.hpp"

#include <cerrno>
#include <csignal>
#include <utility>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <spdlog/spdlog.h>

namespace cuzk {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kProgressInterval = 100ms;
// How long an answer waits for room: a supervisor that takes no event for so long is beyond help.
constexpr auto kAnswerPatience = 60s;
constexpr int kAnswerPollMilliseconds = 1;
// More descriptors than the commands of a full ring can have.
constexpr std::size_t kMaxHeldFds = shm::kRingEntries * shm::kMaxFdsPerMessage;

Result<UniqueFd> take_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGINT, SIG_IGN);
  sigset_t mask;
  ::sigemptyset(&mask);
  ::sigaddset(&mask, SIGTERM);
  // Only SIGTERM: whatever else the launcher had blocked should reach this process.
  if (::sigprocmask(SIG_SETMASK, &mask, nullptr) != 0) {
    return system_error(ErrorClass::kBug, "sigprocmask", "worker start");
  }
  UniqueFd signals(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return system_error(ErrorClass::kRetryHere, "signalfd", "worker start");
  return signals;
}

}  // namespace

void restore_signals_for_child() {
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

Result<std::unique_ptr<WorkerRuntime>> WorkerRuntime::attach(const WorkerOptions& options) {
  CUZK_CHECK(set_up_logging(fmt::format("{} epoch {}", options.name, options.epoch.value), options.log));
  CUZK_TRY(endpoint,
           shm::WorkerEndpoint::attach(UniqueFd(shm::kControlSocketFd), UniqueFd(shm::kRegionFd),
                                       UniqueFd(shm::kCommandEventFd), UniqueFd(shm::kEventEventFd)));
  if (endpoint.epoch() != options.epoch) {
    return bug(fmt::format("the region is of epoch {}, the command line of epoch {}",
                           endpoint.epoch().value, options.epoch.value),
               options.name);
  }
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    return system_error(ErrorClass::kBug, "prctl(PR_SET_PDEATHSIG)", options.name);
  }
  // The supervisor may have died before the call above; then somebody else is our parent by now.
  if (::getppid() != endpoint.supervisor_pid()) {
    return Error{ErrorClass::kUnavailable, "the supervisor is gone", options.name, {}};
  }
  CUZK_TRY(signals, take_signals());
  return std::unique_ptr<WorkerRuntime>(new WorkerRuntime(std::move(endpoint), std::move(signals)));
}

void WorkerRuntime::ready() { send(EventKind::kReady, TaskId{0}, {}); }

std::optional<Command> WorkerRuntime::next() {
  if (!answered_ && kind_ == CommandKind::kDropKey) finish_silently();
  if (!answered_) failed(bug("the worker gave no answer", "worker"));
  while (!stopping_) {
    // Signals and the socket first: a stop is obeyed before another command is begun.
    read_signals();
    read_control();
    if (stopping_) break;
    endpoint_.clear_wake();
    auto command = endpoint_.pop_command();
    if (!command) {
      break_off(command.error());
      break;
    }
    if (!*command) {
      wait();
      continue;
    }
    // The descriptors were sent before the command, so they are in the socket by now.
    read_control();
    if (stopping_) break;
    if ((*command)->kind == CommandKind::kShutdown) {
      stop(0, "asked to shut down");
      break;
    }
    answered_ = false;
    kind_ = (*command)->kind;
    task_.store((*command)->task.value, std::memory_order_relaxed);
    endpoint_.set_task((*command)->task);
    last_step_.clear();
    return std::move(*command);
  }
  return std::nullopt;
}

void WorkerRuntime::wait() {
  pollfd waits[3] = {{endpoint_.command_fd(), POLLIN, 0},
                     {endpoint_.control().fd(), POLLIN, 0},
                     {signals_.get(), POLLIN, 0}};
  if (::poll(waits, 3, -1) < 0 && errno != EINTR) {
    break_off(system_error(ErrorClass::kBug, "poll", "worker"));
  }
}

void WorkerRuntime::read_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    stop(0, "SIGTERM");
  }
}

void WorkerRuntime::read_control() {
  while (true) {
    auto received = endpoint_.control().receive();
    if (!received) return break_off(received.error());
    if (received->state == shm::ReceivedFds::State::kEmpty) return;
    if (received->state == shm::ReceivedFds::State::kClosed) return stop(0, "the supervisor is gone");
    for (auto& entry : received->fds) {
      if (held_.size() >= kMaxHeldFds) return break_off(bug("too many descriptors", "control socket"));
      held_.push_back({received->task, entry.role, std::move(entry.fd)});
    }
  }
}

Result<UniqueFd> WorkerRuntime::take_fd(FdRole role) {
  const TaskId task{task_.load(std::memory_order_relaxed)};
  for (HeldFd& held : held_) {
    if (held.task == task && held.role == role && held.fd) return std::move(held.fd);
  }
  return bug(fmt::format("no descriptor of role {} came with task {}",
                         static_cast<std::uint32_t>(role), task.value),
             "control socket");
}

bool WorkerRuntime::has_fd(FdRole role) {
  const TaskId task{task_.load(std::memory_order_relaxed)};
  for (const HeldFd& held : held_) {
    if (held.task == task && held.role == role && held.fd) return true;
  }
  return false;
}

void WorkerRuntime::done(std::string_view body) {
  if (body.size() > shm::kBodyCellBytes) {
    return failed(bug(fmt::format("an answer of {} bytes exceeds {}", body.size(), shm::kBodyCellBytes),
                      "worker"));
  }
  send(EventKind::kDone, TaskId{task_.load(std::memory_order_relaxed)}, body);
  end_task();
}

void WorkerRuntime::failed(const Error& error) {
  Error short_enough = error;
  for (std::string* text : {&short_enough.what, &short_enough.where, &short_enough.hint}) {
    if (text->size() > shm::kBodyCellBytes / 8) text->resize(shm::kBodyCellBytes / 8);
  }
  send(EventKind::kFailed, TaskId{task_.load(std::memory_order_relaxed)}, encode(short_enough));
  end_task();
}

void WorkerRuntime::finish_silently() { end_task(); }

void WorkerRuntime::end_task() {
  const TaskId task{task_.exchange(0, std::memory_order_relaxed)};
  std::erase_if(held_, [task](const HeldFd& held) { return held.task == task; });
  endpoint_.set_task(TaskId{0});
  answered_ = true;
}

// Sends an answer, waiting for room while the supervisor lives and for at most kAnswerPatience.
void WorkerRuntime::send(EventKind kind, TaskId task, std::string_view body) {
  const auto deadline = Clock::now() + kAnswerPatience;
  while (true) {
    const Status sent = endpoint_.push_event(kind, task, body);
    if (sent) return;
    if (sent.error().error_class != ErrorClass::kBusy || Clock::now() >= deadline) {
      return break_off(sent.error());
    }
    // The ring has no wake for room: it is 32 entries deep and a full one is rare. Only the hang-up of
    // the supervisor ends this sleep early.
    pollfd hang_up{endpoint_.control().fd(), 0, 0};
    if (::poll(&hang_up, 1, kAnswerPollMilliseconds) > 0) return stop(0, "the supervisor is gone");
  }
}

void WorkerRuntime::progress(std::string_view step, std::uint32_t permille) {
  const TaskId task{task_.load(std::memory_order_relaxed)};
  endpoint_.mark(task, step, permille);
  const auto now = Clock::now();
  if (step == last_step_ && now - last_progress_ < kProgressInterval) return;
  last_step_ = step;
  last_progress_ = now;
  // Dropped when the ring is nearly full; the next one tells more anyway.
  (void)endpoint_.push_event(EventKind::kProgress, task,
                             encode(TaskProgress{std::string(step), permille}));
}

bool WorkerRuntime::cancelled() const {
  return endpoint_.cancelled(TaskId{task_.load(std::memory_order_relaxed)});
}

void WorkerRuntime::stop(int exit_code, std::string_view why) {
  if (stopping_) return;
  stopping_ = true;
  exit_code_ = exit_code;
  spdlog::info("stopping: {}", why);
}

void WorkerRuntime::break_off(const Error& error) {
  spdlog::error("the channel to the supervisor is broken: {}", error.message());
  stop(1, "broken channel");
}

}  // namespace cuzk
