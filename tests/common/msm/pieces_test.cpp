// Batches, buckets and their sums, driven directly with batches so small that every path is taken.
#include <gtest/gtest.h>

#include "common/msm/bucket_set.hpp"
#include "common/msm/bucket_sum.hpp"
#include "tests/common/msm/known_points.hpp"

namespace cuzk::msm_detail {
namespace {

template <class Group>
struct PiecesTest : testing::Test {
  std::uint64_t seed = std::random_device{}();
  std::mt19937_64 random{seed};

  void SetUp() override { std::cout << "seed " << seed << "\n"; }

  static Affine<Group> sum(const Affine<Group>& a, const Affine<Group>& b) {
    return to_affine(add_mixed(Jacobian<Group>::from(a), b));
  }
};
using Groups = testing::Types<G1Of<Bn254>, G2Of<Bls12_381>>;
TYPED_TEST_SUITE(PiecesTest, Groups);

TYPED_TEST(PiecesTest, ABatchAddsDoublesAndCancels) {
  for (const std::size_t count : {1, 2, 3, 8, 33}) {
    auto targets = known_points<TypeParam>(count, this->random).points;
    const auto before = targets;
    auto sources = known_points<TypeParam>(count, this->random).points;
    BatchAdder<TypeParam> adder(count);
    std::vector<Affine<TypeParam>> expected;
    for (std::size_t i = 0; i < count; ++i) {
      const bool negate = this->random() % 2 == 1;
      if (i % 3 == 1) sources[i] = before[i];       // doubles or cancels
      if (i % 3 == 2) sources[i] = neg(before[i]);  // cancels or doubles
      expected.push_back(this->sum(before[i], negate ? neg(sources[i]) : sources[i]));
      adder.push(static_cast<std::uint32_t>(i), &sources[i], negate);
    }
    adder.run(targets.data());
    EXPECT_EQ(targets, expected);
    EXPECT_EQ(adder.size(), count);
    adder.clear();
    EXPECT_EQ(adder.size(), 0u);
  }
}

TYPED_TEST(PiecesTest, ASourceMayBeAnEarlierTargetAndIsReadAsItWas) {
  for (const std::size_t count : {1, 2, 3, 4, 7, 16}) {
    // Points 0..count-1 get `fresh` added; points count..2 count-1 get the old points 0..count-1
    // added.
    auto points = known_points<TypeParam>(2 * count, this->random).points;
    if (count > 2)
      points[count + 1] = points[1];  // this one doubles, next to additions of the common kind
    const auto fresh = known_points<TypeParam>(count, this->random).points;
    std::vector<Affine<TypeParam>> expected;
    for (std::size_t i = 0; i < count; ++i) expected.push_back(this->sum(points[i], fresh[i]));
    for (std::size_t i = 0; i < count; ++i)
      expected.push_back(this->sum(points[count + i], points[i]));
    BatchAdder<TypeParam> adder(2 * count);
    for (std::uint32_t i = 0; i < count; ++i) adder.push(i, &fresh[i], false);
    for (std::uint32_t i = 0; i < count; ++i) {
      adder.push(static_cast<std::uint32_t>(count) + i, &points[i], false);
    }
    adder.run(points.data());
    EXPECT_EQ(points, expected);
  }
}

TYPED_TEST(PiecesTest, BucketsHoldTheirSumsForEveryBatchSize) {
  using Group = TypeParam;
  const std::size_t points = 400;
  auto known = known_points<Group>(points, this->random);
  for (std::size_t i = 0; i < points; i += 9) known.points[i] = Affine<Group>::infinity();
  for (std::size_t i = 1; i < points; i += 9) known.points[i] = known.points[2];
  for (const std::size_t batch : {1, 2, 3, 16, 200}) {
    BucketSet<Group> set(64, batch);
    for (const std::size_t buckets : {1, 2, 7, 64}) {  // the set is used again and again
      std::vector<Jacobian<Group>> expected(buckets, Jacobian<Group>::infinity());
      set.reset(buckets, batch);
      for (const Affine<Group>& point : known.points) {
        const std::size_t bucket = this->random() % buckets;
        const bool negate = this->random() % 2 == 1;
        expected[bucket] = add_mixed(expected[bucket], negate ? neg(point) : point);
        set.add(static_cast<std::uint32_t>(bucket), point, negate);
      }
      const auto sums = set.finish();
      ASSERT_EQ(sums.size(), buckets);
      for (std::size_t b = 0; b < buckets; ++b) ASSERT_EQ(sums[b], to_affine(expected[b]));
    }
  }
}

TYPED_TEST(PiecesTest, OneBucketOfEqualAndOppositePoints) {
  using Group = TypeParam;
  const auto known = known_points<Group>(1, this->random);
  BucketSet<Group> set(1, 8);
  for (const int count : {1, 2, 3, 8, 9, 10, 64, 100}) {
    for (const int negative_every : {1000, 2, 3}) {
      set.reset(1, 8);
      Jacobian<Group> expected = Jacobian<Group>::infinity();
      for (int i = 1; i <= count; ++i) {
        const bool negate = i % negative_every == 0;
        set.add(0, known.points[0], negate);
        expected = add_mixed(expected, negate ? neg(known.points[0]) : known.points[0]);
      }
      ASSERT_EQ(set.finish()[0], to_affine(expected)) << count << " " << negative_every;
    }
  }
}

TYPED_TEST(PiecesTest, TheWeightedSumOfBucketsIsItsDefinition) {
  using Group = TypeParam;
  BatchAdder<Group> adder(2 * kMaxSegments);
  BucketSum<Group> bucket_sum;
  for (const std::size_t count : {1, 2, 64, 512, 2048, 8192}) {
    for (const unsigned filled_percent : {0u, 3u, 50u, 100u}) {
      auto known = known_points<Group>(count, this->random);
      using Scalar = typename Group::Scalar;
      Scalar logarithm = Scalar::zero();
      for (std::size_t b = 0; b < count; ++b) {
        if (this->random() % 100 >= filled_percent) {
          known.points[b] = Affine<Group>::infinity();
        } else {
          if (b > 0 && b % 5 == 0 &&
              !known.points[b - 1].is_infinity()) {  // equal and opposite neighbours
            const bool opposite = this->random() % 2 == 1;
            known.points[b] = opposite ? neg(known.points[b - 1]) : known.points[b - 1];
            known.logarithms[b] = opposite ? -known.logarithms[b - 1] : known.logarithms[b - 1];
          }
          logarithm = logarithm + known.logarithms[b] * Scalar::from_u64(b + 1);
        }
      }
      const auto expected = to_affine(mul(base_point<Group>(), logarithm.to_integer()));
      ASSERT_EQ(to_affine(bucket_sum(known.points, adder)), expected)
          << count << " " << filled_percent;
      ASSERT_EQ(adder.size(), 0u);
    }
  }
}

}  // namespace
}  // namespace cuzk::msm_detail
