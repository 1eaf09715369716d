// Points of short Weierstrass curves y^2 = x^3 + b, in three coordinate systems.
//
// Affine points are what files hold; infinity has both coordinates zero, which is on neither curve, as in
// snarkjs' keys. Jacobian coordinates serve scalar multiplication, XYZZ coordinates the accumulation of
// buckets. All operations are complete: they take infinity, equal and opposite points. Formulas are those
// of the Explicit-Formulas Database (hyperelliptic.org/EFD), named at each function.
#pragma once

#include <span>
#include <vector>

#include "common/curve/curves.hpp"

namespace cuzk {

template <class Group>
struct Affine {
  using Field = typename Group::Field;
  Field x;
  Field y;

  CUZK_HD static constexpr Affine infinity() { return {Field::zero(), Field::zero()}; }
  CUZK_HD constexpr bool is_infinity() const { return x.is_zero() && y.is_zero(); }
  CUZK_HD constexpr bool operator==(const Affine& other) const {
    return x == other.x && y == other.y;
  }
};

// (X / Z^2, Y / Z^3); infinity has Z = 0.
template <class Group>
struct Jacobian {
  using Field = typename Group::Field;
  Field x;
  Field y;
  Field z;

  CUZK_HD static constexpr Jacobian infinity() {
    return {Field::one(), Field::one(), Field::zero()};
  }
  CUZK_HD static constexpr Jacobian from(const Affine<Group>& point) {
    if (point.is_infinity()) return infinity();
    return {point.x, point.y, Field::one()};
  }
  CUZK_HD constexpr bool is_infinity() const { return z.is_zero(); }
};

// (X / ZZ, Y / ZZZ) with ZZ^3 = ZZZ^2; infinity has ZZ = 0.
template <class Group>
struct Xyzz {
  using Field = typename Group::Field;
  Field x;
  Field y;
  Field zz;
  Field zzz;

