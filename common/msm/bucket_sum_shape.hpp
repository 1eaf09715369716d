// Into how many running sums a window's buckets are cut; shared by the summing and by the model of
// its cost.
//
// Apart from bucket_sum.hpp because the model knows nothing of groups.
#pragma once

#include <algorithm>
#include <cstddef>

namespace cuzk::msm_detail {

// 256 running sums make batches of up to 512 additions; joining them takes two XYZZ additions a
// segment, under 1 % of a window. Chosen with bench_transform --benchmark_filter=msm.
inline constexpr std::size_t kMaxSegments = 256;
// With shorter segments, or fewer, the inversions outweigh what batches save.
inline constexpr std::size_t kMinSegmentLength = 16;
inline constexpr std::size_t kMinSegments = 16;

struct SegmentShape {
  std::size_t segments;  // 0: do without batches
  std::size_t length;    // buckets a segment
};

// `buckets` must be a power of two.
constexpr SegmentShape segment_shape(std::size_t buckets) {
  const std::size_t segments = std::min(kMaxSegments, buckets / kMinSegmentLength);
  if (segments < kMinSegments) return {0, 0};
  return {segments, buckets / segments};
}

}  // namespace cuzk::msm_detail
