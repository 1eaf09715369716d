// BN254 and BLS12-381: fields, equations, generators.
//
// A group is named by a tag, G1Of<Curve> or G2Of<Curve>, that carries its coordinate field, its scalar
// field and its equation y^2 = x^3 + b; points (points.hpp) and everything above are templates over it.
#pragma once

#include "common/field/fp2.hpp"
#include "common/types.hpp"

namespace cuzk {

struct Bn254 {
  static constexpr CurveId kId = CurveId::kBn254;
  using Fq = Bn254Fq;
  using Fr = Bn254Fr;
  using Fq2 = Fp2<Fq>;
};

struct Bls12_381 {
  static constexpr CurveId kId = CurveId::kBls12_381;
  using Fq = Bls12_381Fq;
  using Fr = Bls12_381Fr;
  using Fq2 = Fp2<Fq>;
};

template <class C>
struct G1Of {
  using Curve = C;
  using Field = typename C::Fq;
  using Scalar = typename C::Fr;
  // 3 on BN254, 4 on BLS12-381.
  CUZK_HD static constexpr Field b() { return Field::from_u64(C::kId == CurveId::kBn254 ? 3 : 4); }
};

template <class C>
struct G2Of {
  using Curve = C;
  using Field = typename C::Fq2;
  using Scalar = typename C::Fr;
  // 3 / (9 + u) on BN254, 4 (1 + u) on BLS12-381.
  static Field b() {
    using Fq = typename C::Fq;
    if constexpr (C::kId == CurveId::kBn254) {
      const Field xi = {Fq::from_u64(9), Fq::one()};
      return xi.inverse().mul_by(Fq::from_u64(3));
    } else {
      return {Fq::from_u64(4), Fq::from_u64(4)};
    }
  }
};

}  // namespace cuzk
