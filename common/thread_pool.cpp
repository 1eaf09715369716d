// The pool's threads: waking, joining a loop, and leaving it before its caller's stack goes away.
//
// A loop lives on its caller's stack. The caller first takes the loop off the board (no worker can
// join any more) and then waits until the workers inside have left, so a worker that wakes late
// finds nothing and goes back to sleep, and the loop never waits for a thread that did no work.
#include "common/thread_pool.hpp"

namespace cuzk {

ThreadPool::ThreadPool(unsigned threads) {
  try {
    for (unsigned i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
  } catch (...) {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Loop::work() {
  // The pieces' data are ordered by the pool's mutex; the counter only hands out numbers.
  for (std::size_t k = next.fetch_add(1, std::memory_order_relaxed); k < pieces;
       k = next.fetch_add(1, std::memory_order_relaxed)) {
    const std::size_t first = begin + k * grain;
    call(body, first, end - first > grain ? first + grain : end);
  }
}

void ThreadPool::run(Loop& loop) {
  const bool shared =
      loop.pieces > 1 && !workers_.empty() && !busy_.exchange(true, std::memory_order_acquire);
  if (!shared) {
    loop.work();
    return;
  }
  {
    std::lock_guard lock(mutex_);
    loop_ = &loop;
    ++sequence_;
  }
  // No more threads than pieces: the caller takes one.
  if (loop.pieces - 1 >= workers_.size()) {
    wake_.notify_all();
  } else {
    for (std::size_t i = 1; i < loop.pieces; ++i) wake_.notify_one();
  }
  loop.work();
  {
    std::unique_lock lock(mutex_);
    loop_ = nullptr;
    idle_.wait(lock, [this] { return inside_ == 0; });
  }
  busy_.store(false, std::memory_order_release);
}

void ThreadPool::serve() {
  std::uint64_t joined = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || (loop_ != nullptr && sequence_ != joined); });
    if (stop_) return;
    joined = sequence_;
    Loop& loop = *loop_;
    ++inside_;
    lock.unlock();
    loop.work();
    lock.lock();
    if (--inside_ == 0) idle_.notify_one();
  }
}

}  // namespace cuzk
