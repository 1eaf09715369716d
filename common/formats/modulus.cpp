#include "common/formats/modulus.hpp"

#include <algorithm>
#include <cstring>

#include "common/field/params.hpp"

namespace cuzk {

namespace {

template <class Params>
constexpr Modulus modulus_of() {
  Modulus modulus;
  modulus.n_limbs = Params::kLimbs;
  for (std::size_t i = 0; i < modulus.n_limbs; ++i) modulus.limb[i] = Params::kModulus.limb[i];
  return modulus;
}

constexpr Modulus kBn254Q = modulus_of<Bn254FqParams>();
constexpr Modulus kBn254R = modulus_of<Bn254FrParams>();
constexpr Modulus kBls12_381Q = modulus_of<Bls12_381FqParams>();
constexpr Modulus kBls12_381R = modulus_of<Bls12_381FrParams>();

bool equals(std::span<const std::byte> bytes, const Modulus& modulus) {
  return bytes.size() == modulus.bytes() &&
         std::memcmp(bytes.data(), modulus.limb.data(), bytes.size()) == 0;
}

}  // namespace

const Modulus& base_modulus(CurveId curve) {
  return curve == CurveId::kBn254 ? kBn254Q : kBls12_381Q;
}

const Modulus& scalar_modulus(CurveId curve) {
  return curve == CurveId::kBn254 ? kBn254R : kBls12_381R;
}

bool is_below(std::span<const std::byte> bytes, const Modulus& modulus) {
  std::array<std::uint64_t, 6> limbs{};
  std::memcpy(limbs.data(), bytes.data(), std::min(bytes.size(), modulus.bytes()));
  return is_below(limbs.data(), modulus);
}

std::optional<CurveId> curve_of_scalar_modulus(std::span<const std::byte> bytes) {
  if (equals(bytes, kBn254R)) return CurveId::kBn254;
  if (equals(bytes, kBls12_381R)) return CurveId::kBls12_381;
  return std::nullopt;
}

std::optional<CurveId> curve_of_base_modulus(std::span<const std::byte> bytes) {
  if (equals(bytes, kBn254Q)) return CurveId::kBn254;
  if (equals(bytes, kBls12_381Q)) return CurveId::kBls12_381;
  return std::nullopt;
}

}  // namespace cuzk
