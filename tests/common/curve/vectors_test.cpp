// Fields, towers, points, subgroups and pairings against the answers of @noble/curves.
#include <gtest/gtest.h>

#include "common/curve/pairing.hpp"
#include "common/curve/subgroup.hpp"
#include "common/field/sqrt.hpp"
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

// `root` is one of the two roots of a, or null.
template <class Field>
void check_root(const Field& a, const nlohmann::json& root) {
  const auto ours = sqrt(a);
  ASSERT_EQ(ours.has_value(), !root.is_null());
  if (!ours) return;
  const auto theirs = element_of<Field>(root);
  EXPECT_TRUE(*ours == theirs || *ours == -theirs);
}

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
    EXPECT_EQ(a.pow(BigInt<1>{{65537}}), at("power"));
    check_root(a, row["root"]);
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
    check_root(a, row["root"]);
  }
}

TYPED_TEST(Vectors, TheTowerAgrees) {
  for (const auto& row : this->vectors["extensions"]["fp6"]) {
    const auto a = fq6_of<TypeParam>(row["a"]);
    const auto b = fq6_of<TypeParam>(row["b"]);
    EXPECT_EQ(a * b, fq6_of<TypeParam>(row["product"]));
    EXPECT_EQ(a.square(), fq6_of<TypeParam>(row["square"]));
    EXPECT_EQ(a.inverse(), fq6_of<TypeParam>(row["inverse"]));
  }
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

TYPED_TEST(Vectors, PairingsAgree) {
  for (const auto& row : this->vectors["pairings"]) {
    const auto p = to_affine(mul(generator<G1Of<TypeParam>>(), integer_of<4>(row["a"])));
    const auto q = to_affine(mul(generator<G2Of<TypeParam>>(), integer_of<4>(row["b"])));
    EXPECT_EQ(pairing<TypeParam>(p, q), fq12_of<TypeParam>(row["e"]));
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
