// The four prime fields, and the Montgomery constants that follow from a modulus.
//
// Only the moduli are written down (r and q of BN254 and BLS12-381, as in their published definitions);
// everything else is computed from them at compile time.
#pragma once

#include "common/field/limbs.hpp"

namespace cuzk {

struct Bn254FqParams {
  static constexpr std::size_t kLimbs = 4;
  static constexpr BigInt<4> kModulus =
      from_hex<4>("30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47");
};
struct Bn254FrParams {
  static constexpr std::size_t kLimbs = 4;
  static constexpr BigInt<4> kModulus =
      from_hex<4>("30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001");
};
struct Bls12_381FqParams {
  static constexpr std::size_t kLimbs = 6;
  static constexpr BigInt<6> kModulus =
      from_hex<6>("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f624"
                  "1eabfffeb153ffffb9feffffffffaaab");
};
struct Bls12_381FrParams {
  static constexpr std::size_t kLimbs = 4;
  static constexpr BigInt<4> kModulus =
      from_hex<4>("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001");
};

// What Montgomery arithmetic with R = 2^(64 * kLimbs) needs of an odd modulus p < R / 2.
template <class Params>
struct Montgomery {
  static constexpr std::size_t kLimbs = Params::kLimbs;
  using Integer = BigInt<kLimbs>;

  // -p^-1 mod 2^64 by Newton's iteration: each step doubles the number of right bits.
  static constexpr std::uint64_t negative_inverse() {
    std::uint64_t inverse = 1;
    for (int i = 0; i < 6; ++i) inverse *= 2 - Params::kModulus.limb[0] * inverse;
    return 0 - inverse;
  }
  // 2^exponent mod p by doubling.
  static constexpr Integer power_of_two(std::size_t exponent) {
    Integer value{};
    value.limb[0] = 1;
    for (std::size_t i = 0; i < exponent; ++i) {
      const std::uint64_t carry = add(value, value, value);
      Integer reduced{};
      if (subtract(reduced, value, Params::kModulus) == 0 || carry != 0) value = reduced;
    }
    return value;
  }

  static constexpr std::uint64_t kNegativeInverse = negative_inverse();
  static constexpr Integer kR = power_of_two(64 * kLimbs);
  static constexpr Integer kR2 = power_of_two(2 * 64 * kLimbs);

  // The same for code that also runs on the device, where the arrays above have no address.
  CUZK_HD static constexpr Integer modulus() {
    constexpr Integer value = Params::kModulus;
    return value;
  }
  CUZK_HD static constexpr Integer r() {
    constexpr Integer value = kR;
    return value;
  }
  CUZK_HD static constexpr Integer r2() {
    constexpr Integer value = kR2;
    return value;
  }
};

}  // namespace cuzk
