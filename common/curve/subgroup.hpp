// Membership in the subgroup of prime order r, by endomorphisms instead of a multiplication by r.
//
// A key has millions of points and every one is checked once, so the check costs about as much as 64 to
// 128 doublings. Each test below is proved to hold for the points of the subgroup and for no others.
#pragma once

#include "common/curve/frobenius.hpp"

namespace cuzk {

// x p for the family's parameter x.
template <class Group>
Jacobian<Group> mul_by_x(const Jacobian<Group>& p) {
  using Curve = typename Group::Curve;
  const auto product = mul(p, BigInt<1>{{Curve::kX}});
  return Curve::kXIsNegative ? neg(product) : product;
}

// Whether p = q, across coordinates and without an inversion.
template <class Group>
bool is_same_point(const Jacobian<Group>& p, const Jacobian<Group>& q) {
  if (p.is_infinity() || q.is_infinity()) return p.is_infinity() == q.is_infinity();
  const auto pzz = p.z.square();
  const auto qzz = q.z.square();
  return p.x * qzz == q.x * pzz && p.y * qzz * q.z == q.y * pzz * p.z;
}

// A primitive cube root of unity of Fq, so that phi(x, y) = (beta x, y) acts on G1 as -x^2.
// 2 is not a cube in the field of BLS12-381.
template <class Curve>
constexpr typename Curve::Fq cube_root_of_unity() {
  auto exponent = Curve::Fq::Params::kModulus;
  exponent.limb[0] -= 1;
  divide(exponent, exponent, 3);
  return Curve::Fq::from_u64(2).pow(exponent);
}

// BN254's G1 has prime order: every point of the curve is in it.
inline bool is_in_subgroup(const Affine<G1Of<Bn254>>&) { return true; }

// phi(P) = -[x^2] P (Scott, eprint 2021/1130, section 6).
inline bool is_in_subgroup(const Affine<G1Of<Bls12_381>>& p) {
  static constexpr auto kBeta = cube_root_of_unity<Bls12_381>();
  if (p.is_infinity()) return true;
  const auto image = Jacobian<G1Of<Bls12_381>>::from({p.x * kBeta, p.y});
  return is_same_point(image, neg(mul_by_x(mul_by_x(Jacobian<G1Of<Bls12_381>>::from(p)))));
}

// psi(Q) = [x] Q (Scott, eprint 2021/1130, section 4).
inline bool is_in_subgroup(const Affine<G2Of<Bls12_381>>& q) {
  if (q.is_infinity()) return true;
  const auto start = Jacobian<G2Of<Bls12_381>>::from(q);
  return is_same_point(psi<Bls12_381>(start), mul_by_x(start));
}

// [x + 1] Q + psi([x] Q) + psi^2([x] Q) = psi^3([2x] Q) (El Housni, Guillevic and Piellard, eprint
// 2022/352, section 4.3).
inline bool is_in_subgroup(const Affine<G2Of<Bn254>>& q) {
  if (q.is_infinity()) return true;
  const auto xq = mul_by_x(Jacobian<G2Of<Bn254>>::from(q));
  const auto psi1 = psi<Bn254>(xq);
  const auto psi2 = psi<Bn254>(psi1);
  const auto left = add(add(add_mixed(xq, q), psi1), psi2);
  return is_same_point(left, dbl(psi<Bn254>(psi2)));
}

}  // namespace cuzk
