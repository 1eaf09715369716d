// Whole multiplications: against @noble/curves, against double-and-add, and on inputs made to hurt.
#include "common/msm/msm.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/common/msm/known_points.hpp"

namespace cuzk {
namespace {

using Integer = BigInt<4>;

Integer small(std::uint64_t value) { return {{value, 0, 0, 0}}; }

template <class Scalar>
Integer minus(std::uint64_t value) {
  return (-Scalar::from_u64(value)).to_integer();
}

template <class Scalar>
std::vector<Integer> random_integers(std::size_t count, std::mt19937_64& random) {
  std::vector<Integer> scalars(count);
  for (Integer& scalar : scalars) scalar = random_scalar<Scalar>(random).to_integer();
  return scalars;
}

template <class Group>
struct MsmTest : testing::Test {
  std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random{seed};
  ThreadPool one{1};
  ThreadPool three{3};

  void SetUp() override { std::cout << "seed " << seed << "\n"; }

  void check(const KnownPoints<Group>& known, const std::vector<Integer>& scalars,
             const std::vector<std::uint32_t>& indices = {}) {
    const Affine<Group> expected = expected_sum(known, scalars, indices);
    for (ThreadPool* pool : {&one, &three}) {
      ASSERT_EQ(to_affine(msm<Group>({known.points, scalars, indices}, *pool)), expected)
          << known.size() << " points, " << pool->threads() << " threads";
    }
  }
};
using Groups = testing::Types<G1Of<Bn254>, G2Of<Bn254>, G1Of<Bls12_381>, G2Of<Bls12_381>>;
TYPED_TEST_SUITE(MsmTest, Groups);

template <class Field>
Field coordinate(const nlohmann::json& texts) {
  const auto base = [&](std::size_t i) {
    const std::string text = texts.at(i).get<std::string>();
    if constexpr (requires { Field::kLimbs; }) {
      return Field::from_integer(from_hex<Field::kLimbs>(text.c_str() + 2));
    } else {
      using Base = typename Field::BaseField;
      return Base::from_integer(from_hex<Base::kLimbs>(text.c_str() + 2));
    }
  };
  if constexpr (requires { Field::kLimbs; }) {
    return base(0);
  } else {
    return {base(0), base(1)};
  }
}

TYPED_TEST(MsmTest, AgreesWithNoble) {
  using Scalar = typename TypeParam::Scalar;
  using Field = typename TypeParam::Field;
  std::ifstream file(std::string(CUZK_TEST_DATA) + "/transform/msm.json");
  const auto answers = nlohmann::json::parse(file);
  const bool first = std::is_same_v<TypeParam, G1Of<typename TypeParam::Curve>>;
  const std::string key = std::string(name_of(TypeParam::Curve::kId)) + (first ? ".G1" : ".G2");
  ASSERT_EQ(answers.at(key).size(), 6u);
  for (const auto& answer : answers.at(key)) {
    // The rules of the script that made the file.
    const std::size_t count = answer.at("count").template get<std::size_t>();
    std::vector<Jacobian<TypeParam>> multiples;
    std::vector<Integer> scalars;
    Jacobian<TypeParam> multiple = Jacobian<TypeParam>::from(base_point<TypeParam>());
    Scalar scalar = Scalar::one();
    for (std::size_t i = 0; i < count; ++i) {
      multiples.push_back(multiple);
      scalars.push_back(scalar.to_integer());
      multiple = add_mixed(multiple, base_point<TypeParam>());
      scalar = scalar * Scalar::from_u64(6364136223846793005) + Scalar::one();
    }
    std::vector<Affine<TypeParam>> points(count);
    batch_to_affine<TypeParam>(multiples, points);
    const Affine<TypeParam> expected = {coordinate<Field>(answer.at("x")),
                                        coordinate<Field>(answer.at("y"))};
    for (ThreadPool* pool : {&this->one, &this->three}) {
      EXPECT_EQ(to_affine(msm<TypeParam>({points, scalars}, *pool)), expected) << count;
    }
  }
}

TYPED_TEST(MsmTest, AgreesWithDoubleAndAdd) {
  for (const std::size_t count : {0, 1, 2, 3, 5, 40}) {
    const auto known = known_points<TypeParam>(count, this->random);
    const auto scalars = random_integers<typename TypeParam::Scalar>(count, this->random);
    auto sum = Jacobian<TypeParam>::infinity();
    for (std::size_t i = 0; i < count; ++i) sum = add(sum, mul(known.points[i], scalars[i]));
    for (ThreadPool* pool : {&this->one, &this->three}) {
      ASSERT_EQ(to_affine(msm<TypeParam>({known.points, scalars}, *pool)), to_affine(sum)) << count;
    }
  }
}

TYPED_TEST(MsmTest, RandomSizesUpTo2000) {
  for (int round = 0; round < 12; ++round) {
    const std::size_t count = this->random() % 2001;
    const auto known = known_points<TypeParam>(count, this->random);
    this->check(known, random_integers<typename TypeParam::Scalar>(count, this->random));
  }
}

TYPED_TEST(MsmTest, ManyPointsUseWideWindowsAndParts) {
  const std::size_t count = 20000;
  const auto known = known_points<TypeParam>(count, this->random);
  this->check(known, random_integers<typename TypeParam::Scalar>(count, this->random));
}

TYPED_TEST(MsmTest, AllScalarsAlike) {
  using Scalar = typename TypeParam::Scalar;
  for (const std::size_t count : {1, 300, 6000}) {
    const auto known = known_points<TypeParam>(count, this->random);
    for (const Integer& scalar :
         {small(0), small(1), small(2), small(255), small(UINT64_MAX), minus<Scalar>(1),
          minus<Scalar>(2), random_scalar<Scalar>(this->random).to_integer()}) {
      this->check(known, std::vector<Integer>(count, scalar));
    }
  }
}

TYPED_TEST(MsmTest, PowersOfTwoAndTheirNeighbours) {
  using Scalar = typename TypeParam::Scalar;
  std::vector<Integer> scalars;
  Scalar power = Scalar::one();
  for (unsigned bit = 0; bit + 1 < 254; ++bit, power = power + power) {
    scalars.push_back(power.to_integer());
    scalars.push_back((power - Scalar::one()).to_integer());
    scalars.push_back((-power).to_integer());
  }
  // Each scalar alone (its top window is the tightest), then all together.
  const auto known = known_points<TypeParam>(scalars.size(), this->random);
  this->check(known, scalars);
  for (std::size_t i = 0; i < scalars.size(); i += 7) {
    KnownPoints<TypeParam> single;
    single.push(known.points[i], known.logarithms[i]);
    this->check(single, {scalars[i]});
  }
}

// Equal points meet in buckets, opposite ones cancel there, infinity adds nothing.
TYPED_TEST(MsmTest, EqualOppositeAndInfinitePoints) {
  using Scalar = typename TypeParam::Scalar;
  for (const std::size_t count : {10, 500, 6000}) {
    const auto base = known_points<TypeParam>(4, this->random);
    KnownPoints<TypeParam> known;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t which = this->random() % base.size();
      switch (this->random() % 4) {
        case 0:
          known.push(Affine<TypeParam>::infinity(), Scalar::zero());
          break;
        case 1:
          known.push(neg(base.points[which]), -base.logarithms[which]);
          break;
        default:
          known.push(base.points[which], base.logarithms[which]);
      }
    }
    this->check(known, random_integers<Scalar>(count, this->random));
    this->check(known,
                std::vector<Integer>(count, random_scalar<Scalar>(this->random).to_integer()));
    this->check(known, std::vector<Integer>(count, small(1)));
    std::vector<Integer> few(count);
    for (Integer& scalar : few) scalar = small(this->random() % 5);
    this->check(known, few);
  }
}

TYPED_TEST(MsmTest, OnePointManyTimesAndOnlyInfinity) {
  using Scalar = typename TypeParam::Scalar;
  const std::size_t count = 6000;
  const auto base = known_points<TypeParam>(1, this->random);
  KnownPoints<TypeParam> same;
  KnownPoints<TypeParam> alternating;
  KnownPoints<TypeParam> nothing;
  for (std::size_t i = 0; i < count; ++i) {
    same.push(base.points[0], base.logarithms[0]);
    if (i % 2 == 0) {
      alternating.push(base.points[0], base.logarithms[0]);
    } else {
      alternating.push(neg(base.points[0]), -base.logarithms[0]);
    }
    nothing.push(Affine<TypeParam>::infinity(), Scalar::zero());
  }
  const auto scalars = random_integers<Scalar>(count, this->random);
  const std::vector<Integer> alike(count, scalars[0]);
  const std::vector<Integer> ones(count, small(1));
  for (const auto* known : {&same, &alternating, &nothing}) {
    this->check(*known, scalars);
    this->check(*known, alike);
    this->check(*known, ones);
  }
}

TYPED_TEST(MsmTest, WitnessesOfBitsBytesWordsAndFewWideValues) {
  using Scalar = typename TypeParam::Scalar;
  const std::size_t count = 8000;
  const auto known = known_points<TypeParam>(count, this->random);
  for (const unsigned wide_percent : {0u, 1u, 50u}) {
    for (const unsigned narrow_bits : {0u, 1u, 8u, 33u, 64u}) {
      std::vector<Integer> scalars(count);
      for (Integer& scalar : scalars) {
        if (this->random() % 100 < wide_percent) {
          scalar = random_scalar<Scalar>(this->random).to_integer();
        } else if (this->random() % 4 == 0 && narrow_bits > 0) {
          scalar = small(this->random() >> (64 - narrow_bits));
        } else {
          scalar = small(this->random() % 2);
        }
      }
      this->check(known, scalars);
    }
  }
}

TYPED_TEST(MsmTest, IndicesPickScalars) {
  using Scalar = typename TypeParam::Scalar;
  for (const std::size_t count : {1, 700, 6000}) {
    const auto known = known_points<TypeParam>(count, this->random);
    auto scalars = random_integers<Scalar>(2 * count + 3, this->random);
    for (std::size_t i = 0; i < scalars.size(); i += 3) scalars[i] = small(i % 2);
    std::vector<std::uint32_t> increasing;
    std::vector<std::uint32_t> any;
    for (std::size_t i = 0; i < count; ++i) {
      increasing.push_back(static_cast<std::uint32_t>(2 * i + this->random() % 2));
      any.push_back(static_cast<std::uint32_t>(this->random() % scalars.size()));
    }
    this->check(known, scalars, increasing);
    this->check(known, scalars, any);
    this->check(known, scalars);  // more scalars than points
  }
}

TYPED_TEST(MsmTest, ScratchAt2To17OnTwoThreadsIsBelowSixMegabytes) {
  EXPECT_LT(msm_scratch_bytes<TypeParam>(std::size_t{1} << 17, 2), 6'000'000u);
}

}  // namespace
}  // namespace cuzk
