// The pairing's algorithms; instantiated once per curve in bn254_pairing.cpp and bls12_381_pairing.cpp.
//
// Step 1, Miller loop: G2 points in homogeneous projective coordinates, lines by the formulas of Costello,
// Lange and Naehrig (eprint 2009/615) with the improvements of Aranha et al. (eprint 2010/526); each line
// is three Fq2 coefficients that multiply the accumulator as a sparse element.
// Step 2, final exponentiation: the easy part f^((q^6 - 1)(q^2 + 1)), then a hard part that is a chain of
// powers by the family's parameter x in the cyclotomic subgroup.
#pragma once

#include "common/curve/frobenius.hpp"
#include "common/curve/pairing.hpp"

namespace cuzk {

// A line evaluated at P is c0 * y_P (type D) or c0 (type M), c1 * x_P, and the third coefficient.
template <class Fq2>
struct Line {
  Fq2 c0;
  Fq2 c1;
  Fq2 c2;
};

// A point of the twist that walks through the Miller loop.
template <class Curve>
struct Walker {
  using Fq = typename Curve::Fq;
  using Fq2 = typename Curve::Fq2;
  static constexpr bool kTwistIsD = Curve::kId == CurveId::kBn254;
  static constexpr Fq kHalf = Fq::from_u64(2).inverse();

  Fq2 x;
  Fq2 y;
  Fq2 z = Fq2::one();

  // this = 2 this; returns the tangent.
  Line<Fq2> double_step() {
    const Fq2 a = (x * y).mul_by(kHalf);
    const Fq2 b = y.square();
    const Fq2 c = z.square();
    const Fq2 e = G2Of<Curve>::b() * (c.dbl() + c);
    const Fq2 f = e.dbl() + e;
    const Fq2 g = (b + f).mul_by(kHalf);
    const Fq2 h = (y + z).square() - (b + c);
    const Fq2 i = e - b;
    const Fq2 j = x.square();
    const Fq2 e_squared = e.square();
    x = a * (b - f);
    y = g.square() - (e_squared.dbl() + e_squared);
    z = b * h;
    const Fq2 three_j = j.dbl() + j;
    return kTwistIsD ? Line<Fq2>{-h, three_j, i} : Line<Fq2>{i, three_j, -h};
  }

  // this = this + q; returns the chord.
  Line<Fq2> add_step(const Affine<G2Of<Curve>>& q) {
    const Fq2 theta = y - q.y * z;
    const Fq2 lambda = x - q.x * z;
    const Fq2 c = theta.square();
    const Fq2 d = lambda.square();
    const Fq2 e = lambda * d;
    const Fq2 f = z * c;
    const Fq2 g = x * d;
    const Fq2 h = e + f - g.dbl();
    x = lambda * h;
    y = theta * (g - h) - e * y;
    z = z * e;
    const Fq2 j = theta * q.x - lambda * q.y;
    return kTwistIsD ? Line<Fq2>{lambda, -theta, j} : Line<Fq2>{j, -theta, lambda};
  }
};

template <class Curve>
void multiply_by_line(typename Curve::Fq12& f, const Line<typename Curve::Fq2>& line,
                      const Affine<G1Of<Curve>>& p) {
  if constexpr (Walker<Curve>::kTwistIsD) {
    f = f.mul_by_034(line.c0.mul_by(p.y), line.c1.mul_by(p.x), line.c2);
  } else {
    f = f.mul_by_014(line.c0, line.c1.mul_by(p.x), line.c2.mul_by(p.y));
  }
}

// The digits 1, 0, -1 of the loop count, most significant first without the leading 1: 6x + 2 in
// non-adjacent form on BN254; |x| on BLS12-381, whose plain bits are sparse already.
template <class Curve>
struct LoopCount {
  std::array<std::int8_t, 70> digit{};
  std::size_t size = 0;

