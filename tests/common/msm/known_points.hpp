// Points whose discrete logarithms are known, so that a long sum has a short right answer.
//
// sum_i s_i P_i with P_i = k_i G is (sum_i s_i k_i mod r) G: one double-and-add, however many
// points.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "common/curve/points.hpp"
#include "common/msm/msm.hpp"

namespace cuzk {

template <class Group>
struct KnownPoints {
  using Scalar = typename Group::Scalar;
  std::vector<Affine<Group>> points;
  std::vector<Scalar> logarithms;

  std::size_t size() const { return points.size(); }
  void push(const Affine<Group>& point, const Scalar& logarithm) {
    points.push_back(point);
    logarithms.push_back(logarithm);
  }
};

template <class Group>
Affine<Group> base_point() {
  return {Group::generator_x(), Group::generator_y()};
}

template <class Scalar>
Scalar random_scalar(std::mt19937_64& random) {
  typename Scalar::Integer integer{};
  do {
    for (std::uint64_t& limb : integer.limb) limb = random();
    integer.limb[3] >>= 1;
  } while (!Scalar::is_canonical(integer));
  return Scalar::from_integer(integer);
}

// Random points: sums of three of 16 random multiples of the generator.
template <class Group>
KnownPoints<Group> known_points(std::size_t count, std::mt19937_64& random) {
  using Scalar = typename Group::Scalar;
  std::vector<Scalar> logarithms;
  std::vector<Jacobian<Group>> multiples;
  for (int i = 0; i < 16; ++i) {
    logarithms.push_back(random_scalar<Scalar>(random));
    multiples.push_back(mul(base_point<Group>(), logarithms.back().to_integer()));
  }
  KnownPoints<Group> known;
  std::vector<Jacobian<Group>> sums;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t a = random() % 16;
    const std::size_t b = random() % 16;
    const std::size_t c = random() % 16;
    sums.push_back(add(add(multiples[a], multiples[b]), multiples[c]));
    known.logarithms.push_back(logarithms[a] + logarithms[b] + logarithms[c]);
  }
  known.points.resize(count);
  batch_to_affine<Group>(sums, known.points);
  return known;
}

// The right answer for point i times scalar i, or scalar indices[i].
template <class Group>
Affine<Group> expected_sum(const KnownPoints<Group>& known, const std::vector<BigInt<4>>& scalars,
                           const std::vector<std::uint32_t>& indices = {}) {
  using Scalar = typename Group::Scalar;
  Scalar sum = Scalar::zero();
  for (std::size_t i = 0; i < known.size(); ++i) {
    sum =
        sum + known.logarithms[i] * Scalar::from_integer(scalars[indices.empty() ? i : indices[i]]);
  }
  return to_affine(mul(base_point<Group>(), sum.to_integer()));
}

}  // namespace cuzk
