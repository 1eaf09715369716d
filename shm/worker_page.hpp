// What a worker shows of its work, and what the supervisor tells it besides commands.
//
// Both are pages that one side writes and the other reads, at any time, without a message: the progress
// counter is what a watch-dog looks at, the marks are what a crash record shows, the cancel list is what
// a running task polls. Nothing is decided by a worker page alone: its writer may be wild.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/types.hpp"
#include "shm/memfd.hpp"
#include "shm/shared_word.hpp"

namespace cuzk::shm {

inline constexpr std::size_t kMarks = 64;
inline constexpr std::size_t kStepNameBytes = 32;  // longer names are cut
inline constexpr std::size_t kCancels = 64;        // more than the tasks a worker can have

// One step of progress. Writer: the worker thread that does the work, each word with release. Reader:
// the supervisor, each word with acquire, then `begun`: see WorkerPageView::marks.
struct ProgressMark {
  SharedWord nanoseconds;  // CLOCK_MONOTONIC
  SharedWord task;
  SharedWord permille;  // of the step, 0 to 1000
  SharedWord reserved;
  std::array<SharedWord, kStepNameBytes / 8> step;  // zero-padded
};
static_assert(sizeof(ProgressMark) == 64);

// All fields: writer the worker, reader the supervisor.
struct WorkerPage {
  // Marks ever finished; the watch-dog's counter. Release after a mark's words; the supervisor's acquire
  // pairs with it.
  SharedWord progress;
  // Marks ever begun: release-ordered before a mark's words by their own release stores, so that a
  // reader that sees a word of a newer mark also sees `begun` and drops the mark.
  SharedWord begun;
  // The task being worked on, 0 when idle. Relaxed: a hint.
  SharedWord task;
  std::array<std::uint64_t, 509> reserved;
  std::array<ProgressMark, kMarks> marks;
};
static_assert(sizeof(WorkerPage) == 2 * kPageBytes && offsetof(WorkerPage, marks) == kPageBytes);
static_assert(std::is_trivial_v<WorkerPage> && std::is_standard_layout_v<WorkerPage>);

// All fields: writer the supervisor, reader the worker.
struct SupervisorPage {
  // Grows while the supervisor's loop turns. Relaxed: a hint for people with a debugger.
  SharedWord heartbeat;
  std::array<std::uint64_t, 15> reserved_1;
  // Tasks that nobody wants any more; 0 is none. Relaxed: no other data hangs on it, a late look only
  // cancels later.
  std::array<SharedWord, kCancels> cancelled;
  std::array<std::uint64_t, 432> reserved_2;
};
static_assert(sizeof(SupervisorPage) == kPageBytes && offsetof(SupervisorPage, cancelled) == 128);
static_assert(std::is_trivial_v<SupervisorPage> && std::is_standard_layout_v<SupervisorPage>);

// A mark as the supervisor copied it; `step` has only printable ASCII, whatever the worker wrote.
struct MarkCopy {
  std::uint64_t nanoseconds = 0;
  TaskId task;
  std::uint64_t permille = 0;
  std::string step;
};

// The worker's side.
class WorkerPageWriter {
 public:
  explicit WorkerPageWriter(WorkerPage& page) : page_(&page) {}
  void set_task(TaskId task) { page_->task.store(task.value, std::memory_order_relaxed); }
  void mark(TaskId task, std::string_view step, std::uint32_t permille);

 private:
  WorkerPage* page_;
  std::uint64_t marks_ = 0;
};

// The supervisor's side.
class WorkerPageView {
 public:
  explicit WorkerPageView(const WorkerPage& page) : page_(&page) {}
  std::uint64_t progress() const { return page_->progress.load(std::memory_order_acquire); }
  TaskId task() const { return TaskId{page_->task.load(std::memory_order_relaxed)}; }
  // The last marks, oldest first, without those that were being overwritten.
  std::vector<MarkCopy> marks() const;

 private:
  const WorkerPage* page_;
};

}  // namespace cuzk::shm
