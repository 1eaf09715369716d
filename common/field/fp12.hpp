// The top of the pairing tower, Fp6[w] / (w^2 - v): the target group lives here.
#pragma once

#include <array>

#include "common/field/fp6.hpp"

namespace cuzk {

template <class F2, class Xi>
struct Fp12 {
  using F6 = Fp6<F2, Xi>;
  F6 c0;
  F6 c1;

  static constexpr Fp12 one() { return {F6::one(), F6::zero()}; }
  constexpr bool operator==(const Fp12& other) const { return c0 == other.c0 && c1 == other.c1; }

  // Karatsuba.
  constexpr Fp12 operator*(const Fp12& o) const {
    const F6 low = c0 * o.c0;
    const F6 high = c1 * o.c1;
    return {low + high.mul_by_v(), (c0 + c1) * (o.c0 + o.c1) - low - high};
  }
  constexpr Fp12 square() const {
    const F6 product = c0 * c1;
    return {(c0 + c1) * (c0 + c1.mul_by_v()) - product - product.mul_by_v(), product.dbl()};
  }
  // The inverse of an element of norm one, such as a member of the cyclotomic subgroup.
  constexpr Fp12 conjugate() const { return {c0, -c1}; }
  constexpr Fp12 inverse() const {
    const F6 norm = (c0.square() - c1.square().mul_by_v()).inverse();
    return {c0 * norm, -(c1 * norm)};
  }

  // Times d0 + d1 v + d4 v w: the shape of a line on a sextic twist of type M.
  constexpr Fp12 mul_by_014(const F2& d0, const F2& d1, const F2& d4) const {
    const F6 low = c0.mul_by_01(d0, d1);
    const F6 high = c1.mul_by_1(d4);
    return {low + high.mul_by_v(), (c0 + c1).mul_by_01(d0, d1 + d4) - low - high};
  }
  // Times d0 + d3 w + d4 v w: the shape of a line on a sextic twist of type D.
  constexpr Fp12 mul_by_034(const F2& d0, const F2& d3, const F2& d4) const {
    const F6 low = c0.mul_by(d0);
    const F6 high = c1.mul_by_01(d3, d4);
    return {low + high.mul_by_v(), (c0 + c1).mul_by_01(d0 + d3, d4) - low - high};
  }

  // The square of a member of the cyclotomic subgroup (Granger and Scott, eprint 2009/565): three
  // squarings in Fp4 instead of a full one.
  constexpr Fp12 cyclotomic_square() const {
    const auto [t0, t1] = square_fp4(c0.c0, c1.c1);
    const auto [t2, t3] = square_fp4(c1.c0, c0.c2);
    const auto [t4, t5] = square_fp4(c0.c1, c1.c2);
    const auto minus = [](const F2& t, const F2& z) { return (t - z).dbl() + t; };
    const auto plus = [](const F2& t, const F2& z) { return (t + z).dbl() + t; };
    return {{minus(t0, c0.c0), minus(t2, c0.c1), minus(t4, c0.c2)},
            {plus(Xi::mul_by_xi(t5), c1.c0), plus(t1, c1.c1), plus(t3, c1.c2)}};
  }

  // The coefficients of 1, w, w^2, ..., w^5.
  constexpr std::array<F2, 6> coefficients() const {
    return {c0.c0, c1.c0, c0.c1, c1.c1, c0.c2, c1.c2};
  }
  static constexpr Fp12 from_coefficients(const std::array<F2, 6>& a) {
    return {{a[0], a[2], a[4]}, {a[1], a[3], a[5]}};
  }

 private:
  // (a + b s)^2 in Fp4 = Fp2[s] / (s^2 - xi).
  static constexpr std::array<F2, 2> square_fp4(const F2& a, const F2& b) {
    const F2 aa = a.square();
    const F2 bb = b.square();
    return {aa + Xi::mul_by_xi(bb), (a + b).square() - aa - bb};
  }
};

}  // namespace cuzk
