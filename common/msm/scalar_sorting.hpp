// Sorts the points of a multiplication by the length of their scalars.
//
// Witnesses are mostly bits: a zero needs nothing, a one needs one addition and no window. Among
// the rest, scalars of at most 64 bits (counters, words, range checks) would leave the upper
// windows empty, so they get windows of their own where that is cheaper. The lists keep the points'
// order, which keeps memory access sequential.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/msm/recoding.hpp"
#include "common/thread_pool.hpp"

namespace cuzk::msm_detail {

struct SortedPoints {
  std::vector<std::uint32_t> order;  // points with scalar one, then narrow ones, then wide ones
  std::size_t ones = 0;
  std::size_t narrow = 0;
  std::size_t wide = 0;
  unsigned narrow_bits = 0;  // every narrow scalar is below 2^narrow_bits <= 2^64
  unsigned wide_bits = 0;

  std::span<const std::uint32_t> one_points() const { return {order.data(), ones}; }
  std::span<const std::uint32_t> narrow_points() const { return {order.data() + ones, narrow}; }
  std::span<const std::uint32_t> wide_points() const {
    return {order.data() + ones + narrow, wide};
  }
  std::span<const std::uint32_t> narrow_and_wide_points() const {
    return {order.data() + ones, narrow + wide};
  }
};

// Point i has scalar indices[i], or i where `indices` is empty.
SortedPoints sort_by_scalar(std::size_t points, std::span<const Scalar> scalars,
                            std::span<const std::uint32_t> indices, ThreadPool& pool);

}  // namespace cuzk::msm_detail
