// The definitions behind msm.hpp, included by the one file per group that instantiates them.
//
// A multiplication is cut into tasks that need nothing of each other: a sum of points whose scalar
// is one, or one window (or a part of its points) of a list. The pool's threads take tasks from a
// common counter, longest first, each with scratch memory of its own; the few hundred doublings
// that put the windows together come last.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/msm/bucket_set.hpp"
#include "common/msm/bucket_sum.hpp"
#include "common/msm/msm.hpp"
#include "common/msm/recoding.hpp"
#include "common/msm/scalar_sorting.hpp"
#include "common/msm/window_plan.hpp"

namespace cuzk {
namespace msm_detail {

// Additions that share an inversion: with 512 it adds 2 % to them, and a batch's working set (its
// buckets, points, products) stays in a quarter of a 512 KiB L2. Chosen with bench_transform
// --benchmark_filter=pieces.
inline constexpr std::size_t kMaxBatch = 512;
static_assert(kMaxBatch >= 2 * kMaxSegments);
// Points to fetch ahead of their use when they are gathered by a list.
inline constexpr std::size_t kPrefetchDistance = 16;
// Sums of fewer points are not worth a batch.
inline constexpr std::size_t kMinBatchedSum = 256;

// What a thread may use for buckets: 2 MiB, and more for inputs that dwarf it (a sixteenth of 2^17
// points of 256 bytes is as much).
template <class Group>
std::size_t max_buckets(std::size_t points, unsigned threads) {
  const std::size_t bytes = std::max<std::size_t>(std::size_t{2} << 20, 16 * (points / threads));
  return std::bit_floor(bytes / sizeof(Affine<Group>));
}

// The costs that plan_windows weighs, per group; numbers from bench_transform
// --benchmark_filter=pieces.
template <class Group>
constexpr UnitCosts unit_costs();

template <class Group>
class Multiplication {
 public:
  using Point = Affine<Group>;
  using Sum = Xyzz<Group>;

  Multiplication(const MsmInput<Group>& input, ThreadPool& pool)
      : input_(input),
        pool_(pool),
        sorted_(sort_by_scalar(input.points.size(), input.scalars, input.indices, pool)),
        limits_{sizeof(Point), max_buckets<Group>(input.points.size(), pool.threads()), kMaxBatch} {
    plan();
    lay_out_tasks();
  }

  Jacobian<Group> operator()() {
    results_.assign(tasks_.size(), Sum::infinity());
    std::atomic<std::size_t> next{0};
    pool_.parallel_for(0, std::min<std::size_t>(pool_.threads(), tasks_.size()), 1,
                       [&](std::size_t first, std::size_t last) {
                         for (std::size_t i = first; i < last; ++i) work(next);
                       });
    return to_jacobian(combine());
  }

 private:
  // Points whose scalars have similar lengths, and the windows for them.
  struct List {
    std::span<const std::uint32_t> points;
    WindowPlan plan;
    Recoder recoder;
  };
  struct Task {
    std::size_t list;  // kOnes, or an index into lists_
    std::size_t window;
    std::size_t first;  // of the list's points
    std::size_t last;
  };
  static constexpr std::size_t kOnes = SIZE_MAX;

  // A thread's own memory, allocated with its first task that wants it.
  struct Scratch {
    std::optional<BucketSet<Group>> buckets;
    BucketSum<Group> sum;
    std::vector<Sum> plain;
  };

  void plan() {
    const auto plan_for = [&](std::span<const std::uint32_t> points, unsigned bits) {
      return plan_windows(points.size(), bits, pool_.threads(), unit_costs<Group>(), limits_);
    };
    const auto use = [&](std::span<const std::uint32_t> points, WindowPlan plan) {
      Recoder recoder(plan.windows);
      lists_.push_back({points, std::move(plan), recoder});
    };
    if (sorted_.wide == 0) {
      if (sorted_.narrow > 0)
        use(sorted_.narrow_points(), plan_for(sorted_.narrow_points(), sorted_.narrow_bits));
      return;
    }
    WindowPlan together = plan_for(sorted_.narrow_and_wide_points(), sorted_.wide_bits);
    if (sorted_.narrow > 0) {
      WindowPlan narrow = plan_for(sorted_.narrow_points(), sorted_.narrow_bits);
      WindowPlan wide = plan_for(sorted_.wide_points(), sorted_.wide_bits);
      if (narrow.cost + wide.cost < together.cost) {
        use(sorted_.narrow_points(), std::move(narrow));
        use(sorted_.wide_points(), std::move(wide));
        return;
      }
    }
    use(sorted_.narrow_and_wide_points(), std::move(together));
  }

