#include "common/formats/number_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "common/field/fp.hpp"
#include "common/field/params.hpp"

namespace cuzk {

namespace {

using Wide = unsigned __int128;

constexpr std::uint64_t kTenTo19 = 10'000'000'000'000'000'000ULL;
constexpr std::size_t kDigitsOfLimb = 19;
constexpr std::size_t kHexDigitsOfLimb = 16;

// A value of hexadecimal or decimal digits that fits into one limb. The digits were checked.
std::uint64_t limb_of(std::string_view digits, bool hexadecimal) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const int letter = (c | 0x20) - 'a';
    const int digit = c <= '9' ? c - '0' : letter + 10;
    value = value * (hexadecimal ? 16 : 10) + static_cast<std::uint64_t>(digit);
  }
  return value;
}

// Cuts the digits into pieces of one limb each, the most significant (and shortest) first, and
// calls fold(value of the piece) for each until it returns false.
template <class Fold>
bool fold_digits(const IntegerText& integer, Fold&& fold) {
  const std::size_t width = integer.hexadecimal ? kHexDigitsOfLimb : kDigitsOfLimb;
  std::string_view rest = integer.digits;
  while (!rest.empty()) {
    const std::size_t first = rest.size() % width;
    const std::string_view piece = rest.substr(0, first == 0 ? width : first);
    if (!fold(limb_of(piece, integer.hexadecimal))) return false;
    rest.remove_prefix(piece.size());
  }
  return true;
}

// limbs = limbs * factor + addend; false on overflow.
bool multiply_add(std::span<std::uint64_t> limbs, std::uint64_t factor, std::uint64_t addend) {
  std::uint64_t carry = addend;
  for (std::uint64_t& limb : limbs) {
    const Wide sum = Wide{limb} * factor + carry;
    limb = static_cast<std::uint64_t>(sum);
    carry = static_cast<std::uint64_t>(sum >> 64);
  }
  return carry == 0;
}

// limbs = limbs * 2^64 + addend; false on overflow.
bool shift_add(std::span<std::uint64_t> limbs, std::uint64_t addend) {
  const bool fits = limbs.back() == 0;
  std::copy_backward(limbs.begin(), limbs.end() - 1, limbs.end());
  limbs.front() = addend;
  return fits;
}

template <class Fr>
ScalarInteger reduce_in(const IntegerText& integer) {
  // 2^64 is no u64, so the hexadecimal base is put together from two halves.
  const Fr base =
      integer.hexadecimal ? Fr::from_u64(std::uint64_t{1} << 32).square() : Fr::from_u64(kTenTo19);
  Fr value = Fr::zero();
  fold_digits(integer, [&](std::uint64_t piece) {
    value = value * base + Fr::from_u64(piece);
    return true;
  });
  const auto canonical = (integer.negative ? -value : value).to_integer();
  ScalarInteger result;
  static_assert(sizeof canonical == sizeof result);
  std::memcpy(result.data(), &canonical, sizeof result);
  return result;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

std::optional<IntegerText> read_integer(std::string_view text) {
  IntegerText integer;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    integer.hexadecimal = true;
    text.remove_prefix(2);
  } else if (text.starts_with('-') || text.starts_with('+')) {
    integer.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const bool sound = integer.hexadecimal ? std::all_of(text.begin(), text.end(), is_hex_digit)
                                         : std::all_of(text.begin(), text.end(), is_digit);
  if (text.empty() || !sound) return std::nullopt;
  const std::size_t first = text.find_first_not_of('0');
  integer.digits = first == std::string_view::npos ? std::string_view{} : text.substr(first);
  return integer;
}

bool to_limbs(const IntegerText& integer, std::span<std::uint64_t> limbs) {
  std::fill(limbs.begin(), limbs.end(), 0);
  return fold_digits(integer, [&](std::uint64_t piece) {
    return integer.hexadecimal ? shift_add(limbs, piece) : multiply_add(limbs, kTenTo19, piece);
  });
}

ScalarInteger reduce(const IntegerText& integer, CurveId curve) {
  return curve == CurveId::kBn254 ? reduce_in<Fp<Bn254FrParams>>(integer)
                                  : reduce_in<Fp<Bls12_381FrParams>>(integer);
}

bool is_exact_double(const IntegerText& integer) {
  constexpr int kMantissaBits = 53;
  std::array<std::uint64_t, 16> limbs;  // 1024 bits: the largest double is below 2^1024
  if (!to_limbs(integer, limbs)) return false;
  int lowest = -1;
  int highest = -1;
  for (int i = 0; i < static_cast<int>(limbs.size()); ++i) {
    const std::uint64_t limb = limbs[static_cast<std::size_t>(i)];
    if (limb == 0) continue;
    if (lowest < 0) lowest = 64 * i + std::countr_zero(limb);
    highest = 64 * i + 63 - std::countl_zero(limb);
  }
  return highest - lowest < kMantissaBits;
}

std::string to_decimal(std::span<const std::byte> bytes) {
  std::array<std::uint64_t, 6> limbs{};
  std::memcpy(limbs.data(), bytes.data(), std::min(bytes.size(), sizeof limbs));
  std::string reversed;
  while (std::any_of(limbs.begin(), limbs.end(), [](std::uint64_t limb) { return limb != 0; })) {
    std::uint64_t remainder = 0;
    for (std::size_t i = limbs.size(); i-- > 0;) {
      const Wide value = Wide{remainder} << 64 | limbs[i];
      limbs[i] = static_cast<std::uint64_t>(value / kTenTo19);
      remainder = static_cast<std::uint64_t>(value % kTenTo19);
    }
    for (std::size_t digit = 0; digit < kDigitsOfLimb; ++digit, remainder /= 10) {
      reversed += static_cast<char>('0' + remainder % 10);
    }
  }
  while (!reversed.empty() && reversed.back() == '0') reversed.pop_back();
  if (reversed.empty()) return "0";
  return {reversed.rbegin(), reversed.rend()};
}

}  // namespace cuzk
