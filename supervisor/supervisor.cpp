#include "supervisor/supervisor.hpp"

#include <algorithm>
#include <csignal>
#include <set>
#include <thread>

#include <unistd.h>

#include <spdlog/spdlog.h>

#include "common/version.hpp"

namespace cuzk::supervisor {
namespace {

constexpr Duration kTickInterval = std::chrono::seconds(1);
constexpr Duration kPruneInterval = std::chrono::hours(1);
// Handlers of one turn: then the journal is committed and replies go, however much more is ready.
constexpr int kHandlersPerTurn = 256;
// A device process holds the assignment it works on and the next one.
constexpr std::uint32_t kDeviceCapacity = 2;
// For the assignments that are being verified or wiped.
constexpr std::uint32_t kFinishingSlots = 1;

unsigned processors() { return std::max(1U, std::thread::hardware_concurrency()); }

std::uint64_t slot_budget(const Config& config) {
  if (config.memory.total_budget != 0) return config.memory.total_budget;
  const auto pages = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  const std::uint64_t memory = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  // A machine that is smaller than the margin still proves small circuits.
  return memory > 2 * config.memory.safety_margin ? memory - config.memory.safety_margin
                                                  : memory / 2;
}

SlotPool::Settings slot_settings(const Config& config) {
  const auto devices = static_cast<std::uint32_t>(config.gpus.devices.size());
  const std::uint32_t slots = devices * (1 + config.pipeline.synthesis_lookahead) + kFinishingSlots;
  return {static_cast<std::uint16_t>(std::min(slots, 4000U)), slot_budget(config)};
}

ProcessTree::Settings tree_settings(const Config& config) {
  ProcessTree::Settings settings;
  settings.restart.first_delay = config.supervision.restart_delay;
  settings.restart.longest_delay = config.supervision.restart_delay_max;
  settings.restart.forgiven_after = config.supervision.restart_forgiven_after;
  settings.stop_grace = config.supervision.stop_patience;
  return settings;
}

}  // namespace

Result<std::unique_ptr<Supervisor>> Supervisor::create(const Config& config,
                                                       const std::filesystem::path& programs,
                                                       Launcher& launcher, const Clock& clock) {
  for (const char* program : {"cuzk-synth-worker", "cuzk-gpu-worker"}) {
    if (::access((programs / program).c_str(), X_OK) != 0) {
      return system_error(ErrorClass::kOperator, "access", (programs / program).string());
    }
  }
  CUZK_TRY(folder, StateFolder::open(std::filesystem::absolute(config.daemon.state_dir),
                                     std::filesystem::absolute(config.key_folder())));
  CUZK_TRY(journal, Journal::open(folder.journal()));
  CUZK_TRY(listener, listen_at(config.daemon.socket));
  std::unique_ptr<Supervisor> supervisor(new Supervisor(config, programs, launcher, clock,
                                                        std::move(folder), std::move(journal),
                                                        std::move(listener)));
  CUZK_CHECK(supervisor->load());
  return supervisor;
}

Supervisor::Supervisor(const Config& config, const std::filesystem::path& programs,
                       Launcher& launcher, const Clock& clock, StateFolder folder, Journal journal,
                       UniqueFd listener)
    : config_(config),
      programs_(programs),
      clock_(clock),
      started_at_(clock.now()),
      loop_(1),
      timer_(loop_),
      signals_(loop_),
      folder_(std::move(folder)),
      journal_(std::move(journal)),
      tree_(tree_settings(config), loop_, clock, launcher, *this),
      dispatcher_(tree_),
      slots_(slot_settings(config)),
      keys_({folder_.keys(), config.synthesis_threads(processors())}, clock, journal_, dispatcher_,
            [this](const Digest& digest) {
              for (const auto& worker : tree_.workers()) {
                if (worker->spec().role != WorkerRole::kGpu) continue;
                tree_.notify(worker->index(), CommandKind::kDropKey,
                             encode(DropKeyCommand{digest}));
              }
            }),
      circuits_(folder_.circuits(), clock, journal_, dispatcher_, keys_),
      book_(clock, folder_, journal_, circuits_,
            [this](const Error& error) { journal_failed(error); }),
      scheduler_({config.synthesis_threads(processors()), config.supervision.max_attempts}, clock,
                 dispatcher_, slots_, tree_, book_, book_),
      intake_({config.daemon.max_queue}, clock, folder_, journal_, dispatcher_, scheduler_, keys_,
              circuits_),
      requests_(clock, intake_, book_, circuits_, [this] { return status(); }),
      server_(loop_, clock, std::move(listener), config.daemon.socket,
              config.daemon.max_connections,
              [this](Frame frame, const Peer& peer, const Responder& responder) {
                requests_.handle(std::move(frame), peer, responder);
              }) {
  book_.attach(scheduler_);
}

Supervisor::~Supervisor() = default;

Status Supervisor::load() {
  CUZK_CHECK(keys_.load());
  CUZK_CHECK(circuits_.load());
  CUZK_CHECK(book_.load());
  CUZK_TRY(open, journal_.open_jobs());
  std::set<std::string> inputs;
  std::set<std::string> folders = circuits_.folders();
  for (const JobRecord& job : open) {
    if (!job.input_file.empty()) inputs.insert(job.input_file);
    if (!job.circuit_folder.empty()) folders.insert(job.circuit_folder);
  }
  const std::size_t removed = folder_.clean_up(inputs, folders);
  if (removed != 0) spdlog::info("{} left-overs of an earlier run are removed", removed);
  return {};
}

void Supervisor::start() {
  log_start();
  add_workers();
  resume_jobs();
  preload_keys();
  next_tick_ = clock_.now() + kTickInterval;
  next_prune_ = clock_.now();
  end_turn();
}

void Supervisor::add_workers() {
  WorkerSpec synth;
  synth.role = WorkerRole::kSynth;
  synth.program = programs_ / "cuzk-synth-worker";
  synth.options.threads = config_.synthesis_threads(processors());
  synth.options.log = config_.logging;
  for (std::uint32_t i = 0; i < config_.synth_workers(processors()); ++i) {
    synth.options.name = fmt::format("synth{}", i);
    tree_.add(synth);
  }
  WorkerSpec gpu = synth;
  gpu.role = WorkerRole::kGpu;
  gpu.program = programs_ / "cuzk-gpu-worker";
  gpu.capacity = kDeviceCapacity;
  gpu.options.threads = config_.device_threads(processors());
  for (std::size_t i = 0; i < config_.gpus.devices.size(); ++i) {
    gpu.options.name = fmt::format("gpu{}", i);
    gpu.options.device = config_.gpus.devices[i];
    tree_.add(gpu);
  }
}

// Open jobs go on from the journal once their keys are found to be sound.
void Supervisor::resume_jobs() {
  auto open = journal_.open_jobs();
  if (!open) return journal_failed(open.error());
  std::set<Digest> circuits;
  for (JobRecord& record : *open) {
    const KeyInfo* key = keys_.find(record.circuit);
    circuits.insert(record.circuit);
    scheduler_.accept(std::move(record), key != nullptr ? *key : KeyInfo{}, false);
  }
  for (const Digest& circuit : circuits) {
    keys_.ensure(circuit, 0, {}, [this, circuit](const Result<KeyInfo>& key) {
      key ? scheduler_.key_ready(*key) : scheduler_.key_failed(circuit, key.error());
    });
  }
  if (!open->empty()) spdlog::info("{} accepted jobs of an earlier run go on", open->size());
}

void Supervisor::preload_keys() {
  for (const std::string& name : config_.srs.preload) {
    const CircuitRecord* circuit = circuits_.find(name);
    if (circuit == nullptr) {
      spdlog::warn("[srs] preload names circuit \"{}\", which is not registered", name);
      continue;
    }
    keys_.ensure(circuit->info.key.digest, 0, {}, [name](const Result<KeyInfo>& key) {
      if (!key) spdlog::error("[srs] preload of circuit \"{}\": {}", name, key.error().message());
    });
  }
}

void Supervisor::watch_signals() {
  signals_.async_wait([this](const boost::system::error_code& error, int number) {
    if (error) return;
    if (stopping_) {
      tree_.kill_all("a second signal");
    } else {
      spdlog::info("signal {}: shutting down; open jobs stay in the journal", number);
      shut_down();
    }
    watch_signals();
  });
}

int Supervisor::run() {
  signals_.add(SIGTERM);
  signals_.add(SIGINT);
  watch_signals();
  start();
  while (!finished()) turn(kTickInterval);
  spdlog::info("stopped");
  return failed_ ? 1 : 0;
}

void Supervisor::turn(Duration patience) {
  arm_timer();
  // run_one_for does not even look when there is no time to wait.
  const std::size_t first =
      patience > Duration::zero() ? loop_.run_one_for(patience) : loop_.poll_one();
  if (first != 0) {
    for (int i = 1; i < kHandlersPerTurn && loop_.poll_one() != 0; ++i) {
    }
  }
  end_turn();
}

void Supervisor::end_turn() {
  const auto now = clock_.now();
  const auto worker_due = tree_.next_deadline();
  if ((next_tick_ && *next_tick_ <= now) || (worker_due && *worker_due <= now)) tick();
  const auto await_due = book_.next_deadline();
  if (await_due && *await_due <= now) book_.tick();
  if (!stopping_) dispatcher_.dispatch();
  if (failed_) return;
  // If we die here, what this turn promised was told to nobody: JournalForgetsWhatWasNotCommitted.
  if (const auto committed = journal_.commit(); !committed)
    return journal_failed(committed.error());
  server_.flush();
  book_.after_commit();
}

void Supervisor::tick() {
  tree_.tick();
  if (!next_tick_ || *next_tick_ > clock_.now()) return;
  next_tick_ = clock_.now() + kTickInterval;
  server_.tick();
  book_.tick();
  circuits_.forget_folders([this](const std::string& folder) { return folder_in_use(folder); });
  if (next_prune_ && *next_prune_ <= clock_.now()) {
    next_prune_ = clock_.now() + kPruneInterval;
    const auto oldest = clock_.unix_ms() - config_.daemon.keep_jobs_for.count();
    if (const auto pruned = book_.prune(config_.daemon.keep_jobs, oldest); !pruned) {
      journal_failed(pruned.error());
    }
  }
}

bool Supervisor::folder_in_use(const std::string& folder) const {
  bool used = intake_.uses_folder(folder);
  scheduler_.for_each([&](const Job& job) { used = used || job.record.circuit_folder == folder; });
  return used;
}

// Only wakes the loop: what is due is found in end_turn.
void Supervisor::arm_timer() {
  std::optional<TimePoint> due = next_tick_;
  for (const auto& other : {tree_.next_deadline(), book_.next_deadline()}) {
    if (other && (!due || *other < *due)) due = other;
  }
  // Setting it anew ends the earlier wait, which is a wake of its own: only when it must be sooner.
  if (!due || (armed_for_ && *armed_for_ <= *due)) return;
  armed_for_ = due;
  timer_.expires_after(std::max(Duration::zero(), *due - clock_.now()));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) armed_for_.reset();
  });
}