  CUZK_HD static constexpr Xyzz infinity() {
    return {Field::one(), Field::one(), Field::zero(), Field::zero()};
  }
  CUZK_HD static constexpr Xyzz from(const Affine<Group>& point) {
    if (point.is_infinity()) return infinity();
    return {point.x, point.y, Field::one(), Field::one()};
  }
  CUZK_HD constexpr bool is_infinity() const { return zz.is_zero(); }
};

template <class Group>
CUZK_HD constexpr Affine<Group> neg(const Affine<Group>& p) {
  return {p.x, -p.y};
}
template <class Group>
CUZK_HD constexpr Jacobian<Group> neg(const Jacobian<Group>& p) {
  return {p.x, -p.y, p.z};
}
template <class Group>
CUZK_HD constexpr Xyzz<Group> neg(const Xyzz<Group>& p) {
  return {p.x, -p.y, p.zz, p.zzz};
}

// dbl-2009-l
template <class Group>
CUZK_HD constexpr Jacobian<Group> dbl(const Jacobian<Group>& p) {
  if (p.is_infinity()) return p;
  const auto a = p.x.square();
  const auto b = p.y.square();
  const auto c = b.square();
  const auto d = ((p.x + b).square() - a - c).dbl();
  const auto e = a.dbl() + a;
  const auto f = e.square();
  const auto x = f - d.dbl();
  return {x, e * (d - x) - c.dbl().dbl().dbl(), (p.y * p.z).dbl()};
}

// add-2007-bl
template <class Group>
CUZK_HD constexpr Jacobian<Group> add(const Jacobian<Group>& p, const Jacobian<Group>& q) {
  if (p.is_infinity()) return q;
  if (q.is_infinity()) return p;
  const auto z1z1 = p.z.square();
  const auto z2z2 = q.z.square();
  const auto u1 = p.x * z2z2;
  const auto u2 = q.x * z1z1;
  const auto s1 = p.y * q.z * z2z2;
  const auto s2 = q.y * p.z * z1z1;
  const auto h = u2 - u1;
  const auto r = (s2 - s1).dbl();
  if (h.is_zero()) return r.is_zero() ? dbl(p) : Jacobian<Group>::infinity();
  const auto i = h.dbl().square();
  const auto j = h * i;
  const auto v = u1 * i;
  const auto x = r.square() - j - v.dbl();
  return {x, r * (v - x) - (s1 * j).dbl(), ((p.z + q.z).square() - z1z1 - z2z2) * h};
}

// madd-2007-bl
template <class Group>
CUZK_HD constexpr Jacobian<Group> add_mixed(const Jacobian<Group>& p, const Affine<Group>& q) {
  if (q.is_infinity()) return p;
  if (p.is_infinity()) return Jacobian<Group>::from(q);
  const auto z1z1 = p.z.square();
  const auto h = q.x * z1z1 - p.x;
  const auto r = (q.y * p.z * z1z1 - p.y).dbl();
  if (h.is_zero()) return r.is_zero() ? dbl(p) : Jacobian<Group>::infinity();
  const auto hh = h.square();
  const auto i = hh.dbl().dbl();
  const auto j = h * i;
  const auto v = p.x * i;
  const auto x = r.square() - j - v.dbl();
  return {x, r * (v - x) - (p.y * j).dbl(), (p.z + h).square() - z1z1 - hh};
}

// dbl-2008-s-1
template <class Group>
CUZK_HD constexpr Xyzz<Group> dbl(const Xyzz<Group>& p) {
  if (p.is_infinity()) return p;
  const auto u = p.y.dbl();
  const auto v = u.square();
  const auto w = u * v;
  const auto s = p.x * v;
  const auto xx = p.x.square();
  const auto m = xx.dbl() + xx;
  const auto x = m.square() - s.dbl();
  return {x, m * (s - x) - w * p.y, v * p.zz, w * p.zzz};
}

// add-2008-s
template <class Group>
CUZK_HD constexpr Xyzz<Group> add(const Xyzz<Group>& p, const Xyzz<Group>& q) {
  if (p.is_infinity()) return q;
  if (q.is_infinity()) return p;
  const auto u1 = p.x * q.zz;
  const auto s1 = p.y * q.zzz;
  const auto h = q.x * p.zz - u1;
  const auto r = q.y * p.zzz - s1;
  if (h.is_zero()) return r.is_zero() ? dbl(p) : Xyzz<Group>::infinity();
  const auto hh = h.square();
  const auto hhh = h * hh;
  const auto v = u1 * hh;
  const auto x = r.square() - hhh - v.dbl();
  return {x, r * (v - x) - s1 * hhh, p.zz * q.zz * hh, p.zzz * q.zzz * hhh};
}

// madd-2008-s
template <class Group>
CUZK_HD constexpr Xyzz<Group> add_mixed(const Xyzz<Group>& p, const Affine<Group>& q) {
  if (q.is_infinity()) return p;
  if (p.is_infinity()) return Xyzz<Group>::from(q);
  const auto h = q.x * p.zz - p.x;
  const auto r = q.y * p.zzz - p.y;
  if (h.is_zero()) return r.is_zero() ? dbl(p) : Xyzz<Group>::infinity();
  const auto hh = h.square();
  const auto hhh = h * hh;
  const auto v = p.x * hh;
  const auto x = r.square() - hhh - v.dbl();
  return {x, r * (v - x) - p.y * hhh, p.zz * hh, p.zzz * hhh};
}

// The same point, without an inversion.
template <class Group>
CUZK_HD constexpr Jacobian<Group> to_jacobian(const Xyzz<Group>& p) {
  if (p.is_infinity()) return Jacobian<Group>::infinity();
  // With Z := ZZ the affine x = X / ZZ is (X ZZ) / Z^2, and y = Y / ZZZ is (Y ZZZ) / Z^3 as ZZZ^2 = ZZ^3.
  return {p.x * p.zz, p.y * p.zzz, p.zz};
}

template <class Group>
CUZK_HD constexpr Affine<Group> to_affine(const Jacobian<Group>& p) {
  if (p.is_infinity()) return Affine<Group>::infinity();
  const auto inverse = p.z.inverse();
  const auto squared = inverse.square();
  return {p.x * squared, p.y * squared * inverse};
}
template <class Group>
CUZK_HD constexpr Affine<Group> to_affine(const Xyzz<Group>& p) {
  return to_affine(to_jacobian(p));
}

// Converts all with one inversion; `affine` has as many elements.
template <class Group>
void batch_to_affine(std::span<const Jacobian<Group>> points, std::span<Affine<Group>> affine) {
  using Field = typename Group::Field;
  std::vector<Field> z(points.size());
  std::vector<Field> scratch(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) z[i] = points[i].z;
  batch_inverse(std::span<Field>(z), std::span<Field>(scratch));
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].is_infinity()) {
      affine[i] = Affine<Group>::infinity();
      continue;
    }
    const Field squared = z[i].square();
    affine[i] = {points[i].x * squared, points[i].y * squared * z[i]};
  }
}

// p times a canonical scalar of any number of limbs; not constant-time.
template <class Group, std::size_t N>
CUZK_HD constexpr Jacobian<Group> mul(const Jacobian<Group>& p, const BigInt<N>& scalar) {
  Jacobian<Group> product = Jacobian<Group>::infinity();
  for (std::size_t i = 64 * N; i-- > 0;) {
    product = dbl(product);
    if (scalar.limb[i / 64] >> (i % 64) & 1) product = add(product, p);
  }
  return product;
}
template <class Group, std::size_t N>
CUZK_HD constexpr Jacobian<Group> mul(const Affine<Group>& p, const BigInt<N>& scalar) {
  return mul(Jacobian<Group>::from(p), scalar);
}

// Infinity counts as on the curve and in the subgroup.
template <class Group>
CUZK_HD constexpr bool is_on_curve(const Affine<Group>& p) {
  if (p.is_infinity()) return true;
  return p.y.square() == p.x.square() * p.x + Group::b();
}

}  // namespace cuzk
