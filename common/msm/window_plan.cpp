// The model behind plan_windows: counts of additions, inversions and digits, weighted by measured
// costs.
//
// It knows random scalars. For others its plan may be slower than the best, never wrong.
#include "common/msm/window_plan.hpp"

#include <algorithm>
#include <cmath>

#include "common/msm/bucket_sum_shape.hpp"

namespace cuzk::msm_detail {
namespace {

// One window over `points` points without batches.
double plain_cost(double points, double buckets, const UnitCosts& costs) {
  const double filled = buckets * (1 - std::exp(-points / buckets));
  return points * costs.read_digit + (points - filled) * costs.plain_add +
         buckets * costs.plain_bucket;
}

// Additions to buckets that outgrow the L2 cache of 512 KiB take 8 % longer for each doubling
// (measured with 512 KiB to 2 MiB of them).
double cache_factor(std::size_t bytes) {
  const double doublings = std::log2(static_cast<double>(bytes) / (512 * 1024));
  return 1 + 0.08 * std::max(0.0, doublings);
}

// The same with batches: every point that finds its bucket empty is free, every batch costs an
// inversion.
double batched_cost(double points, std::size_t buckets, const UnitCosts& costs,
                    const PlanLimits& limits) {
  const double batch = static_cast<double>(batch_size(buckets, limits));
  const double filled =
      static_cast<double>(buckets) * (1 - std::exp(-points / static_cast<double>(buckets)));
  const double filling =
      points * costs.read_digit +
      (points - filled) * (cache_factor(buckets * limits.bucket_bytes) + costs.inversion / batch);
  const SegmentShape shape = segment_shape(buckets);
  if (shape.segments == 0) return filling + static_cast<double>(buckets) * costs.plain_bucket;
  const double summing =
      2 * static_cast<double>(buckets) + static_cast<double>(shape.length + 1) * costs.inversion +
      static_cast<double>(shape.segments) * (costs.plain_bucket + costs.plain_add);
  return filling + summing;
}

double window_cost(double points, std::size_t buckets, bool batched, const UnitCosts& costs,
                   const PlanLimits& limits) {
  return batched ? batched_cost(points, buckets, costs, limits)
                 : plain_cost(points, static_cast<double>(buckets), costs);
}

// Waking threads for less than this is not worth it: about 50 microseconds of additions.
constexpr double kMinCostPerThread = 400;

// Fills in how the windows are shared out, and the cost.
void share_out(WindowPlan& plan, double points, unsigned threads, const UnitCosts& costs,
               const PlanLimits& limits) {
  const unsigned count = static_cast<unsigned>(plan.windows.size());
  const auto cost_of = [&](const Window& window, double share) {
    return window_cost(share, window.buckets(), plan.batched, costs, limits);
  };
  plan.split = count % threads;
  plan.parts = 1;
  plan.cost = 0;
  for (unsigned w = plan.split; w < count; ++w)
    plan.cost += cost_of(plan.windows[w], points) / threads;
  if (plan.split == 0) return;
  // Of the same width or all but: the lowest stands for those that are cut.
  double best = cost_of(plan.windows[0], points);  // not cut: some threads idle
  for (unsigned parts = 2; parts <= threads; ++parts) {
    const unsigned rounds = (plan.split * parts + threads - 1) / threads;
    const double cost = rounds * cost_of(plan.windows[0], points / parts);
    if (cost < best) {
      best = cost;
      plan.parts = parts;
    }
  }
  plan.cost += best;
  if (plan.parts == 1) plan.split = 0;
}

}  // namespace

std::size_t batch_size(std::size_t buckets, const PlanLimits& limits) {
  return std::clamp<std::size_t>(buckets / 8, 32, limits.max_batch);
}

WindowPlan plan_windows(std::size_t points, unsigned scalar_bits, unsigned threads,
                        const UnitCosts& costs, const PlanLimits& limits) {
  WindowPlan best;
  const double n = static_cast<double>(points);
  for (unsigned count = 1; count <= scalar_bits; ++count) {
    WindowPlan plan;
    const unsigned widest = (scalar_bits + 1 + count - 1) / count;
    if (widest > 31 || (std::size_t{1} << (widest - 1)) > limits.max_buckets) continue;
    plan.windows = cut_windows(scalar_bits, count);
    for (const bool batched : {false, true}) {
      plan.batched = batched;
      plan.batch = batch_size(plan.buckets(), limits);
      share_out(plan, n, 1, costs, limits);
      const unsigned useful = static_cast<unsigned>(
          std::clamp<double>(plan.cost / kMinCostPerThread, 1, static_cast<double>(threads)));
      share_out(plan, n, useful, costs, limits);
      if (best.windows.empty() || plan.cost < best.cost) best = plan;
    }
    if (widest == 2) break;
  }
  return best;
}

}  // namespace cuzk::msm_detail