void Supervisor::shut_down() {
  if (stopping_) return;
  stopping_ = true;
  server_.stop_accepting();
  requests_.refuse_new_work();
  book_.answer_all(Error{ErrorClass::kUnavailable,
                         "the supervisor is shutting down",
                         {},
                         "the job goes on when it is started again"});
  tree_.shut_down();
}

bool Supervisor::finished() const { return stopping_ && tree_.all_stopped(); }

void Supervisor::journal_failed(const Error& error) {
  if (failed_) return;
  failed_ = true;
  spdlog::critical("the journal cannot be written: {}; stopping, since nothing can be promised",
                   error.message());
  stopping_ = true;
  server_.stop_accepting();
  requests_.refuse_new_work();
  tree_.shut_down();
}

void Supervisor::log_start() const {
  spdlog::info(
      "cuzk-supervisor {} ({}), pid {}: socket {}, state folder {}, {} synth workers, devices: {}",
      kBuildVersion, kBuildRevision, ::getpid(), config_.daemon.socket.string(),
      folder_.root().string(), config_.synth_workers(processors()),
      fmt::join(config_.gpus.devices, ", "));
}

void Supervisor::worker_ready(const WorkerProcess& worker) {
  dispatcher_.worker_ready(worker.life(), worker.spec().role, worker.spec().capacity);
  const bool all_ready = std::ranges::all_of(
      tree_.workers(), [](const auto& other) { return other->state() == WorkerState::kReady; });
  if (all_ready && !announced_ready_) {
    announced_ready_ = true;
    spdlog::info("ready");
  }
}

