// Integers of a fixed number of 64-bit limbs, least significant first.
//
// These are the carriers of field elements and scalars on host and device: plain arrays without
// padding, whose bytes are exactly the little-endian integers of the file formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/field/host_device.hpp"

namespace cuzk {

template <std::size_t N>
struct BigInt {
  std::uint64_t limb[N];

  CUZK_HD constexpr std::uint64_t& operator[](std::size_t i) { return limb[i]; }
  CUZK_HD constexpr const std::uint64_t& operator[](std::size_t i) const { return limb[i]; }
  CUZK_HD constexpr std::size_t size() const { return N; }
  CUZK_HD constexpr const std::uint64_t* data() const { return limb; }

  CUZK_HD constexpr bool is_zero() const {
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < N; ++i) any |= limb[i];
    return any == 0;
  }
  CUZK_HD constexpr bool operator==(const BigInt& other) const {
    std::uint64_t difference = 0;
    for (std::size_t i = 0; i < N; ++i) difference |= limb[i] ^ other.limb[i];
    return difference == 0;
  }
};

// sum = a + b; returns the carry.
template <std::size_t N>
CUZK_HD constexpr std::uint64_t add(BigInt<N>& sum, const BigInt<N>& a, const BigInt<N>& b) {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const unsigned __int128 t = static_cast<unsigned __int128>(a.limb[i]) + b.limb[i] + carry;
    sum.limb[i] = static_cast<std::uint64_t>(t);
    carry = static_cast<std::uint64_t>(t >> 64);
  }
  return carry;
}

// difference = a - b; returns the borrow.
template <std::size_t N>
CUZK_HD constexpr std::uint64_t subtract(BigInt<N>& difference, const BigInt<N>& a,
                                         const BigInt<N>& b) {
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < N; ++i) {
    const unsigned __int128 t = static_cast<unsigned __int128>(a.limb[i]) - b.limb[i] - borrow;
    difference.limb[i] = static_cast<std::uint64_t>(t);
    borrow = static_cast<std::uint64_t>(t >> 64) & 1;
  }
  return borrow;
}

template <std::size_t N>
CUZK_HD constexpr bool less(const BigInt<N>& a, const BigInt<N>& b) {
  BigInt<N> ignored{};
  return subtract(ignored, a, b) != 0;
}

// From big-endian hexadecimal digits, at compile time.
template <std::size_t N>
constexpr BigInt<N> from_hex(const char* digits) {
  BigInt<N> value{};
  for (const char* c = digits; *c != '\0'; ++c) {
    const std::uint64_t nibble = static_cast<std::uint64_t>(
        *c >= 'a' ? *c - 'a' + 10 : *c - '0');
    for (std::size_t i = N; i-- > 0;) {
      value.limb[i] = value.limb[i] << 4 | (i > 0 ? value.limb[i - 1] >> 60 : nibble);
    }
  }
  return value;
}

}  // namespace cuzk
