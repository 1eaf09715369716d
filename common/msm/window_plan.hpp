// How many windows, how wide, and who works on them: decided by a model of the cost.
//
// Wide windows mean fewer additions a point but more buckets to sum up, and a number of windows
// that the threads cannot share out evenly leaves some idle at the end. So every number of windows
// is tried on paper: as many as divide evenly among the threads are worked on whole, the rest are
// cut by points into parts with buckets of their own. The unit of cost is one affine addition in a
// batch.
#pragma once

#include <cstddef>
#include <vector>

#include "common/msm/recoding.hpp"

namespace cuzk::msm_detail {

// In units of one batched affine addition. Measured with bench_transform --benchmark_filter=pieces.
struct UnitCosts {
  double inversion;     // the one a batch shares
  double plain_add;     // an XYZZ addition of an affine point
  double plain_bucket;  // two XYZZ additions: summing up a bucket without batches
  double read_digit;    // of one scalar in one window
};

struct PlanLimits {
  std::size_t bucket_bytes;  // of one affine point
  std::size_t max_buckets;   // a thread's memory allows
  std::size_t max_batch;
};

struct WindowPlan {
  std::vector<Window> windows;  // lowest first
  bool batched = false;         // affine buckets and batches; else XYZZ buckets
  std::size_t batch = 0;        // additions a batch at most
  unsigned split = 0;           // so many of the lowest windows are cut
  unsigned parts = 1;           // into so many parts
  double cost = 0;              // of the whole on the given threads, in units

  std::size_t buckets() const { return windows.empty() ? 0 : windows.front().buckets(); }
};

// The cheapest plan found for `points` scalars below 2^scalar_bits, 1 <= scalar_bits <=
// kMaxScalarBits.
WindowPlan plan_windows(std::size_t points, unsigned scalar_bits, unsigned threads,
                        const UnitCosts& costs, const PlanLimits& limits);

// Additions a batch for so many buckets: few enough that most points find their bucket free.
std::size_t batch_size(std::size_t buckets, const PlanLimits& limits);

}  // namespace cuzk::msm_detail
