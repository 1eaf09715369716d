// A prime field in Montgomery form.
//
// An element's limbs hold a * R mod p, always fully reduced, so equal elements have equal bytes and an
// array of elements is bitwise what snarkjs' files hold. The definitions are shared by host and device.
#pragma once

#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "common/field/inverse.hpp"
#include "common/field/x86_64.hpp"

namespace cuzk {

template <class P>
struct Fp {
  using Params = P;
  static constexpr std::size_t kLimbs = P::kLimbs;
  static constexpr std::size_t kBytes = 8 * kLimbs;
  using Integer = BigInt<kLimbs>;

  std::uint64_t limb[kLimbs];

  CUZK_HD static constexpr Fp zero() { return from_raw(Integer{}); }
  CUZK_HD static constexpr Fp one() { return from_raw(Montgomery<P>::r()); }
  CUZK_HD static constexpr Fp from_u64(std::uint64_t value) {
    Integer integer{};
    integer.limb[0] = value;
    return from_integer(integer);
  }
  // The Montgomery form itself; the caller vouches that it is below the modulus.
  CUZK_HD static constexpr Fp from_raw(const Integer& raw) {
    Fp element{};
    for (std::size_t i = 0; i < kLimbs; ++i) element.limb[i] = raw.limb[i];
    return element;
  }
  CUZK_HD constexpr Integer raw() const {
    Integer integer{};
    for (std::size_t i = 0; i < kLimbs; ++i) integer.limb[i] = limb[i];
    return integer;
  }
  CUZK_HD static constexpr bool is_canonical(const Integer& integer) {
    return less(integer, Montgomery<P>::modulus());
  }
  // From and to normal form; `integer` must be below the modulus.
  CUZK_HD static constexpr Fp from_integer(const Integer& integer) {
    return from_raw(integer) * from_raw(Montgomery<P>::r2());
  }
  CUZK_HD constexpr Integer to_integer() const {
    Integer unit{};
    unit.limb[0] = 1;
    return (*this * from_raw(unit)).raw();
  }
  // Little-endian normal form of exactly kBytes; nothing when the size is wrong or the value is not
  // below the modulus.
  static std::optional<Fp> from_bytes_le(std::span<const std::byte> bytes) {
    static_assert(std::endian::native == std::endian::little);
    Integer integer{};
    if (bytes.size() != kBytes) return std::nullopt;
    std::memcpy(integer.limb, bytes.data(), kBytes);
    if (!is_canonical(integer)) return std::nullopt;
    return from_integer(integer);
  }
  void to_bytes_le(std::span<std::byte, kBytes> bytes) const {
    const Integer integer = to_integer();
    std::memcpy(bytes.data(), integer.limb, kBytes);
  }

  CUZK_HD constexpr bool is_zero() const { return raw().is_zero(); }
  CUZK_HD constexpr bool operator==(const Fp& other) const { return raw() == other.raw(); }

  CUZK_HD constexpr Fp operator+(const Fp& other) const {
#if CUZK_FIELD_X86_64
    if (!std::is_constant_evaluated()) {
      Fp result;
      x86_64::add_mod(result.limb, limb, other.limb, P::kModulus.limb);
      return result;
    }
#endif
    Integer sum{};
    add(sum, raw(), other.raw());  // below 2p < R: no carry
    return reduce_once(sum);
  }
  CUZK_HD constexpr Fp operator-(const Fp& other) const {
#if CUZK_FIELD_X86_64
    if (!std::is_constant_evaluated()) {
      Fp result;
      x86_64::subtract_mod(result.limb, limb, other.limb, P::kModulus.limb);
      return result;
    }
#endif
    Integer difference{};
    const std::uint64_t borrow = subtract(difference, raw(), other.raw());
    add(difference, difference, select(borrow != 0, Montgomery<P>::modulus(), Integer{}));
    return from_raw(difference);
  }
  CUZK_HD constexpr Fp operator-() const { return zero() - *this; }
  CUZK_HD constexpr Fp dbl() const {
#if CUZK_FIELD_X86_64
    if (!std::is_constant_evaluated()) {
      Fp result;
      x86_64::dbl_mod(result.limb, limb, P::kModulus.limb);
      return result;
    }
#endif
    return *this + *this;
  }
  CUZK_HD constexpr Fp square() const { return *this * *this; }
  CUZK_HD constexpr Fp operator*(const Fp& other) const {
#if CUZK_FIELD_X86_64
    if (!std::is_constant_evaluated()) {
      if (!x86_64::kCpuHasAdx) [[unlikely]] return multiply_out_of_line(*this, other);
      if constexpr (kLimbs > 4) return multiply_with_adx(*this, other);
      Fp result;
      x86_64::multiply_mod<P>(result.limb, limb, other.limb);
      return result;
    }
#endif
    return multiply(*this, other);
  }
  CUZK_HD constexpr Fp& operator+=(const Fp& other) { return *this = *this + other; }
  CUZK_HD constexpr Fp& operator-=(const Fp& other) { return *this = *this - other; }
  CUZK_HD constexpr Fp& operator*=(const Fp& other) { return *this = *this * other; }