Status Supervisor::worker_event(const WorkerProcess& worker, shm::Event event) {
  const WorkerLife life = worker.life();
  if (event.kind == EventKind::kProgress) {
    CUZK_TRY(progress, event.as<TaskProgress>());
    // Late news of a task that was answered is no lie worth a kill.
    (void)dispatcher_.task_progress(life, event.task, progress);
    return {};
  }
  const bool done = event.kind == EventKind::kDone;
  Error error = done ? Error{} : event.failure();
  const bool known =
      dispatcher_.task_ended(life, event.task, done ? Ending::kDone : Ending::kFailed,
                             std::move(event.body), std::move(error));
  if (!known)
    return bug(fmt::format("it answered task {}, which it does not have", event.task.value));
  return {};
}

void Supervisor::worker_stopping(const WorkerProcess& worker) {
  dispatcher_.worker_draining(worker.index());
}

void Supervisor::worker_died(const WorkerProcess& worker, WorkerLife life, const Error& death) {
  // A key that a worker died over may be the reason: it is checked again before the next
  // submission.
  const auto tasks = dispatcher_.tasks_of(worker.index());
  if (!tasks.empty() && tasks.front().job) {
    if (const Job* job = scheduler_.find(*tasks.front().job)) keys_.distrust(job->record.circuit);
  }
  scheduler_.worker_died(life);
  dispatcher_.worker_died(life, death);
}

}  // namespace cuzk::supervisor
