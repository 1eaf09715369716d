#include "shm/worker_page.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

namespace cuzk::shm {

namespace {

std::uint64_t monotonic_nanoseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

MarkCopy copy_mark(const ProgressMark& mark) {
  MarkCopy copy;
  copy.nanoseconds = mark.nanoseconds.load(std::memory_order_acquire);
  copy.task.value = mark.task.load(std::memory_order_acquire);
  copy.permille = std::min<std::uint64_t>(mark.permille.load(std::memory_order_acquire), 1000);
  std::array<char, kStepNameBytes> name;
  for (std::size_t i = 0; i < mark.step.size(); ++i) {
    const std::uint64_t word = mark.step[i].load(std::memory_order_acquire);
    std::memcpy(name.data() + 8 * i, &word, 8);
  }
  for (const char c : name) {
    if (c == '\0') break;
    copy.step.push_back(c >= ' ' && c <= '~' ? c : '?');
  }
  return copy;
}

}  // namespace

void WorkerPageWriter::mark(TaskId task, std::string_view step, std::uint32_t permille) {
  ProgressMark& mark = page_->marks[marks_ % kMarks];
  page_->begun.store(marks_ + 1, std::memory_order_relaxed);
  std::array<char, kStepNameBytes> name{};
  std::memcpy(name.data(), step.data(), std::min(step.size(), name.size()));
  // Release: whoever sees one of these words sees `begun` above.
  mark.nanoseconds.store(monotonic_nanoseconds(), std::memory_order_release);
  mark.task.store(task.value, std::memory_order_release);
  mark.permille.store(permille, std::memory_order_release);
  for (std::size_t i = 0; i < mark.step.size(); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, name.data() + 8 * i, 8);
    mark.step[i].store(word, std::memory_order_release);
  }
  // If we die here, the mark is not counted and not shown: TheViewShowsOnlyWholeMarks.
  page_->progress.store(++marks_, std::memory_order_release);
}

std::vector<MarkCopy> WorkerPageView::marks() const {
  const std::uint64_t finished = page_->progress.load(std::memory_order_acquire);
  const std::uint64_t first = finished - std::min<std::uint64_t>(finished, kMarks);
  std::vector<MarkCopy> copies;
  for (std::uint64_t i = first; i < finished; ++i) copies.push_back(copy_mark(page_->marks[i % kMarks]));
  // Ordered after the copies by their acquires. Mark i is whole unless mark i + kMarks was begun.
  const std::uint64_t begun = page_->begun.load(std::memory_order_relaxed);
  const std::uint64_t first_whole = begun - std::min<std::uint64_t>(begun, kMarks);
  if (first_whole > first) {
    const std::uint64_t torn = std::min<std::uint64_t>(first_whole - first, copies.size());
    copies.erase(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(torn));
  }
  return copies;
}

}  // namespace cuzk::shm
