// Transforms against their definition, against ffjavascript's (snarkjs) answers, and over threads.
#include "common/ntt/ntt.hpp"

#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace cuzk {
namespace {

template <class Fr>
Fr from_text(const std::string& hex) {
  return Fr::from_integer(from_hex<Fr::kLimbs>(hex.c_str() + 2));
}

template <class Fr>
std::vector<Fr> random_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Fr> values(count);
  for (Fr& value : values) {
    // Enough of the field: a product of two 64-bit numbers, squared.
    value = (Fr::from_u64(random()) * Fr::from_u64(random())).square() - Fr::from_u64(random());
  }
  return values;
}

template <class Fr>
Fr evaluate(const std::vector<Fr>& coefficients, const Fr& x) {
  Fr sum = Fr::zero();
  for (std::size_t i = coefficients.size(); i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

template <class Fr>
Fr power(const Fr& base, std::uint64_t exponent) {
  return base.pow(std::span<const std::uint64_t>(&exponent, 1));
}

template <class Curve>
struct NttTest : testing::Test {};
using Curves = testing::Types<Bn254, Bls12_381>;
TYPED_TEST_SUITE(NttTest, Curves);

// snarkjs' 5 for both curves, and bellperson's 7.
template <class Curve>
std::vector<std::uint64_t> non_residues() {
  if (Curve::kId == CurveId::kBn254) return {5};
  return {5, 7};
}

template <class Fr>
NttDomain<Fr> make_domain(unsigned log_n, std::uint64_t non_residue, const Fr& shift,
                          ThreadPool& pool) {
  return NttDomain<Fr>(log_n, root_of_unity<Fr>(log_n, Fr::from_u64(non_residue)), shift, pool);
}

TEST(RootOfUnity, AreThePublishedOnes) {
  // The 2^28-th root of libff and snarkjs for BN254; ROOT_OF_UNITY (2^32, from 7) of zkcrypto's
  // bls12_381.
  EXPECT_EQ(
      root_of_unity<Bn254::Fr>(28, Bn254::Fr::from_u64(5)),
      from_text<Bn254::Fr>("0x2a3c09f0a58a7e8500e0a7eb8ef62abc402d111e41112ed49bd61b6e725b19f0"));
  EXPECT_EQ(root_of_unity<Bls12_381::Fr>(32, Bls12_381::Fr::from_u64(7)),
            from_text<Bls12_381::Fr>(
                "0x16a2a19edfe81f20d09b681922c813b4b63683508c2280b93829971f439f0d2b"));
  EXPECT_EQ(two_adicity<Bn254::Fr>(), 28u);
  EXPECT_EQ(two_adicity<Bls12_381::Fr>(), 32u);
}

TYPED_TEST(NttTest, AgreesWithFfjavascript) {
  using Fr = typename TypeParam::Fr;
  std::ifstream file(std::string(CUZK_TEST_DATA) + "/transform/ntt.json");
  const auto answers = nlohmann::json::parse(file).at(name_of(TypeParam::kId));
  ThreadPool pool(2);
  ASSERT_EQ(answers.size(), 7u);
  for (unsigned log_n = 0; log_n < answers.size(); ++log_n) {
    const auto& answer = answers[log_n];
    const auto expected = [&](const char* key) {
      std::vector<Fr> values;
      for (const auto& text : answer.at(key))
        values.push_back(from_text<Fr>(text.template get<std::string>()));
      return values;
    };
    // The rule of the script that made the file.
    std::vector<Fr> input(std::size_t{1} << log_n, Fr::one());
    for (std::size_t i = 1; i < input.size(); ++i) {
      input[i] = input[i - 1] * Fr::from_u64(6364136223846793005) + Fr::one();
    }
    const auto domain = NttDomain<Fr>::snarkjs(log_n, pool);
    EXPECT_EQ(domain.root(), from_text<Fr>(answer.at("root").template get<std::string>()));
    auto values = input;
    domain.forward(values, pool);
    EXPECT_EQ(values, expected("forward"));
    values = input;
    domain.inverse(values, pool);
    EXPECT_EQ(values, expected("inverse"));
    values = input;
    domain.to_coset(values, pool);
    EXPECT_EQ(values, expected("odd_coset"));
  }
}

TYPED_TEST(NttTest, IsTheSumOfItsDefinitionForAllSmallSizes) {
  using Fr = typename TypeParam::Fr;
  ThreadPool pool(2);
  for (const std::uint64_t z : non_residues<TypeParam>()) {
    for (unsigned log_n = 0; log_n <= 8; ++log_n) {
      const Fr shift = Fr::from_u64(7);
      const auto domain = make_domain<Fr>(log_n, z, shift, pool);
      const auto input = random_values<Fr>(domain.size(), log_n);
      auto plain = input;
      auto coset = input;
      domain.forward(plain, pool);
      domain.forward_coset(coset, pool);
      Fr x = Fr::one();
      for (std::size_t k = 0; k < domain.size(); ++k, x = x * domain.root()) {
        ASSERT_EQ(plain[k], evaluate(input, x)) << log_n << " " << k;
        ASSERT_EQ(coset[k], evaluate(input, x * shift)) << log_n << " " << k;
      }
      EXPECT_EQ(x, Fr::one());
    }
  }
}

TYPED_TEST(NttTest, IsTheSumOfItsDefinitionAtRandomPlacesForAllSizesTo2To14) {
  using Fr = typename TypeParam::Fr;
  const std::uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  ThreadPool pool(3);
  for (const std::uint64_t z : non_residues<TypeParam>()) {
    for (unsigned log_n = 0; log_n <= 14; ++log_n) {
      const Fr shift = root_of_unity<Fr>(log_n + 1, Fr::from_u64(z));
      const auto domain = make_domain<Fr>(log_n, z, shift, pool);
      const auto coefficients = random_values<Fr>(domain.size(), random());
      auto evaluations = coefficients;
      domain.forward(evaluations, pool);
      auto coset = evaluations;
      domain.to_coset(coset, pool);
      for (int probe = 0; probe < 8; ++probe) {
        const std::size_t k = random() % domain.size();
        const Fr x = power(domain.root(), k);
        ASSERT_EQ(evaluations[k], evaluate(coefficients, x)) << "log " << log_n << " place " << k;
        ASSERT_EQ(coset[k], evaluate(coefficients, x * shift)) << "log " << log_n << " place " << k;
      }
      domain.inverse(evaluations, pool);
      ASSERT_EQ(evaluations, coefficients);
      domain.inverse_coset(coset, pool);
      ASSERT_EQ(coset, coefficients);
    }
  }
}

TYPED_TEST(NttTest, TheOddCosetIsSnarkjsDefinition) {
  using Fr = typename TypeParam::Fr;
  ThreadPool pool(2);
  for (unsigned log_n = 0; log_n <= 14; ++log_n) {
    const auto domain = NttDomain<Fr>::snarkjs(log_n, pool);
    const auto input = random_values<Fr>(domain.size(), 100 + log_n);
    auto fused = input;
    domain.to_coset(fused, pool);
    auto steps = input;
    domain.inverse(steps, pool);
    // groth16_prove.js: batchApplyKey(ifft, one, w[s + 1]), then fft.
    const Fr w = root_of_unity<Fr>(log_n + 1, Fr::from_u64(5));
    Fr factor = Fr::one();
    for (Fr& value : steps) {
      value = value * factor;
      factor = factor * w;
    }
    domain.forward(steps, pool);
    ASSERT_EQ(fused, steps) << log_n;
  }
}

TYPED_TEST(NttTest, GivesTheSameForEveryNumberOfThreads) {
  using Fr = typename TypeParam::Fr;
  ThreadPool one(1);
  for (const unsigned log_n : {0u, 1u, 4u, 8u, 9u, 10u, 11u, 12u, 13u, 14u, 16u}) {
    const auto domain = NttDomain<Fr>::snarkjs(log_n, one);
    const auto input = random_values<Fr>(domain.size(), log_n);
    std::vector<std::vector<Fr>> expected;
    const auto all = [&](ThreadPool& pool) {
      std::vector<std::vector<Fr>> results(5, input);
      domain.forward(results[0], pool);
      domain.inverse(results[1], pool);
      domain.forward_coset(results[2], pool);
      domain.inverse_coset(results[3], pool);
      domain.to_coset(results[4], pool);
      return results;
    };
    expected = all(one);
    for (const unsigned threads : {2u, 3u, 16u}) {
      ThreadPool pool(threads);
      ASSERT_EQ(all(pool), expected) << log_n << " " << threads;
    }
  }
}

TYPED_TEST(NttTest, ATableHoldsHalfADomainAndTheShift) {
  using Fr = typename TypeParam::Fr;
  EXPECT_EQ(NttDomain<Fr>::table_size(17), (1u << 16) + 2048u);
  EXPECT_EQ(NttDomain<Fr>::table_size(0), 3u);
}

}  // namespace
}  // namespace cuzk
