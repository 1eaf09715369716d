// The Frobenius map on the pairing tower and on the twist.
//
// Everything follows from gamma = xi^((q - 1) / 6): w^q = gamma w in Fq12 = Fq2[w] / (w^6 - xi), so the
// map conjugates each of the six coefficients over Fq2 and multiplies the i-th by gamma^i.
#pragma once

#include "common/curve/points.hpp"

namespace cuzk {

// gamma^0 .. gamma^5.
template <class Curve>
constexpr std::array<typename Curve::Fq2, 6> frobenius_powers() {
  using Fq2 = typename Curve::Fq2;
  BigInt<Curve::Fq::kLimbs> exponent = Curve::Fq::Params::kModulus;
  exponent.limb[0] -= 1;
  divide(exponent, exponent, 6);
  const Fq2 gamma = Curve::Xi::value().pow(exponent);
  std::array<Fq2, 6> powers{};
  powers[0] = Fq2::one();
  for (std::size_t i = 1; i < 6; ++i) powers[i] = powers[i - 1] * gamma;
  return powers;
}
template <class Curve>
inline constexpr std::array<typename Curve::Fq2, 6> kFrobeniusPowers = frobenius_powers<Curve>();

// f^q.
template <class Curve>
typename Curve::Fq12 frobenius(const typename Curve::Fq12& f) {
  auto coefficients = f.coefficients();
  for (std::size_t i = 0; i < 6; ++i) {
    coefficients[i] = coefficients[i].conjugate() * kFrobeniusPowers<Curve>[i];
  }
  return Curve::Fq12::from_coefficients(coefficients);
}

// The twist conjugates the Frobenius map of the curve over Fq12 to an endomorphism psi of the twist:
// (x, y) -> (cx conj(x), cy conj(y)) with cx = gamma^2, cy = gamma^3 for a twist of type D (BN254) and
// their inverses for type M (BLS12-381).
template <class Curve>
inline constexpr typename Curve::Fq2 kPsiX =
    Curve::kId == CurveId::kBn254 ? kFrobeniusPowers<Curve>[2] : kFrobeniusPowers<Curve>[2].inverse();
template <class Curve>
inline constexpr typename Curve::Fq2 kPsiY =
    Curve::kId == CurveId::kBn254 ? kFrobeniusPowers<Curve>[3] : kFrobeniusPowers<Curve>[3].inverse();

template <class Curve>
Affine<G2Of<Curve>> psi(const Affine<G2Of<Curve>>& p) {
  return {p.x.conjugate() * kPsiX<Curve>, p.y.conjugate() * kPsiY<Curve>};
}
template <class Curve>
Jacobian<G2Of<Curve>> psi(const Jacobian<G2Of<Curve>>& p) {
  return {p.x.conjugate() * kPsiX<Curve>, p.y.conjugate() * kPsiY<Curve>, p.z.conjugate()};
}

}  // namespace cuzk