  void lay_out_tasks() {
    const auto cut = [&](std::size_t list, std::size_t window, std::size_t points,
                         std::size_t parts) {
      for (std::size_t part = 0; part < parts; ++part) {
        tasks_.push_back({list, window, points * part / parts, points * (part + 1) / parts});
      }
    };
    for (std::size_t l = 0; l < lists_.size(); ++l) {
      const List& list = lists_[l];
      for (std::size_t w = list.plan.windows.size(); w-- > 0;) {
        cut(l, w, list.points.size(), w < list.plan.split ? list.plan.parts : 1);
      }
      max_buckets_used_ = std::max(max_buckets_used_, list.plan.batched ? list.plan.buckets() : 0);
    }
    if (sorted_.ones > 0) {
      const std::size_t parts = sorted_.ones / kMinBatchedSum;
      cut(kOnes, 0, sorted_.ones, std::clamp<std::size_t>(parts, 1, pool_.threads()));
      if (sorted_.ones >= kMinBatchedSum)
        max_buckets_used_ = std::max(max_buckets_used_, kMaxBatch);
    }
    const auto length = [](const Task& task) { return task.last - task.first; };
    std::stable_sort(tasks_.begin(), tasks_.end(),
                     [&](const Task& a, const Task& b) { return length(a) > length(b); });
  }

  void work(std::atomic<std::size_t>& next) {
    Scratch scratch;
    for (std::size_t i = next.fetch_add(1, std::memory_order_relaxed); i < tasks_.size();
         i = next.fetch_add(1, std::memory_order_relaxed)) {
      const Task& task = tasks_[i];
      if (task.list == kOnes) {
        results_[i] =
            sum_of_ones(sorted_.one_points().subspan(task.first, task.last - task.first), scratch);
        continue;
      }
      const List& list = lists_[task.list];
      results_[i] = list.plan.batched ? batched_window(list, task, scratch)
                                      : plain_window(list, task, scratch);
    }
  }

  BucketSet<Group>& bucket_set(Scratch& scratch) {
    if (!scratch.buckets) scratch.buckets.emplace(max_buckets_used_, kMaxBatch);
    return *scratch.buckets;
  }

  // Calls use(digit, point) for the task's points whose digit is not zero.
  template <class Use>
  void for_each_digit(const List& list, const Task& task, const Use& use) const {
    const Window& window = list.plan.windows[task.window];
    const std::span<const std::uint32_t> order = list.points;
    for (std::size_t k = task.first; k < task.last; ++k) {
      if (k + kPrefetchDistance < task.last) prefetch(order[k + kPrefetchDistance]);
      const std::uint32_t i = order[k];
      const std::int32_t digit = list.recoder.digit(scalar_of(i), window);
      if (digit != 0) use(digit, input_.points[i]);
    }
  }

  Sum batched_window(const List& list, const Task& task, Scratch& scratch) {
    BucketSet<Group>& set = bucket_set(scratch);
    set.reset(list.plan.windows[task.window].buckets(), list.plan.batch);
    for_each_digit(list, task, [&](std::int32_t digit, const Point& point) {
      const bool negate = digit < 0;
      set.add(static_cast<std::uint32_t>(negate ? -digit : digit) - 1, point, negate);
    });
    return scratch.sum(set.finish(), set.adder());
  }

