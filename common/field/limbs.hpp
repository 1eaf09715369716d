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

// sum = a + b + carry for one word; returns the new carry. gcc makes a chain of adc only from its own
// builtins, clang from the generic ones.
CUZK_HD constexpr std::uint64_t add_word(std::uint64_t& sum, std::uint64_t a, std::uint64_t b,
                                         std::uint64_t carry) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
  if (!std::is_constant_evaluated()) {
    unsigned long long word = 0;
    carry = __builtin_ia32_addcarryx_u64(static_cast<unsigned char>(carry), a, b, &word);
    sum = word;
    return carry;
  }
#endif
  const unsigned __int128 t = static_cast<unsigned __int128>(a) + b + carry;
  sum = static_cast<std::uint64_t>(t);
  return static_cast<std::uint64_t>(t >> 64);
}

// difference = a - b - borrow for one word; returns the new borrow.
CUZK_HD constexpr std::uint64_t subtract_word(std::uint64_t& difference, std::uint64_t a,
                                              std::uint64_t b, std::uint64_t borrow) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
  if (!std::is_constant_evaluated()) {
    unsigned long long word = 0;
    borrow = __builtin_ia32_sbb_u64(static_cast<unsigned char>(borrow), a, b, &word);
    difference = word;
    return borrow;
  }
#endif
  const unsigned __int128 t = static_cast<unsigned __int128>(a) - b - borrow;
  difference = static_cast<std::uint64_t>(t);
  return static_cast<std::uint64_t>(t >> 64) & 1;
}

// sum = a + b; returns the carry.
template <std::size_t N>
CUZK_HD constexpr std::uint64_t add(BigInt<N>& sum, const BigInt<N>& a, const BigInt<N>& b) {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < N; ++i) carry = add_word(sum.limb[i], a.limb[i], b.limb[i], carry);
  return carry;
}

// difference = a - b; returns the borrow.
template <std::size_t N>
CUZK_HD constexpr std::uint64_t subtract(BigInt<N>& difference, const BigInt<N>& a,
                                         const BigInt<N>& b) {
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < N; ++i) {
    borrow = subtract_word(difference.limb[i], a.limb[i], b.limb[i], borrow);
  }
  return borrow;
}

template <std::size_t N>
CUZK_HD constexpr bool less(const BigInt<N>& a, const BigInt<N>& b) {
  BigInt<N> ignored{};
  return subtract(ignored, a, b) != 0;
}

// `condition` ? a : b without a branch: the outcome of a reduction is a coin toss to a predictor.
template <std::size_t N>
CUZK_HD constexpr BigInt<N> select(bool condition, const BigInt<N>& a, const BigInt<N>& b) {
  const std::uint64_t mask = 0 - static_cast<std::uint64_t>(condition);
  BigInt<N> chosen{};
  for (std::size_t i = 0; i < N; ++i) {
    chosen.limb[i] = (a.limb[i] & mask) | (b.limb[i] & ~mask);
  }
  return chosen;
}

// quotient = value / divisor; returns the remainder.
template <std::size_t N>
CUZK_HD constexpr std::uint64_t divide(BigInt<N>& quotient, const BigInt<N>& value,
                                       std::uint64_t divisor) {
  unsigned __int128 rest = 0;
  for (std::size_t i = N; i-- > 0;) {
    rest = rest << 64 | value.limb[i];
    quotient.limb[i] = static_cast<std::uint64_t>(rest / divisor);
    rest %= divisor;
  }
  return static_cast<std::uint64_t>(rest);
}

// value / 2^bits for less than 64 bits.
template <std::size_t N>
CUZK_HD constexpr BigInt<N> shift_right(const BigInt<N>& value, unsigned bits) {
  BigInt<N> result{};
  for (std::size_t i = 0; i < N; ++i) {
    const std::uint64_t above = i + 1 < N ? value.limb[i + 1] : 0;
    result.limb[i] = bits == 0 ? value.limb[i] : value.limb[i] >> bits | above << (64 - bits);
  }
  return result;
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
