// Integers as text: decimal and 0x strings of any length, to and from little-endian limbs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/formats/modulus.hpp"
#include "common/types.hpp"

namespace cuzk {

// An integer that was only looked at, not converted.
struct IntegerText {
  bool negative = false;
  bool hexadecimal = false;
  std::string_view digits;  // without sign, prefix and leading zeros; empty for zero
};

// "12", "-12", "+12", "0x1f", "0X1F"; nullopt for everything else, such as "", "1.0", "1e3", " 1".
// Like JavaScript's BigInt(), no sign may stand before 0x.
std::optional<IntegerText> read_integer(std::string_view text);

// The magnitude as limbs, least significant first; false when it needs more limbs. Linear in the
// number of digits times limbs, and short for numbers that do not fit.
bool to_limbs(const IntegerText& integer, std::span<std::uint64_t> limbs);

// The integer modulo r, its sign included. Linear in the number of digits.
ScalarInteger reduce(const IntegerText& integer, CurveId curve);

// Whether a double holds the integer exactly, so that JSON readers that go through doubles lose
// nothing.
bool is_exact_double(const IntegerText& integer);

// Little-endian bytes, a whole number of limbs and at most 48 of them, as decimal digits.
std::string to_decimal(std::span<const std::byte> bytes);

}  // namespace cuzk
