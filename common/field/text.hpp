// Field elements as decimal text, the way circom's and snarkjs' JSON files write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/field/fp.hpp"

namespace cuzk {

template <std::size_t N>
std::string to_decimal(BigInt<N> value) {
  constexpr std::uint64_t kTenTo19 = 10'000'000'000'000'000'000u;
  std::string digits;  // least significant first
  while (!value.is_zero()) {
    std::uint64_t group = divide(value, value, kTenTo19);
    for (int i = 0; i < 19; ++i, group /= 10) digits.push_back(static_cast<char>('0' + group % 10));
  }
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  return digits.empty() ? "0" : std::string(digits.rbegin(), digits.rend());
}

template <class Params>
std::string to_decimal(const Fp<Params>& element) {
  return to_decimal(element.to_integer());
}

// Nothing unless the text is the shortest decimal form of an integer below the modulus.
template <class Field>
std::optional<Field> from_decimal(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  typename Field::Integer value{};
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    std::uint64_t carry = static_cast<std::uint64_t>(c - '0');
    for (std::uint64_t& limb : value.limb) {
      const unsigned __int128 t = static_cast<unsigned __int128>(limb) * 10 + carry;
      limb = static_cast<std::uint64_t>(t);
      carry = static_cast<std::uint64_t>(t >> 64);
    }
    if (carry != 0 || !Field::is_canonical(value)) return std::nullopt;
  }
  return Field::from_integer(value);
}

}  // namespace cuzk