  Sum plain_window(const List& list, const Task& task, Scratch& scratch) {
    scratch.plain.assign(list.plan.windows[task.window].buckets(), Sum::infinity());
    for_each_digit(list, task, [&](std::int32_t digit, const Point& point) {
      const bool negate = digit < 0;
      Sum& bucket = scratch.plain[static_cast<std::uint32_t>(negate ? -digit : digit) - 1];
      bucket = add_mixed(bucket, Point{point.x, with_sign(point.y, negate)});
    });
    Sum running = Sum::infinity();
    Sum total = Sum::infinity();
    for (std::size_t b = scratch.plain.size(); b-- > 0;) {
      running = add(running, scratch.plain[b]);
      total = add(total, running);
    }
    return total;
  }

  // Points are dealt to as many sums as a batch holds, which are then folded in half until one is
  // left.
  Sum sum_of_ones(std::span<const std::uint32_t> order, Scratch& scratch) {
    Sum sum = Sum::infinity();
    if (order.size() < kMinBatchedSum) {
      for (const std::uint32_t i : order) sum = add_mixed(sum, input_.points[i]);
      return sum;
    }
    BucketSet<Group>& set = bucket_set(scratch);
    const std::size_t sums = std::min(kMaxBatch, std::bit_floor(order.size() / 4));
    set.reset(sums, sums);
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k + kPrefetchDistance < order.size()) prefetch_point(order[k + kPrefetchDistance]);
      set.add(static_cast<std::uint32_t>(k & (sums - 1)), input_.points[order[k]], false);
    }
    const std::span<Point> left = set.finish();
    std::size_t half = sums / 2;
    for (; half >= 32; half /= 2) set.fold(half);
    for (const Point& point : left.first(2 * half)) sum = add_mixed(sum, point);
    return sum;
  }

  const Scalar& scalar_of(std::size_t i) const {
    return input_.scalars[input_.indices.empty() ? i : input_.indices[i]];
  }
  void prefetch_point(std::size_t i) const {
    const char* const point = reinterpret_cast<const char*>(&input_.points[i]);
    for (std::size_t line = 0; line < sizeof(Point); line += 64) __builtin_prefetch(point + line);
  }
  void prefetch(std::size_t i) const {
    prefetch_point(i);
    __builtin_prefetch(&scalar_of(i));
  }

  // The sum over all tasks of 2^offset * result: down from the highest window, doubling in between.
  Sum combine() const {
    Sum sum = Sum::infinity();
    for (std::size_t l = 0; l < lists_.size(); ++l) {
      const std::vector<Window>& windows = lists_[l].plan.windows;
      Sum list_sum = Sum::infinity();
      for (std::size_t w = windows.size(); w-- > 0;) {
        if (w + 1 < windows.size()) {
          for (unsigned bit = 0; bit < windows[w].bits; ++bit) list_sum = dbl(list_sum);
        }
        add_results(list_sum, l, w);
      }
      sum = add(sum, list_sum);
    }
    add_results(sum, kOnes, 0);
    return sum;
  }
  void add_results(Sum& sum, std::size_t list, std::size_t window) const {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].list == list && tasks_[i].window == window) sum = add(sum, results_[i]);
    }
  }

  const MsmInput<Group>& input_;
  ThreadPool& pool_;
  SortedPoints sorted_;
  PlanLimits limits_;
  std::vector<List> lists_;
  std::vector<Task> tasks_;
  std::vector<Sum> results_;  // per task
  std::size_t max_buckets_used_ = 0;
};

}  // namespace msm_detail

template <class Group>
Jacobian<Group> msm(const MsmInput<Group>& input, ThreadPool& pool) {
  return msm_detail::Multiplication<Group>(input, pool)();
}

template <class Group>
std::size_t msm_scratch_bytes(std::size_t points, unsigned threads) {
  using namespace msm_detail;
  const std::size_t buckets = std::max(max_buckets<Group>(points, threads), kMaxBatch);
  const std::size_t thread =
      BucketSet<Group>::scratch_bytes(buckets, kMaxBatch) + BucketSum<Group>::scratch_bytes();
  const std::size_t tasks = (kMaxScalarBits + 64 + 1) * std::size_t{threads};
  return points * sizeof(std::uint32_t) + threads * thread + tasks * (sizeof(Xyzz<Group>) + 64);
}

}  // namespace cuzk
