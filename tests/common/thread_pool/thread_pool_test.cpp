// The pool's promise: every piece once, everything visible afterwards, no dead-lock in any nesting.
#include "common/thread_pool.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace cuzk {
namespace {

TEST(ThreadPool, CallsEveryPieceOnceForAllShapes) {
  for (const unsigned threads : {0u, 1u, 2u, 3u, 8u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), std::max(threads, 1u));
    for (const std::size_t begin : {0, 5}) {
      for (const std::size_t count : {0, 1, 2, 7, 64, 1000}) {
        for (const std::size_t grain : {0, 1, 3, 64, 5000}) {
          std::vector<std::atomic<int>> seen(count);
          std::atomic<bool> aligned{true};
          pool.parallel_for(begin, begin + count, grain, [&](std::size_t b, std::size_t e) {
            const std::size_t step = std::max<std::size_t>(grain, 1);
            if ((b - begin) % step != 0 || (e - b != step && e != begin + count)) aligned = false;
            for (std::size_t i = b; i < e; ++i) ++seen[i - begin];
          });
          EXPECT_TRUE(aligned);
          for (const auto& times : seen) ASSERT_EQ(times, 1);
        }
      }
    }
  }
}

TEST(ThreadPool, AnEndBeforeTheBeginIsAnEmptyLoop) {
  ThreadPool pool(2);
  pool.parallel_for(5, 3, 1, [](std::size_t, std::size_t) { FAIL(); });
}

TEST(ThreadPool, AGrainNearTheLargestNumberDoesNotOverflow) {
  ThreadPool pool(2);
  std::atomic<std::size_t> sum{0};
  pool.parallel_for(0, 10, SIZE_MAX, [&](std::size_t b, std::size_t e) { sum += e - b; });
  EXPECT_EQ(sum, 10u);
}

TEST(ThreadPool, PlainWritesOfAllPiecesAreVisibleAfterEachOfManyLoops) {
  ThreadPool pool(4);
  std::vector<std::uint64_t> values(256, 0);
  for (int round = 0; round < 5000; ++round) {
    pool.parallel_for(0, values.size(), 16, [&](std::size_t b, std::size_t e) {
      for (std::size_t i = b; i < e; ++i) ++values[i];
    });
  }
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::uint64_t{0}), 256u * 5000u);
}

TEST(ThreadPool, ALoopInsideALoopRunsInline) {
  ThreadPool pool(3);
  std::atomic<int> inner{0};
  pool.parallel_for(0, 8, 1, [&](std::size_t, std::size_t) {
    const auto here = std::this_thread::get_id();
    pool.parallel_for(0, 10, 1, [&](std::size_t b, std::size_t e) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      inner += static_cast<int>(e - b);
    });
  });
  EXPECT_EQ(inner, 80);
}

TEST(ThreadPool, TwoCallersShareThePoolWithoutWaitingForEachOther) {
  ThreadPool pool(2);
  std::atomic<int> done{0};
  const auto caller = [&] {
    for (int i = 0; i < 500; ++i) {
      std::atomic<int> local{0};
      pool.parallel_for(0, 20, 1,
                        [&](std::size_t b, std::size_t e) { local += static_cast<int>(e - b); });
      if (local == 20) ++done;
    }
  };
  std::thread other(caller);
  caller();
  other.join();
  EXPECT_EQ(done, 1000);
}

TEST(ThreadPool, ThreadsReallyWorkAtTheSameTime) {
  ThreadPool pool(3);
  // Every piece waits for the others: only three threads at once can finish this.
  std::atomic<int> arrived{0};
  pool.parallel_for(0, 3, 1, [&](std::size_t, std::size_t) {
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 3);
}

}  // namespace
}  // namespace cuzk
