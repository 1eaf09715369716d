#include "synth_worker/circom/sandbox_thread.hpp"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <mutex>

#include <pthread.h>

namespace cuzk {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(20);
// Until the body returns the signal is repeated: one that comes before watch() finds nothing to stop.
constexpr auto kInterruptInterval = std::chrono::milliseconds(5);
// Below the deepest frame that the generated code may have: pthread's own part of the stack, and the
// frames between thread_main and the first call into the circuit.
constexpr std::size_t kStackMargin = std::size_t{256} << 10;

int interrupt_signal() { return SIGRTMIN + 3; }

// What the handler of this thread interrupts. Thread-local because a handler gets no argument; atomic
// because it runs between any two instructions of the thread that writes them.
thread_local constinit std::atomic<const cuzk_circuit*> watched_circuit{nullptr};
thread_local constinit std::atomic<cuzk_instance*> watched_instance{nullptr};

// May not return: interrupt() jumps when generated code was running.
void on_interrupt(int) {
  cuzk_instance* const instance = watched_instance.load(std::memory_order_relaxed);
  if (instance != nullptr) watched_circuit.load(std::memory_order_relaxed)->interrupt(instance);
}

void install_handler() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  // The jump does not restore the signal mask, so the signal must not be blocked in its handler.
  action.sa_flags = SA_RESTART | SA_NODEFER;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(interrupt_signal(), &action, nullptr);
}

struct Run {
  const std::function<void(SandboxThread::Guard&)>* body = nullptr;
  std::mutex mutex;
  std::condition_variable finished_changed;
  bool finished = false;
};

void* thread_main(void* argument) noexcept {
  Run& run = *static_cast<Run*>(argument);
  char* const top = static_cast<char*>(__builtin_frame_address(0));
  SandboxThread::Guard guard(top - (kSandboxStackBytes - kStackMargin));
  (*run.body)(guard);
  guard.unwatch();
  const std::lock_guard lock(run.mutex);
  run.finished = true;
  run.finished_changed.notify_one();
  return nullptr;
}

Result<pthread_t> start(Run& run) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kSandboxStackBytes);
  ::pthread_attr_setguardsize(&attributes, std::size_t{64} << 10);
  pthread_t thread{};
  errno = ::pthread_create(&thread, &attributes, thread_main, &run);
  ::pthread_attr_destroy(&attributes);
  if (errno != 0) return system_error(ErrorClass::kRetryHere, "pthread_create", "witness calculation");
  return thread;
}

}  // namespace

void SandboxThread::Guard::watch(const cuzk_circuit* circuit, cuzk_instance* instance) {
  watched_circuit.store(circuit, std::memory_order_relaxed);
  // The handler looks at the instance first; this order holds within a thread.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  watched_instance.store(instance, std::memory_order_relaxed);
}

void SandboxThread::Guard::unwatch() {
  watched_instance.store(nullptr, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

Result<SandboxThread::End> SandboxThread::run(const std::function<void(Guard&)>& body,
                                              std::chrono::milliseconds time_limit,
                                              const KeepRunning& keep_running) {
  install_handler();
  const auto deadline = std::chrono::steady_clock::now() + time_limit;
  Run run;
  run.body = &body;
  CUZK_TRY(thread, start(run));
  End end = End::kFinished;
  std::unique_lock lock(run.mutex);
  while (!run.finished) {
    if (end == End::kFinished) {
      run.finished_changed.wait_for(lock, kPollInterval);
      if (run.finished) break;
      if (std::chrono::steady_clock::now() >= deadline) {
        end = End::kTimedOut;
      } else if (keep_running && !keep_running()) {
        end = End::kStopped;
      }
      continue;
    }
    ::pthread_kill(thread, interrupt_signal());
    run.finished_changed.wait_for(lock, kInterruptInterval);
  }
  lock.unlock();
  ::pthread_join(thread, nullptr);
  return end;
}

}  // namespace cuzk
