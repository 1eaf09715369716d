// The quadratic extension Fp[u] / (u^2 + 1) of both curves' base fields.
//
// q = 3 mod 4 for BN254 and BLS12-381, so -1 is a non-residue and one tower serves both.
#pragma once

#include "common/field/fp.hpp"

namespace cuzk {

template <class Base>
struct Fp2 {
  using BaseField = Base;
  static constexpr std::size_t kBytes = 2 * Base::kBytes;

  Base c0;
  Base c1;

  CUZK_HD static constexpr Fp2 zero() { return {Base::zero(), Base::zero()}; }
  CUZK_HD static constexpr Fp2 one() { return {Base::one(), Base::zero()}; }

  CUZK_HD constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
  CUZK_HD constexpr bool operator==(const Fp2& other) const {
    return c0 == other.c0 && c1 == other.c1;
  }
  CUZK_HD constexpr Fp2 operator+(const Fp2& other) const {
    return {c0 + other.c0, c1 + other.c1};
  }
  CUZK_HD constexpr Fp2 operator-(const Fp2& other) const {
    return {c0 - other.c0, c1 - other.c1};
  }
  CUZK_HD constexpr Fp2 operator-() const { return {-c0, -c1}; }
  CUZK_HD constexpr Fp2 dbl() const { return {c0.dbl(), c1.dbl()}; }
  CUZK_HD constexpr Fp2 conjugate() const { return {c0, -c1}; }
  CUZK_HD constexpr Fp2 mul_by(const Base& scalar) const { return {c0 * scalar, c1 * scalar}; }

  // Karatsuba: (a0 + a1 u)(b0 + b1 u) = a0 b0 - a1 b1 + ((a0 + a1)(b0 + b1) - a0 b0 - a1 b1) u.
  CUZK_HD constexpr Fp2 operator*(const Fp2& other) const {
    const Base low = c0 * other.c0;
    const Base high = c1 * other.c1;
    return {low - high, (c0 + c1) * (other.c0 + other.c1) - low - high};
  }
  // (a0 + a1 u)^2 = (a0 + a1)(a0 - a1) + 2 a0 a1 u.
  CUZK_HD constexpr Fp2 square() const { return {(c0 + c1) * (c0 - c1), (c0 * c1).dbl()}; }
  CUZK_HD constexpr Fp2& operator+=(const Fp2& other) { return *this = *this + other; }
  CUZK_HD constexpr Fp2& operator-=(const Fp2& other) { return *this = *this - other; }
  CUZK_HD constexpr Fp2& operator*=(const Fp2& other) { return *this = *this * other; }

  // The inverse of zero is zero.
  CUZK_HD constexpr Fp2 inverse() const {
    const Base norm = (c0.square() + c1.square()).inverse();
    return {c0 * norm, -(c1 * norm)};
  }
  template <std::size_t N>
  CUZK_HD constexpr Fp2 pow(const BigInt<N>& exponent) const {
    Fp2 power = one();
    for (std::size_t i = 64 * N; i-- > 0;) {
      power = power.square();
      if (exponent.limb[i / 64] >> (i % 64) & 1) power = power * *this;
    }
    return power;
  }
};

}  // namespace cuzk
