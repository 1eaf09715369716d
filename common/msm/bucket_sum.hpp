// The weighted sum of a window's buckets, sum_b (b + 1) * bucket[b], by running sums in lock-step.
//
// Going down from the highest bucket, `running` adds up buckets and `total` adds up `running`: two
// additions a bucket and no multiplication, but each waits for the one before. Cut into segments,
// each segment has running sums of its own, one step of all of them is one batch of affine
// additions, and the segments' results are put together by the same method once more:
//
//   sum_b (b + 1) B_b = sum_g total_g + L * sum_g g * running_g      (segment g holds buckets g L
//   to (g + 1) L - 1)
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/msm/batch_add.hpp"
#include "common/msm/bucket_sum_shape.hpp"

namespace cuzk::msm_detail {

// sum_i (i + 1) * points[i], one after the other.
template <class Group, class PointSpan>
Xyzz<Group> weighted_sum(const PointSpan& points) {
  Xyzz<Group> running = Xyzz<Group>::infinity();
  Xyzz<Group> total = Xyzz<Group>::infinity();
  for (std::size_t i = points.size(); i-- > 0;) {
    running = add_mixed(running, points[i]);
    total = add(total, running);
  }
  return total;
}

template <class Group>
class BucketSum {
 public:
  using Point = Affine<Group>;

  BucketSum() : sums_(2 * kMaxSegments), carried_(kMaxSegments) {}

  static constexpr std::size_t scratch_bytes() {
    return 2 * kMaxSegments * sizeof(Point) + kMaxSegments;
  }

  // The number of buckets must be a power of two; the adder must be empty and hold 2 *
  // kMaxSegments.
  Xyzz<Group> operator()(std::span<const Point> buckets, BatchAdder<Group>& adder) {
    const auto [segments, length] = segment_shape(buckets.size());
    if (segments == 0) return weighted_sum<Group>(buckets);
    Point* const running = sums_.data();
    Point* const total = running + segments;
    for (std::size_t g = 0; g < segments; ++g) {
      running[g] = buckets[g * length + length - 1];
      total[g] = {};
    }
    for (std::size_t step = 1; step <= length; ++step) {
      // What is copied instead of added must not be added below: decide before `running` changes.
      for (std::size_t g = 0; g < segments; ++g) {
        carried_[g] = !is_infinity(running[g]) && !is_infinity(total[g]);
        if (is_infinity(total[g])) total[g] = running[g];
      }
      if (step < length) {
        for (std::size_t g = 0; g < segments; ++g) {
          const Point& bucket = buckets[g * length + length - 1 - step];
          if (is_infinity(bucket)) continue;
          if (is_infinity(running[g])) {
            running[g] = bucket;
          } else {
            adder.push(static_cast<std::uint32_t>(g), &bucket, false);
          }
        }
      }
      // Planned after the additions to `running`, hence with its old value.
      for (std::size_t g = 0; g < segments; ++g) {
        if (carried_[g]) adder.push(static_cast<std::uint32_t>(segments + g), &running[g], false);
      }
      adder.run(sums_.data());
      adder.clear();
    }
    return join(std::span<const Point>(running, segments), std::span<const Point>(total, segments),
                length);
  }

 private:
  static Xyzz<Group> join(std::span<const Point> running, std::span<const Point> total,
                          std::size_t length) {
    Xyzz<Group> sum = weighted_sum<Group>(running.subspan(1));
    for (std::size_t l = length; l > 1; l /= 2) sum = dbl(sum);
    for (const Point& point : total) sum = add_mixed(sum, point);
    return sum;
  }

  std::vector<Point> sums_;            // running, then total
  std::vector<std::uint8_t> carried_;  // this step adds running to total
};

}  // namespace cuzk::msm_detail
