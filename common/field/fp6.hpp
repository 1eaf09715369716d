// The sextic extension Fp2[v] / (v^3 - xi) of the pairing tower.
//
// `Xi` is a policy with a static `mul_by_xi(Fp2)`: xi is 9 + u on BN254 and 1 + u on BLS12-381.
#pragma once

#include "common/field/fp2.hpp"

namespace cuzk {

template <class F2, class Xi>
struct Fp6 {
  F2 c0;
  F2 c1;
  F2 c2;

  static constexpr Fp6 zero() { return {F2::zero(), F2::zero(), F2::zero()}; }
  static constexpr Fp6 one() { return {F2::one(), F2::zero(), F2::zero()}; }

  constexpr bool is_zero() const { return c0.is_zero() && c1.is_zero() && c2.is_zero(); }
  constexpr bool operator==(const Fp6& other) const {
    return c0 == other.c0 && c1 == other.c1 && c2 == other.c2;
  }
  constexpr Fp6 operator+(const Fp6& o) const { return {c0 + o.c0, c1 + o.c1, c2 + o.c2}; }
  constexpr Fp6 operator-(const Fp6& o) const { return {c0 - o.c0, c1 - o.c1, c2 - o.c2}; }
  constexpr Fp6 operator-() const { return {-c0, -c1, -c2}; }
  constexpr Fp6 dbl() const { return {c0.dbl(), c1.dbl(), c2.dbl()}; }

  // Toom-Cook style Karatsuba with six products (Devegili et al., eprint 2006/471, section 4).
  constexpr Fp6 operator*(const Fp6& o) const {
    const F2 v0 = c0 * o.c0;
    const F2 v1 = c1 * o.c1;
    const F2 v2 = c2 * o.c2;
    return {v0 + Xi::mul_by_xi((c1 + c2) * (o.c1 + o.c2) - v1 - v2),
            (c0 + c1) * (o.c0 + o.c1) - v0 - v1 + Xi::mul_by_xi(v2),
            (c0 + c2) * (o.c0 + o.c2) - v0 - v2 + v1};
  }
  // Chung and Hasan's SQR2: two products and three squares.
  constexpr Fp6 square() const {
    const F2 s0 = c0.square();
    const F2 s1 = (c0 * c1).dbl();
    const F2 s2 = (c0 - c1 + c2).square();
    const F2 s3 = (c1 * c2).dbl();
    const F2 s4 = c2.square();
    return {s0 + Xi::mul_by_xi(s3), s1 + Xi::mul_by_xi(s4), s1 + s2 + s3 - s0 - s4};
  }
  constexpr Fp6 mul_by_v() const { return {Xi::mul_by_xi(c2), c0, c1}; }
  // Times b0 + b1 v.
  constexpr Fp6 mul_by_01(const F2& b0, const F2& b1) const {
    const F2 v0 = c0 * b0;
    const F2 v1 = c1 * b1;
    return {v0 + Xi::mul_by_xi((c1 + c2) * b1 - v1), (c0 + c1) * (b0 + b1) - v0 - v1,
            (c0 + c2) * b0 - v0 + v1};
  }
  // Times b1 v.
  constexpr Fp6 mul_by_1(const F2& b1) const {
    return {Xi::mul_by_xi(c2 * b1), c0 * b1, c1 * b1};
  }
  constexpr Fp6 mul_by(const F2& scalar) const { return {c0 * scalar, c1 * scalar, c2 * scalar}; }

  // The inverse of zero is zero.
  constexpr Fp6 inverse() const {
    const F2 t0 = c0.square() - Xi::mul_by_xi(c1 * c2);
    const F2 t1 = Xi::mul_by_xi(c2.square()) - c0 * c1;
    const F2 t2 = c1.square() - c0 * c2;
    const F2 norm = (c0 * t0 + Xi::mul_by_xi(c2 * t1 + c1 * t2)).inverse();
    return {t0 * norm, t1 * norm, t2 * norm};
  }
};

}  // namespace cuzk