  constexpr LoopCount() {
    unsigned __int128 count = Curve::kX;
    if (Curve::kId == CurveId::kBn254) count = 6 * count + 2;
    std::array<std::int8_t, 70> low_first{};
    std::size_t n = 0;
    for (; count != 0; count >>= 1, ++n) {
      if ((count & 1) == 0) continue;
      const bool minus = Curve::kId == CurveId::kBn254 && (count & 3) == 3;
      low_first[n] = minus ? -1 : 1;
      count = minus ? count + 1 : count - 1;
    }
    for (std::size_t i = n - 1; i-- > 0;) digit[size++] = low_first[i];
  }
};

template <class Curve>
typename Curve::Fq12 miller_loop(std::span<const PairingInput<Curve>> pairs) {
  using Fq12 = typename Curve::Fq12;
  static constexpr LoopCount<Curve> kLoop;
  std::vector<PairingInput<Curve>> finite;
  std::vector<Walker<Curve>> walkers;
  for (const auto& pair : pairs) {
    if (pair.first.is_infinity() || pair.second.is_infinity()) continue;
    finite.push_back(pair);
    walkers.push_back({pair.second.x, pair.second.y});
  }
  const auto add_all = [&](Fq12& f, const auto& point_of) {
    for (std::size_t k = 0; k < walkers.size(); ++k) {
      multiply_by_line<Curve>(f, walkers[k].add_step(point_of(finite[k].second)), finite[k].first);
    }
  };

  Fq12 f = Fq12::one();
  for (std::size_t i = 0; i < kLoop.size; ++i) {
    if (i != 0) f = f.square();
    for (std::size_t k = 0; k < walkers.size(); ++k) {
      multiply_by_line<Curve>(f, walkers[k].double_step(), finite[k].first);
    }
    if (kLoop.digit[i] == 1) add_all(f, [](const auto& q) { return q; });
    if (kLoop.digit[i] == -1) add_all(f, [](const auto& q) { return neg(q); });
  }
  if constexpr (Curve::kId == CurveId::kBn254) {
    // The optimal ate pairing of BN curves ends with two lines through psi(Q) and -psi^2(Q).
    add_all(f, [](const auto& q) { return psi<Curve>(q); });
    add_all(f, [](const auto& q) { return neg(psi<Curve>(psi<Curve>(q))); });
  }
  // f_{-x} is the inverse of f_x up to a factor that the final exponentiation removes.
  return Curve::kXIsNegative ? f.conjugate() : f;
}

// f^x for f in the cyclotomic subgroup.
template <class Curve>
typename Curve::Fq12 power_of_x(const typename Curve::Fq12& f) {
  auto power = f;
  int bit = 63;
  while ((Curve::kX >> bit & 1) == 0) --bit;
  while (bit-- > 0) {
    power = power.cyclotomic_square();
    if (Curve::kX >> bit & 1) power = power * f;
  }
  return Curve::kXIsNegative ? power.conjugate() : power;
}

// Hayashida, Hayasaka and Teruya (eprint 2020/875):
// 3 (q^4 - q^2 + 1) / r = (x - 1)^2 (x + q) (x^2 + q^2 - 1) + 3.
template <class Curve>
typename Curve::Fq12 hard_part_bls(const typename Curve::Fq12& f) {
  const auto times_x_minus_1 = [](const auto& g) { return power_of_x<Curve>(g) * g.conjugate(); };
  auto t = times_x_minus_1(times_x_minus_1(f));
  t = power_of_x<Curve>(t) * frobenius<Curve>(t);
  t = power_of_x<Curve>(power_of_x<Curve>(t)) * frobenius<Curve>(frobenius<Curve>(t)) *
      t.conjugate();
  return t * f.cyclotomic_square() * f;
}

// Fuentes-Castaneda, Knapp and Rodriguez-Henriquez (Faster Hashing to G2, SAC 2011, section 5):
// 2x (6x^2 + 3x + 1) (q^4 - q^2 + 1) / r = l0 + l1 q + l2 q^2 + l3 q^3 with l2 = 12x^3 + 6x^2 + 6x,
// l1 = l2 - 2x, l3 = l1 - 1 and l0 = l2 + 6x^2 + 1.
template <class Curve>
typename Curve::Fq12 hard_part_bn(const typename Curve::Fq12& f) {
  const auto f2x = power_of_x<Curve>(f).cyclotomic_square();
  const auto f6x = f2x.cyclotomic_square() * f2x;
  const auto f6x2 = power_of_x<Curve>(f6x);
  const auto f12x3 = power_of_x<Curve>(f6x2.cyclotomic_square());
  const auto l2 = f12x3 * f6x2 * f6x;
  const auto l1 = l2 * f2x.conjugate();
  const auto l3 = l1 * f.conjugate();
  const auto l0 = l2 * f6x2 * f;
  // Horner in q.
  return frobenius<Curve>(frobenius<Curve>(frobenius<Curve>(l3) * l2) * l1) * l0;
}

template <class Curve>
typename Curve::Fq12 final_exponentiation(const typename Curve::Fq12& f) {
  auto g = f.conjugate() * f.inverse();
  g = frobenius<Curve>(frobenius<Curve>(g)) * g;
  if constexpr (Curve::kId == CurveId::kBn254) return hard_part_bn<Curve>(g);
  else return hard_part_bls<Curve>(g);
}

template <class Curve>
typename Curve::Fq12 pairing(const Affine<G1Of<Curve>>& p, const Affine<G2Of<Curve>>& q) {
  const PairingInput<Curve> pair{p, q};
  return final_exponentiation<Curve>(miller_loop<Curve>(std::span(&pair, 1)));
}

template <class Curve>
bool pairing_product_is_one(std::span<const PairingInput<Curve>> pairs) {
  return final_exponentiation<Curve>(miller_loop<Curve>(pairs)) == Curve::Fq12::one();
}

#define CUZK_INSTANTIATE_PAIRING(Curve)                                                       \
  template typename Curve::Fq12 miller_loop<Curve>(std::span<const PairingInput<Curve>>);     \
  template typename Curve::Fq12 final_exponentiation<Curve>(const typename Curve::Fq12&);     \
  template typename Curve::Fq12 pairing<Curve>(const Affine<G1Of<Curve>>&,                    \
                                               const Affine<G2Of<Curve>>&);                   \
  template bool pairing_product_is_one<Curve>(std::span<const PairingInput<Curve>>)

}  // namespace cuzk
