#include "supervisor/process/worker_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include <unistd.h>

#include <spdlog/spdlog.h>

namespace cuzk::supervisor {
namespace {

// More than a ring holds: a worker that refills it while it is read gets its next turn like all
// others.
constexpr int kEventsPerTurn = 2 * static_cast<int>(shm::kRingEntries);
constexpr int kReadsPerTurn = 16;

}  // namespace

WorkerProcess::WorkerProcess(WorkerIndex index, WorkerSpec spec, RestartSettings restart,
                             boost::asio::io_context& loop, const Clock& clock, Launcher& launcher,
                             WorkerListener& listener)
    : index_(index),
      spec_(std::move(spec)),
      loop_(loop),
      clock_(clock),
      launcher_(launcher),
      listener_(listener),
      policy_(restart) {}

void WorkerProcess::start(Duration start_limit) {
  epoch_ = Epoch{(epoch_.value + 1) & shm::kEpochMask};
  spec_.options.epoch = epoch_;
  tail_.clear();
  if (const Status launched = launch(); !launched) {
    life_.reset();
    on_death(launched.error(), std::nullopt);
    return;
  }
  state_ = WorkerState::kStarting;
  deadline_ = clock_.now() + start_limit;
  spdlog::info("{} epoch {}: started as pid {}", name(), epoch_.value, pid());
}

Status WorkerProcess::launch() {
  CUZK_TRY(channel, shm::WorkerChannel::create(index_, epoch_));
  const auto fds = channel.child_fds();
  SpawnRequest request;
  request.program = spec_.program;
  request.arguments = to_arguments(spec_.options);
  request.fds.assign(fds.begin(), fds.end());
  CUZK_TRY(child, launcher_.spawn(request));
  channel.close_child_side();
  life_ = std::make_unique<Life>(std::move(channel), std::move(child));
  life_->events.emplace(loop_, life_->channel.event_fd(), [this] { read_events(); });
  life_->death.emplace(loop_, life_->child.pidfd.get(), [this] { reap(); });
  life_->output.emplace(loop_, life_->child.output.get(), [this] { read_output(); });
  life_->events->want_read(true);
  life_->death->want_read(true);
  life_->output->want_read(true);
  return {};
}

void WorkerProcess::tick(Duration start_limit) {
  if (!deadline_ || clock_.now() < *deadline_) return;
  deadline_.reset();
  switch (state_) {
    case WorkerState::kBackingOff:
      ++restarts_;
      start(start_limit);
      return;
    case WorkerState::kStarting: kill("it did not become ready in time"); return;
    case WorkerState::kStopping: kill("it did not stop in time"); return;
    case WorkerState::kReady:
    case WorkerState::kStopped: return;
  }
}

std::optional<TimePoint> WorkerProcess::next_deadline() const { return deadline_; }

void WorkerProcess::stop(Duration grace) {
  if (!life_) {
    state_ = WorkerState::kStopped;
    deadline_.reset();
    return;
  }
  if (state_ == WorkerState::kStopping) return;
  state_ = WorkerState::kStopping;
  deadline_ = clock_.now() + grace;
  listener_.worker_stopping(*this);
  // The signal as well: a worker that does not read its ring may still heed it.
  if (const auto pushed = life_->channel.push_shutdown(); !pushed) {
    spdlog::debug("{}: {}", name(), pushed.error().message());
  }
  launcher_.signal(life_->child, SIGTERM);
}

void WorkerProcess::kill(const std::string& reason) {
  if (!life_) return;
  if (life_->kill_reason.empty()) {
    life_->kill_reason = reason;
    spdlog::warn("{} epoch {}: killed: {}", name(), epoch_.value, reason);
  }
  launcher_.signal(life_->child, SIGKILL);
}

Status WorkerProcess::send(TaskId task, CommandKind kind, Command command) {
  if (!life_) return Error{ErrorClass::kRetryElsewhere, "the worker is dead", name(), {}};
  std::vector<shm::LabelledFd> fds;
  for (const LabelledFd& entry : command.fds) fds.push_back({entry.fd.get(), entry.role});
  const auto sent =
      life_->channel.push_command(kind, task, command.slot, command.slot_word, command.body, fds);
  // It never has more tasks than its ring has entries: a worker that takes none is beyond use.
  if (!sent) kill("it takes no commands: " + sent.error().message());
  return sent;
}

void WorkerProcess::cancel(TaskId task) {
  if (life_) life_->channel.cancel(task);
}

std::string WorkerProcess::last_step() const {
  if (!life_) return {};
  const auto marks = life_->channel.marks();
  return marks.empty() ? std::string() : marks.back().step;
}

void WorkerProcess::beat() {
  if (life_) life_->channel.beat();
}

void WorkerProcess::read_events() {
  life_->channel.clear_wake();
  for (int i = 0; i < kEventsPerTurn; ++i) {
    auto event = life_->channel.pop_event();
    if (!event) return kill(event.error().message());
    if (!*event) return;
    if (!handle(std::move(**event))) return;
  }
  shm::signal_eventfd(life_->channel.event_fd());
}

bool WorkerProcess::handle(shm::Event event) {
  if (event.kind == EventKind::kReady) {
    if (state_ == WorkerState::kStopping) return true;
    if (state_ != WorkerState::kStarting) {
      kill("it said ready twice");
      return false;
    }
    state_ = WorkerState::kReady;
    deadline_.reset();
    life_->ready_since = clock_.now();
    spdlog::info("{} epoch {}: ready", name(), epoch_.value);
    listener_.worker_ready(*this);
    return true;
  }
  if (const auto accepted = listener_.worker_event(*this, std::move(event)); !accepted) {
    kill(accepted.error().message());
    return false;
  }
  return true;
}

void WorkerProcess::read_output() {
  std::array<char, 16384> buffer{};
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const auto got = ::read(life_->child.output.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return life_->output->want_read(false);
    for (const auto& line : tail_.append({buffer.data(), static_cast<std::size_t>(got)}))
      relay(line);
  }
}

// A worker's own log lines have time, level and name already; what libraries print gets them here.
void WorkerProcess::relay(const std::string& line) const {
  if (line.empty()) return;
  const std::string full_name = fmt::format("{} epoch {}", name(), epoch_.value);
  const bool log_line = line.find("[" + full_name + "]") != std::string::npos ||
                        line.find("\"process\":\"" + full_name) != std::string::npos;
  if (log_line) {
    fmt::print(stderr, "{}\n", line);
  } else {
    spdlog::warn("{} wrote: {}", full_name, line);
  }
}

void WorkerProcess::reap() {
  const auto status = launcher_.reap(life_->child);
  if (!status) return;
  // What it said before it died counts.
  life_->death->want_read(false);
  read_output();
  read_events();
  Error death{ErrorClass::kRetryElsewhere, status->text(), name(), {}};
  if (!life_->kill_reason.empty()) death.what += ", by the supervisor: " + life_->kill_reason;
  const auto ready_since = life_->ready_since;
  // This runs in a watch of the life that ends here; FdWatch allows that.
  life_.reset();
  on_death(death, ready_since);
}

void WorkerProcess::on_death(const Error& death, std::optional<TimePoint> ready_since) {
  const WorkerLife life = this->life();
  const bool stopping = state_ == WorkerState::kStopping;
  last_death_ = death.what;
  died_at_ = clock_.now();
  if (stopping) {
    state_ = WorkerState::kStopped;
    deadline_.reset();
    spdlog::info("{} epoch {}: stopped, {}", name(), epoch_.value, death.what);
  } else {
    const Duration delay = policy_.on_death(ready_since, *died_at_);
    state_ = WorkerState::kBackingOff;
    deadline_ = *died_at_ + delay;
    const auto delay_ms = std::chrono::duration_cast<std::chrono::milliseconds>(delay).count();
    spdlog::error("{} epoch {}: died{}: {}; starts again in {} ms", name(), epoch_.value,
                  ready_since ? "" : " before it was ready", death.message(), delay_ms);
    if (!ready_since) {
      for (const auto& line : tail_.lines())
        spdlog::error("{} epoch {} | {}", name(), epoch_.value, line);
    }
  }
  listener_.worker_died(*this, life, death);
}

}  // namespace cuzk::supervisor
