// Signed digits of a scalar, read window by window without storing them.
//
// A window of c bits wants digits in [-2^(c-1), 2^(c-1)), because a point's negative is free and
// half the buckets suffice. Instead of carrying from window to window, add once the constant that
// has 2^(c-1) in every window but the highest: then the window's plain bits minus 2^(c-1) are the
// digit, and every window can be read by itself. The highest window takes what is left, unsigned,
// carry included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/field/limbs.hpp"

namespace cuzk::msm_detail {

inline constexpr std::size_t kScalarLimbs = 4;
using Scalar = BigInt<kScalarLimbs>;
// Sums of a scalar and the constant must not overflow 256 bits.
inline constexpr unsigned kMaxScalarBits = 255;

struct Window {
  unsigned offset = 0;   // of its lowest bit
  unsigned bits = 0;     // the digit's magnitude is at most 2^(bits-1)
  bool highest = false;  // unsigned: `bits` counts a sign bit that is not there

  std::size_t buckets() const { return std::size_t{1} << (bits - 1); }
  bool operator==(const Window&) const = default;
};

// Cuts scalars below 2^scalar_bits into `count` windows, lowest first, whose widths differ by at
// most one. 1 <= count <= scalar_bits <= kMaxScalarBits.
std::vector<Window> cut_windows(unsigned scalar_bits, unsigned count);

class Recoder {
 public:
  // `windows` as cut_windows gave them.
  explicit Recoder(const std::vector<Window>& windows);

  // The digit of `scalar` in `window`, in [-2^(bits-1), 2^(bits-1)].
  std::int32_t digit(const Scalar& scalar, const Window& window) const {
    std::uint64_t sum[kScalarLimbs + 1];
    unsigned __int128 carry = 0;
    for (std::size_t i = 0; i < kScalarLimbs; ++i) {
      carry += scalar[i];
      carry += constant_[i];
      sum[i] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    sum[kScalarLimbs] = 0;
    const unsigned limb = window.offset / 64;
    const unsigned shift = window.offset % 64;
    const std::uint64_t raw = (sum[limb] >> shift) | ((sum[limb + 1] << 1) << (63 - shift));
    if (window.highest) return static_cast<std::int32_t>(raw);
    const std::uint64_t half = std::uint64_t{1} << (window.bits - 1);
    return static_cast<std::int32_t>(raw & (2 * half - 1)) - static_cast<std::int32_t>(half);
  }

 private:
  Scalar constant_{};
};

}  // namespace cuzk::msm_detail
