// Square roots in the prime fields and in Fp2.
//
// Points come compressed in some files, and tests make points from abscissas. Both base fields have
// p = 3 mod 4, where one power is the root; the scalar fields are highly 2-adic and take Tonelli and
// Shanks' way. Which of the two roots is returned is not specified.
#pragma once

#include "common/field/fp2.hpp"

namespace cuzk {

// p - 1 = 2^s t with t odd.
template <class Params>
struct TwoAdicity {
  unsigned s = 0;
  BigInt<Params::kLimbs> t{};

  constexpr TwoAdicity() {
    t = Params::kModulus;
    t.limb[0] -= 1;
    for (; (t.limb[0] & 1) == 0; ++s) t = shift_right(t, 1);
  }
};

// The smallest quadratic non-residue.
template <class Params>
constexpr Fp<Params> non_residue() {
  BigInt<Params::kLimbs> half = shift_right(Params::kModulus, 1);  // (p - 1) / 2
  for (std::uint64_t candidate = 2;; ++candidate) {
    const auto element = Fp<Params>::from_u64(candidate);
    if (element.pow(half) == -Fp<Params>::one()) return element;
  }
}

// Nothing when a is not a square.
template <class Params>
std::optional<Fp<Params>> sqrt(const Fp<Params>& a) {
  using Field = Fp<Params>;
  static constexpr TwoAdicity<Params> kSplit;
  if (a.is_zero()) return a;
  // With w = a^((t - 1) / 2): x = a w and x^2 = a b for b = a w^2, of order a power of two.
  const Field w = a.pow(shift_right(kSplit.t, 1));
  Field x = a * w;
  Field b = x * w;
  if constexpr (kSplit.s > 1) {
    static constexpr Field kRoot = non_residue<Params>().pow(kSplit.t);  // of order 2^s
    Field root = kRoot;
    for (unsigned order = kSplit.s; b != Field::one();) {
      unsigned k = 0;  // b has order 2^k
      for (Field power = b; power != Field::one(); power = power.square()) {
        if (++k == order) return std::nullopt;
      }
      for (unsigned i = k + 1; i < order; ++i) root = root.square();
      order = k;
      x *= root;
      root = root.square();
      b *= root;
    }
  }
  if (x.square() != a) return std::nullopt;
  return x;
}

// By the norm: (x + y u)^2 = a0 + a1 u gives x^2 = (a0 +- sqrt(a0^2 + a1^2)) / 2 and y = a1 / 2x.
template <class Base>
std::optional<Fp2<Base>> sqrt(const Fp2<Base>& a) {
  if (a.c1.is_zero()) {
    if (const auto real = sqrt(a.c0)) return Fp2<Base>{*real, Base::zero()};
    // Either a0 or -a0 is a square, as -1 is none.
    return Fp2<Base>{Base::zero(), *sqrt(-a.c0)};
  }
  const auto norm = sqrt(a.c0.square() + a.c1.square());
  if (!norm) return std::nullopt;
  const Base half = Base::from_u64(2).inverse();
  auto x = sqrt((a.c0 + *norm) * half);
  if (!x) x = sqrt((a.c0 - *norm) * half);
  if (!x) return std::nullopt;
  const Fp2<Base> root = {*x, a.c1 * x->dbl().inverse()};
  if (root.square() != a) return std::nullopt;
  return root;
}

}  // namespace cuzk
