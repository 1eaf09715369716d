#include "shm/worker_page.hpp"

#include <atomic>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

namespace cuzk::shm {
namespace {

TEST(WorkerPage, ShowsTheLastMarksOldestFirst) {
  auto page = std::make_unique<WorkerPage>();
  WorkerPageWriter writer(*page);
  const WorkerPageView view(*page);
  EXPECT_TRUE(view.marks().empty());
  writer.set_task(TaskId{9});
  EXPECT_EQ(view.task(), TaskId{9});
  for (std::uint32_t i = 0; i < 100; ++i) writer.mark(TaskId{i}, "step " + std::to_string(i), i);
  EXPECT_EQ(view.progress(), 100u);
  const auto marks = view.marks();
  ASSERT_EQ(marks.size(), kMarks);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    EXPECT_EQ(marks[i].task.value, 36 + i);
    EXPECT_EQ(marks[i].permille, 36 + i);
    EXPECT_EQ(marks[i].step, "step " + std::to_string(36 + i));
    if (i > 0) {
      EXPECT_GE(marks[i].nanoseconds, marks[i - 1].nanoseconds);
    }
  }
}

TEST(WorkerPage, LongNamesAreCutAndWildOnesCleaned) {
  auto page = std::make_unique<WorkerPage>();
  WorkerPageWriter writer(*page);
  writer.mark(TaskId{1}, std::string(100, 'a'), 5000);
  writer.mark(TaskId{1}, "bad\x1b[31m\xff", 1);
  const auto marks = WorkerPageView(*page).marks();
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[0].step, std::string(kStepNameBytes, 'a'));
  EXPECT_EQ(marks[0].permille, 1000u);
  EXPECT_EQ(marks[1].step, "bad?[31m?");
}

TEST(WorkerPage, WildCountersYieldAtMostAllMarks) {
  for (const std::uint64_t progress : {std::uint64_t{1}, std::uint64_t{1000}, ~std::uint64_t{0}}) {
    for (const std::uint64_t begun : {std::uint64_t{0}, std::uint64_t{1030}, ~std::uint64_t{0}}) {
      auto page = std::make_unique<WorkerPage>();
      page->progress.store(progress, std::memory_order_relaxed);
      page->begun.store(begun, std::memory_order_relaxed);
      EXPECT_LE(WorkerPageView(*page).marks().size(), kMarks);
    }
  }
}

// All words of a mark are made from one number, so a mark mixed from two is seen.
TEST(WorkerPage, TheViewShowsOnlyWholeMarks) {
  auto page = std::make_unique<WorkerPage>();
  std::atomic<bool> stop{false};
  std::thread writer_thread([&] {
    WorkerPageWriter writer(*page);
    for (std::uint32_t i = 0; !stop.load(std::memory_order_relaxed); ++i) {
      const std::string name(31, static_cast<char>('a' + i % 26));
      writer.mark(TaskId{i}, name, i % 1000);
    }
  });
  const WorkerPageView view(*page);
  std::size_t seen = 0;
  for (int look = 0; look < 300; ++look) {
    for (const MarkCopy& mark : view.marks()) {
      const std::string expected(31, static_cast<char>('a' + mark.task.value % 26));
      EXPECT_EQ(mark.step, expected);
      EXPECT_EQ(mark.permille, mark.task.value % 1000);
      ++seen;
    }
    if (testing::Test::HasFailure()) break;
    std::this_thread::yield();
  }
  stop = true;
  writer_thread.join();
  EXPECT_GT(seen, 0u);
}

}  // namespace
}  // namespace cuzk::shm
