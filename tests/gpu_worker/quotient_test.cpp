// The quotient's domain and scalars against slow polynomial arithmetic.
#include "gpu_worker/cpu/quotient.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "common/curve/curves.hpp"
#include "common/field/text.hpp"

namespace cuzk {
namespace {

template <class Curve>
class Quotient : public testing::Test {
 protected:
  using Field = typename Curve::Fr;

  static Field power(const Field& base, std::uint64_t exponent) {
    return base.pow(std::span<const std::uint64_t>(&exponent, 1));
  }
  // The value at x of the polynomial with values[i] at root^i, by Lagrange's formula.
  static Field interpolate(const std::vector<Field>& values, const Field& root, const Field& x) {
    Field sum = Field::zero();
    for (std::size_t i = 0; i < values.size(); ++i) {
      Field top = values[i], bottom = Field::one();
      for (std::size_t j = 0; j < values.size(); ++j) {
        if (j == i) continue;
        top = top * (x - power(root, j));
        bottom = bottom * (power(root, i) - power(root, j));
      }
      sum = sum + top * bottom.inverse();
    }
    return sum;
  }
};
using Curves = testing::Types<Bn254, Bls12_381>;
TYPED_TEST_SUITE(Quotient, Curves);

// FORMATS: w[s] = 5^t on both curves.
TEST(QuotientRoots, are_snarkjs_roots) {
  const char* const bn254 =
      "19103219067921713944291392827692070036145651957329286315305642004821462161904";
  EXPECT_EQ(to_decimal(root_of_unity<Bn254::Fr>(28, Bn254::Fr::from_u64(5))), bn254);
  // 0x0212d79e5b416b6f0fd56dc8d168d6c0c4024ff270b3e0941b788f500b912f1f
  const Bls12_381::Fr::Integer bls12_381 = {
      {0x1b788f500b912f1f, 0xc4024ff270b3e094, 0x0fd56dc8d168d6c0, 0x0212d79e5b416b6f}};
  EXPECT_EQ(root_of_unity<Bls12_381::Fr>(32, Bls12_381::Fr::from_u64(5)),
            Bls12_381::Fr::from_integer(bls12_381));
}

TYPED_TEST(Quotient, equals_a_b_minus_c_on_the_odd_coset) {
  using Fr = typename TypeParam::Fr;
  for (const unsigned log_n : {0u, 1u, 2u, 5u}) {
    const std::size_t n = std::size_t{1} << log_n;
    std::vector<Fr> a(n), b(n), c(n);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = Fr::from_u64(i * i + 3).inverse();
      b[i] = Fr::from_u64(7 * i + 1).inverse();
      c[i] = a[i] * b[i];
    }
    const Fr w = root_of_unity<Fr>(log_n, Fr::from_u64(5));
    const Fr shift = root_of_unity<Fr>(log_n + 1, Fr::from_u64(5));
    std::vector<typename Fr::Integer> expected(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Fr x = this->power(shift, 2 * i + 1);
      expected[i] = (this->interpolate(a, w, x) * this->interpolate(b, w, x) -
                     this->interpolate(c, w, x))
                        .to_integer();
    }
    ThreadPool pool(2);
    const auto domain = quotient_domain<Fr>(QuotientConvention::kSnarkjsOddCoset, log_n, pool);
    quotient<Fr>(domain, a, b, c, pool);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(a[i].raw(), expected[i]) << i << " of " << n;
  }
}

// Where the field has no 2n-th root of unity snarkjs shifts by 25. Only the choice is tested: the domain
// itself would take 8 GiB on BN254.
TYPED_TEST(Quotient, coset_is_shifted_by_the_2n_th_root_or_by_25_where_there_is_none) {
  using Fr = typename TypeParam::Fr;
  const unsigned s = two_adicity<Fr>();
  EXPECT_EQ(quotient_shift<Fr>(s - 1).square(), root_of_unity<Fr>(s - 1, Fr::from_u64(5)));
  EXPECT_EQ(quotient_shift<Fr>(s), Fr::from_u64(25));
  ThreadPool pool(1);
  const auto domain = quotient_domain<Fr>(QuotientConvention::kSnarkjsOddCoset, 3, pool);
  EXPECT_EQ(domain.shift(), quotient_shift<Fr>(3));
  EXPECT_EQ(domain.root(), root_of_unity<Fr>(3, Fr::from_u64(5)));
}

}  // namespace
}  // namespace cuzk
