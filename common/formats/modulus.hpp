// The moduli of the two curves' fields, chosen at run time.
//
// Files name their field by writing its prime down. The code that computes picks a field type at
// compile time; the code here only recognises primes and compares integers with them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/types.hpp"

namespace cuzk {

// A canonical scalar of either curve: an integer below the group order r, least significant limb
// first.
using ScalarInteger = std::array<std::uint64_t, 4>;

struct Modulus {
  std::array<std::uint64_t, 6> limb{};  // least significant first, zeros above n_limbs
  std::size_t n_limbs = 0;              // 4 or 6
  constexpr std::size_t bytes() const { return 8 * n_limbs; }
};

// q: coordinates of points are integers below it.
const Modulus& base_modulus(CurveId curve);
// r: witness values and coefficients are integers below it.
const Modulus& scalar_modulus(CurveId curve);

// Whether the modulus.n_limbs limbs at `limb` make an integer below the modulus.
inline bool is_below(const std::uint64_t* limb, const Modulus& modulus) {
  for (std::size_t i = modulus.n_limbs; i-- > 0;) {
    if (limb[i] != modulus.limb[i]) return limb[i] < modulus.limb[i];
  }
  return false;
}
// The same for modulus.bytes() little-endian bytes at any alignment.
bool is_below(std::span<const std::byte> bytes, const Modulus& modulus);

// The curve whose r (or q) is written in these little-endian bytes.
std::optional<CurveId> curve_of_scalar_modulus(std::span<const std::byte> bytes);
std::optional<CurveId> curve_of_base_modulus(std::span<const std::byte> bytes);

// n8r of the formats: a scalar has 32 bytes on both curves.
inline constexpr std::size_t kScalarFieldBytes = 32;

}  // namespace cuzk