  // Exponent: little-endian limbs.
  constexpr Fp pow(std::span<const std::uint64_t> exponent) const {
    return pow(exponent.data(), exponent.size());
  }
  template <std::size_t N>
  CUZK_HD constexpr Fp pow(const BigInt<N>& exponent) const {
    return pow(exponent.limb, N);
  }
  // The inverse of zero is zero. Not for secrets: the time depends on the value.
  CUZK_HD constexpr Fp inverse() const {
#ifndef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
      // This is a R; its inverse is R / a = R^2 / (a R).
      return from_raw(divide_modulo<P>(Montgomery<P>::kR2, raw()));
    }
#endif
    Integer exponent = Montgomery<P>::modulus();
    exponent.limb[0] -= 2;
    return pow(exponent);
  }

 private:
  CUZK_HD constexpr Fp pow(const std::uint64_t* exponent, std::size_t size) const {
    Fp power = one();
    for (std::size_t i = 64 * size; i-- > 0;) {
      power = power.square();
      if (exponent[i / 64] >> (i % 64) & 1) power *= *this;
    }
    return power;
  }

  // value mod p for a value below 2p.
  CUZK_HD static constexpr Fp reduce_once(const Integer& value) {
    Integer reduced{};
    const std::uint64_t borrow = subtract(reduced, value, Montgomery<P>::modulus());
    return from_raw(select(borrow != 0, value, reduced));
  }

#if CUZK_FIELD_X86_64
  // Six limbs are 600 bytes of code: inlined, a point addition would not fit the instruction cache.
  [[gnu::noinline]] static Fp multiply_with_adx(const Fp& a, const Fp& b) {
    Fp result;
    x86_64::multiply_mod<P>(result.limb, a.limb, b.limb);
    return result;
  }
  // Kept out of the hot loops of programs that run on a processor with ADX.
  [[gnu::noinline, gnu::cold]] static Fp multiply_out_of_line(const Fp& a, const Fp& b) {
    return multiply(a, b);
  }
#endif

  // Coarsely integrated operand scanning (Koc, Acar, Kaliski 1996), without the extra carry word that a
  // modulus below R / 2 does not need.
  CUZK_HD CUZK_DEVICE_CALL static constexpr Fp multiply(const Fp& a, const Fp& b) {
    const Integer p = Montgomery<P>::modulus();
    Integer t{};
    for (std::size_t i = 0; i < kLimbs; ++i) {
      unsigned __int128 product = static_cast<unsigned __int128>(a.limb[0]) * b.limb[i] + t.limb[0];
      std::uint64_t carry = static_cast<std::uint64_t>(product >> 64);
      const std::uint64_t m = static_cast<std::uint64_t>(product) * Montgomery<P>::kNegativeInverse;
      unsigned __int128 fold = static_cast<unsigned __int128>(m) * p.limb[0] +
                               static_cast<std::uint64_t>(product);
      std::uint64_t fold_carry = static_cast<std::uint64_t>(fold >> 64);
      for (std::size_t j = 1; j < kLimbs; ++j) {
        product = static_cast<unsigned __int128>(a.limb[j]) * b.limb[i] + t.limb[j] + carry;
        carry = static_cast<std::uint64_t>(product >> 64);
        fold = static_cast<unsigned __int128>(m) * p.limb[j] +
               static_cast<std::uint64_t>(product) + fold_carry;
        fold_carry = static_cast<std::uint64_t>(fold >> 64);
        t.limb[j - 1] = static_cast<std::uint64_t>(fold);
      }
      t.limb[kLimbs - 1] = carry + fold_carry;
    }
    return reduce_once(t);
  }
};

// Replaces each element by its inverse with one inversion in all (Montgomery's trick); zeros stay zero.
// `scratch` has as many elements.
template <class Field>
void batch_inverse(std::span<Field> elements, std::span<Field> scratch) {
  Field product = Field::one();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    scratch[i] = product;
    if (!elements[i].is_zero()) product = product * elements[i];
  }
  Field inverse = product.inverse();
  for (std::size_t i = elements.size(); i-- > 0;) {
    if (elements[i].is_zero()) continue;
    const Field element = elements[i];
    elements[i] = inverse * scratch[i];
    inverse = inverse * element;
  }
}

using Bn254Fq = Fp<Bn254FqParams>;
using Bn254Fr = Fp<Bn254FrParams>;
using Bls12_381Fq = Fp<Bls12_381FqParams>;
using Bls12_381Fr = Fp<Bls12_381FrParams>;

}  // namespace cuzk
