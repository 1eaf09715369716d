// A fixed set of threads that share one loop at a time.
//
// The heavy steps of proving (transforms, multi-scalar multiplications, conversion of keys) are
// loops over independent pieces. The pool keeps its threads for the life of an engine, so that such
// a loop costs a wake-up and not a thread. The caller is one of the threads; with one thread
// nothing is ever started and every loop runs inline. There is no queue of tasks and no future: a
// loop has ended when the call returns.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace cuzk {

class ThreadPool {
 public:
  // `threads` counts the caller; 0 is taken as 1. Throws std::system_error when the system refuses
  // a thread.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The number of threads that a loop can use, the caller included: at least 1.
  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }

  // Calls fn(b, e) for the pieces [begin + k*grain, begin + (k+1)*grain) that cover [begin, end),
  // each once, in no order, on any of the threads; returns when all have returned, and what they
  // wrote is visible to the caller. `grain` (at least 1; 0 is taken as 1) should be worth some
  // microseconds. `fn` must not throw. A loop that is started while another one of this pool runs
  // (from inside it, or by another thread) runs inline.
  template <class Fn>
  void parallel_for(std::size_t begin, std::size_t end, std::size_t grain, Fn&& fn) {
    if (begin >= end) return;
    grain = std::max<std::size_t>(grain, 1);
    using Body = std::remove_reference_t<Fn>;
    Loop loop{begin,
              end,
              grain,
              (end - begin - 1) / grain + 1,
              const_cast<void*>(static_cast<const void*>(std::addressof(fn))),
              [](void* body, std::size_t b, std::size_t e) { (*static_cast<Body*>(body))(b, e); }};
    run(loop);
  }

 private:
  // One call of parallel_for, on the caller's stack. Threads take pieces by counting `next` up.
  struct Loop {
    std::size_t begin;
    std::size_t end;
    std::size_t grain;
    std::size_t pieces;
    void* body;
    void (*call)(void* body, std::size_t b, std::size_t e);
    std::atomic<std::size_t> next{0};

    void work();
  };

  void run(Loop& loop);
  void serve();

  std::vector<std::thread> workers_;
  std::atomic<bool> busy_{false};  // taken by the caller whose loop may use the workers

  std::mutex mutex_;
  std::condition_variable wake_;  // to workers: there is a loop, or it is time to stop
  std::condition_variable idle_;  // to the caller: the last worker has left the loop
  Loop* loop_ = nullptr;          // guarded by mutex_; null once its caller has run out of pieces
  std::uint64_t sequence_ = 0;  // guarded by mutex_; counts loops, so that a worker joins each once
  unsigned inside_ = 0;         // guarded by mutex_; workers that may still touch *loop_
  bool stop_ = false;           // guarded by mutex_
};

}  // namespace cuzk
