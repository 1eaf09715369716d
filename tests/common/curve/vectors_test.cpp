// Fields, towers, points, subgroups and pairings against the answers of @noble/curves.
#include <gtest/gtest.h>

#include "common/curve/pairing.hpp"
#include "common/curve/subgroup.hpp"
#include "tests/common/curve/vectors.hpp"

namespace cuzk::test {
namespace {

template <class Curve>
class Vectors : public testing::Test {
 protected:
  const nlohmann::json vectors = math_vectors(Curve::kId);
};
using Curves = testing::Types<Bn254, Bls12_381>;
TYPED_TEST_SUITE(Vectors, Curves);

template <class Field>
void check_field(const nlohmann::json& rows) {
  ASSERT_FALSE(rows.empty());
  for (const auto& row : rows) {
    const auto at = [&](const char* key) { return element_of<Field>(row[key]); };
    const Field a = at("a");
    const Field b = at("b");
    EXPECT_EQ(a + b, at("sum"));
    EXPECT_EQ(a - b, at("difference"));
    EXPECT_EQ(a * b, at("product"));
    EXPECT_EQ(a.square(), at("square"));
    EXPECT_EQ(-a, at("negative"));
    EXPECT_EQ(a.inverse(), at("inverse"));
    const std::uint64_t exponent[] = {65537};
    EXPECT_EQ(a.pow(exponent), at("power"));
    EXPECT_EQ(a.to_integer(), integer_of<Field::kLimbs>(row["a"].template get<std::string>()));
  }
}

TYPED_TEST(Vectors, PrimeFieldsAgree) {
  check_field<typename TypeParam::Fq>(this->vectors["fq"]);
  check_field<typename TypeParam::Fr>(this->vectors["fr"]);
}

TYPED_TEST(Vectors, TheQuadraticExtensionAgrees) {
  using Fq2 = typename TypeParam::Fq2;
  for (const auto& row : this->vectors["extensions"]["fp2"]) {
    const Fq2 a = element_of<Fq2>(row["a"]);
    const Fq2 b = element_of<Fq2>(row["b"]);
    EXPECT_EQ(a * b, element_of<Fq2>(row["product"]));
    EXPECT_EQ(a.square(), element_of<Fq2>(row["square"]));
    EXPECT_EQ(a.inverse(), element_of<Fq2>(row["inverse"]));
  }
}

TYPED_TEST(Vectors, TheTowerAgrees) {
  for (const auto& row : this->vectors["extensions"]["fp12"]) {
    const auto a = fq12_of<TypeParam>(row["a"]);
    const auto b = fq12_of<TypeParam>(row["b"]);
    EXPECT_EQ(a * b, fq12_of<TypeParam>(row["product"]));
    EXPECT_EQ(a.square(), fq12_of<TypeParam>(row["square"]));
    EXPECT_EQ(a.inverse(), fq12_of<TypeParam>(row["inverse"]));
    EXPECT_EQ(frobenius<TypeParam>(a), fq12_of<TypeParam>(row["frobenius"]));
  }
}

template <class Group>
void check_group(const nlohmann::json& rows) {
  ASSERT_FALSE(rows.empty());
  for (const auto& row : rows) {
    const auto p = point_of<Group>(row["p"]);
    const auto q = point_of<Group>(row["q"]);
    const auto sum = point_of<Group>(row["sum"]);
    const auto twice = point_of<Group>(row["twice"]);
    const auto scalar = integer_of<4>(row["a"].template get<std::string>());
    EXPECT_TRUE(is_on_curve(p));
    EXPECT_TRUE(is_in_subgroup(p));
    EXPECT_EQ(to_affine(mul(generator<Group>(), scalar)), p);
    // Denominators other than one, so that no formula profits from z = 1.
    const auto pj = add(dbl(Jacobian<Group>::from(p)), neg(Jacobian<Group>::from(p)));
    const auto qj = add(dbl(Jacobian<Group>::from(q)), neg(Jacobian<Group>::from(q)));
    EXPECT_EQ(to_affine(add(pj, qj)), sum);
    EXPECT_EQ(to_affine(add_mixed(pj, q)), sum);
    EXPECT_EQ(to_affine(dbl(pj)), twice);
    const auto px = add(dbl(Xyzz<Group>::from(p)), neg(Xyzz<Group>::from(p)));
    const auto qx = add(dbl(Xyzz<Group>::from(q)), neg(Xyzz<Group>::from(q)));
    EXPECT_EQ(to_affine(add(px, qx)), sum);
    EXPECT_EQ(to_affine(add_mixed(px, q)), sum);
    EXPECT_EQ(to_affine(dbl(px)), twice);
    EXPECT_EQ(to_affine(add_mixed(px, neg(p))), Affine<Group>::infinity());
    EXPECT_EQ(to_affine(add(px, Xyzz<Group>::infinity())), p);
  }
}

TYPED_TEST(Vectors, PointsAgree) {
  check_group<G1Of<TypeParam>>(this->vectors["g1"]);
  check_group<G2Of<TypeParam>>(this->vectors["g2"]);
}

TYPED_TEST(Vectors, BatchConversionToAffineAgreesWithSingleOnes) {
  using Group = G2Of<TypeParam>;
  std::vector<Jacobian<Group>> points = {Jacobian<Group>::infinity()};
  for (int i = 0; i < 9; ++i) {
    points.push_back(add_mixed(dbl(points.back()), generator<Group>()));
  }
  points.push_back(Jacobian<Group>::infinity());
  std::vector<Affine<Group>> affine(points.size());
  batch_to_affine(std::span<const Jacobian<Group>>(points), std::span<Affine<Group>>(affine));
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(affine[i], to_affine(points[i]));
}

template <class Group>
void check_strangers(const nlohmann::json& rows) {
  for (const auto& row : rows) {
    const auto point = point_of<Group>(row);
    EXPECT_TRUE(is_on_curve(point)) << row;
    EXPECT_FALSE(is_in_subgroup(point)) << row;
    // The definition itself agrees.
    EXPECT_FALSE(mul(point, Group::Scalar::Params::kModulus).is_infinity()) << row;
  }
}

TYPED_TEST(Vectors, PointsOfAnotherOrderAreOnTheCurveButNotInTheSubgroup) {
  if constexpr (TypeParam::kId == CurveId::kBls12_381) {
    ASSERT_FALSE(this->vectors["g1_strangers"].empty());
    check_strangers<G1Of<TypeParam>>(this->vectors["g1_strangers"]);
  }
  ASSERT_FALSE(this->vectors["g2_strangers"].empty());
  check_strangers<G2Of<TypeParam>>(this->vectors["g2_strangers"]);
}

template <class Field>
Field power(const Field& base, unsigned __int128 exponent) {
  Field result = Field::one();
  for (int bit = 127; bit >= 0; --bit) {
    result = result.square();
    if (exponent >> bit & 1) result = result * base;
  }
  return result;
}

// noble's final exponentiations carry a constant factor in the exponent: 3 on BLS12-381, and
// 2x (6x^2 + 3x + 1) on BN254, the multiple of Fuentes-Castaneda, Knapp and Rodriguez-Henriquez.
TYPED_TEST(Vectors, PairingsAgreeUpToThePublishedFactorOfTheExponent) {
  using Fq12 = typename TypeParam::Fq12;
  for (const auto& row : this->vectors["pairings"]) {
    const auto p = to_affine(mul(generator<G1Of<TypeParam>>(), integer_of<4>(row["a"])));
    const auto q = to_affine(mul(generator<G2Of<TypeParam>>(), integer_of<4>(row["b"])));
    const Fq12 ours = pairing<TypeParam>(p, q);
    const Fq12 theirs = fq12_of<TypeParam>(row["e"]);
    if constexpr (TypeParam::kId == CurveId::kBn254) {
      const unsigned __int128 x = TypeParam::kX;
      const Fq12 inner = power(power(ours, 6 * x + 3), x) * ours;  // ours^(6x^2 + 3x + 1)
      EXPECT_EQ(power(inner, 2 * x), theirs);
    } else {
      EXPECT_EQ(ours * ours * ours, theirs);
    }
  }
}

TYPED_TEST(Vectors, AProductOfPairingsIsOneExactlyWhenTheExponentsCancel) {
  const auto g = generator<G1Of<TypeParam>>();
  const auto h = generator<G2Of<TypeParam>>();
  const auto a = TypeParam::Fr::from_u64(1234567).inverse().to_integer();
  const PairingInput<TypeParam> good[] = {{to_affine(mul(g, a)), h}, {neg(g), to_affine(mul(h, a))}};
  EXPECT_TRUE(pairing_product_is_one<TypeParam>(good));
  const PairingInput<TypeParam> bad[] = {{to_affine(mul(g, a)), h}, {g, to_affine(mul(h, a))}};
  EXPECT_FALSE(pairing_product_is_one<TypeParam>(bad));
  const PairingInput<TypeParam> infinite[] = {
      {Affine<G1Of<TypeParam>>::infinity(), h}, {g, Affine<G2Of<TypeParam>>::infinity()}};
  EXPECT_TRUE(pairing_product_is_one<TypeParam>(infinite));
}

}  // namespace
}  // namespace cuzk::test
