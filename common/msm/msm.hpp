// Multi-scalar multiplication: sum_i scalar_i * point_i, by Pippenger's bucket method.
//
// Five of these are most of what a proof costs, and their inputs differ: the quotient's scalars are
// all wide, a witness is mostly zeros and ones. So scalars are sorted into kinds first (zeros
// dropped, ones summed, the rest by length), and windows are planned for what is left. The result
// is exact for every input: equal or opposite points, points at infinity, all scalars alike; such
// inputs cost at most a few times what random ones do.
//
// Running time depends on the scalars. They are secret from clients but not from this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/curve/curves.hpp"
#include "common/curve/points.hpp"
#include "common/thread_pool.hpp"

namespace cuzk {

template <class Group>
struct MsmInput {
  // Points in the subgroup; infinity (both coordinates zero) is allowed. Fewer than 2^32.
  std::span<const Affine<Group>> points;
  // Canonical integers, below the group order.
  std::span<const typename Group::Scalar::Integer> scalars;
  // Point i goes with scalar indices[i], each below scalars.size(); as long as `points`. Empty:
  // with scalar i.
  std::span<const std::uint32_t> indices = {};
};

// The sum; infinity for no points. `scalars` may be longer than `points`.
template <class Group>
Jacobian<Group> msm(const MsmInput<Group>& input, ThreadPool& pool);

// An upper bound of what a call allocates beyond its input, for any scalars.
template <class Group>
std::size_t msm_scratch_bytes(std::size_t points, unsigned threads);

}  // namespace cuzk
