// BN254 and BLS12-381: fields, equations, generators, and the parameter of each family.
//
// A group is named by a tag, G1Of<Curve> or G2Of<Curve>, that carries its coordinate field, its scalar
// field and its equation y^2 = x^3 + b; points (points.hpp) and everything above are templates over it.
// Only published constants are written down; what follows from them is computed.
#pragma once

#include "common/field/fp12.hpp"
#include "common/types.hpp"

namespace cuzk {

// alt_bn128 of EIP-196/197: y^2 = x^3 + 3, twist of type D.
struct Bn254 {
  static constexpr CurveId kId = CurveId::kBn254;
  using Fq = Bn254Fq;
  using Fr = Bn254Fr;
  using Fq2 = Fp2<Fq>;
  struct Xi {  // 9 + u
    CUZK_HD static constexpr Fq2 value() { return {Fq::from_u64(9), Fq::one()}; }
    CUZK_HD static constexpr Fq2 mul_by_xi(const Fq2& a) {
      const Fq2 eight = a.dbl().dbl().dbl();
      return {eight.c0 + a.c0 - a.c1, eight.c1 + a.c1 + a.c0};
    }
  };
  using Fq6 = Fp6<Fq2, Xi>;
  using Fq12 = Fp12<Fq2, Xi>;
  // The family's parameter x; q, r and the trace are polynomials of it.
  static constexpr std::uint64_t kX = 4965661367192848881u;
  static constexpr bool kXIsNegative = false;
};

// The curve of the Zcash protocol specification, 5.4.9.2: y^2 = x^3 + 4, twist of type M.
struct Bls12_381 {
  static constexpr CurveId kId = CurveId::kBls12_381;
  using Fq = Bls12_381Fq;
  using Fr = Bls12_381Fr;
  using Fq2 = Fp2<Fq>;
  struct Xi {  // 1 + u
    CUZK_HD static constexpr Fq2 value() { return {Fq::one(), Fq::one()}; }
    CUZK_HD static constexpr Fq2 mul_by_xi(const Fq2& a) { return {a.c0 - a.c1, a.c0 + a.c1}; }
  };
  using Fq6 = Fp6<Fq2, Xi>;
  using Fq12 = Fp12<Fq2, Xi>;
  static constexpr std::uint64_t kX = 0xd201000000010000u;  // |x|
  static constexpr bool kXIsNegative = true;
};

template <class C>
struct G1Of {
  using Curve = C;
  using Field = typename C::Fq;
  using Scalar = typename C::Fr;
  // 3 on BN254, 4 on BLS12-381.
  CUZK_HD static constexpr Field b() { return Field::from_u64(C::kId == CurveId::kBn254 ? 3 : 4); }
  static constexpr Field generator_x() {
    if constexpr (C::kId == CurveId::kBn254) {
      return Field::one();
    } else {
      return Field::from_integer(
          from_hex<6>("17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac58"
                      "6c55e83ff97a1aeffb3af00adb22c6bb"));
    }
  }
  static constexpr Field generator_y() {
    if constexpr (C::kId == CurveId::kBn254) {
      return Field::from_u64(2);
    } else {
      return Field::from_integer(
          from_hex<6>("08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3ed"
                      "d03cc744a2888ae40caa232946c5e7e1"));
    }
  }
};

template <class C>
struct G2Of {
  using Curve = C;
  using Field = typename C::Fq2;
  using Scalar = typename C::Fr;
  // 3 / (9 + u) on BN254, 4 (1 + u) on BLS12-381.
  CUZK_HD static constexpr Field b() {
    if constexpr (C::kId == CurveId::kBn254) {
      constexpr Field value = bn254_b();
      return value;
    } else {
      return {C::Fq::from_u64(4), C::Fq::from_u64(4)};
    }
  }
  static constexpr Field generator_x() {
    using Fq = typename C::Fq;
    if constexpr (C::kId == CurveId::kBn254) {
      return {Fq::from_integer(from_hex<4>(
                  "1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed")),
              Fq::from_integer(from_hex<4>(
                  "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2"))};
    } else {
      return {Fq::from_integer(
                  from_hex<6>("024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d177"
                              "0bac0326a805bbefd48056c8c121bdb8")),
              Fq::from_integer(
                  from_hex<6>("13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049"
                              "334cf11213945d57e5ac7d055d042b7e"))};
    }
  }
  static constexpr Field generator_y() {
    using Fq = typename C::Fq;
    if constexpr (C::kId == CurveId::kBn254) {
      return {Fq::from_integer(from_hex<4>(
                  "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa")),
              Fq::from_integer(from_hex<4>(
                  "090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b"))};
    } else {
      return {Fq::from_integer(
                  from_hex<6>("0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c"
                              "923ac9cc3baca289e193548608b82801")),
              Fq::from_integer(
                  from_hex<6>("0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab"
                              "3f370d275cec1da1aaa9075ff05f79be"))};
    }
  }

 private:
  // (9 + u)^-1 = (9 - u) / 82; computed by the compiler.
  static constexpr Field bn254_b() {
    using Fq = typename C::Fq;
    const Fq scale = Fq::from_u64(3) * Fq::from_u64(82).inverse();
    return {Fq::from_u64(9) * scale, -scale};
  }
};

}  // namespace cuzk
