// Proof bytes against snarkjs' proofs, and everything that decoding must refuse.
#include "common/groth16/proof.hpp"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "common/formats/json.hpp"
#include "tests/support/groth16_files.hpp"

namespace cuzk {
namespace {

using test::bytes_of;
using test::CircuitFiles;

template <class Curve>
class ProofBytes : public testing::Test {
 protected:
  static constexpr std::size_t kCoordinate = coordinate_bytes(Curve::kId);

  static std::string snarkjs_proof() {
    const CircuitFiles files{name_of(Curve::kId), "mult2"};
    auto bytes = proof_from_json(files.text("proof.json"), Curve::kId, "proof.json");
    EXPECT_TRUE(bytes) << bytes.error().message();
    return *bytes;
  }
  static std::string modulus_bytes() {
    return {reinterpret_cast<const char*>(&Curve::Fq::Params::kModulus), kCoordinate};
  }
};
using Curves = testing::Types<Bn254, Bls12_381>;
TYPED_TEST_SUITE(ProofBytes, Curves);

TYPED_TEST(ProofBytes, of_snarkjs_proof_survive_decoding_and_encoding) {
  const std::string bytes = this->snarkjs_proof();
  ASSERT_EQ(bytes.size(), proof_bytes(TypeParam::kId));
  const auto proof = decode_proof<TypeParam>(bytes_of(bytes));
  ASSERT_TRUE(proof) << proof.error().message();
  EXPECT_TRUE(in_subgroups(*proof));
  EXPECT_EQ(encode_proof(*proof), bytes);
}

TYPED_TEST(ProofBytes, of_another_length_are_refused) {
  const std::string bytes = this->snarkjs_proof();
  for (const std::string& wrong : {std::string(), bytes.substr(1), bytes + '\0'}) {
    const auto proof = decode_proof<TypeParam>(bytes_of(wrong));
    ASSERT_FALSE(proof);
    EXPECT_EQ(proof.error().error_class, ErrorClass::kBadRequest);
  }
}

TYPED_TEST(ProofBytes, with_a_coordinate_that_is_not_canonical_are_refused_and_the_point_is_named) {
  const char* const names[] = {"A", "A", "B", "B", "B", "B", "C", "C"};
  for (std::size_t i = 0; i < 8; ++i) {
    std::string bytes = this->snarkjs_proof();
    // The modulus itself is an alias of zero.
    bytes.replace(i * this->kCoordinate, this->kCoordinate, this->modulus_bytes());
    const auto proof = decode_proof<TypeParam>(bytes_of(bytes));
    ASSERT_FALSE(proof) << i;
    EXPECT_EQ(proof.error().where, std::string("proof, ") + names[i]);
    EXPECT_NE(proof.error().what.find("not below the modulus"), std::string::npos);
  }
}

TYPED_TEST(ProofBytes, with_a_point_off_its_curve_are_refused_and_the_point_is_named) {
  const char* const names[] = {"A", "A", "B", "B", "B", "B", "C", "C"};
  for (std::size_t i = 0; i < 8; ++i) {
    std::string bytes = this->snarkjs_proof();
    bytes[i * this->kCoordinate] ^= 1;
    const auto proof = decode_proof<TypeParam>(bytes_of(bytes));
    ASSERT_FALSE(proof) << i;
    EXPECT_EQ(proof.error().where, std::string("proof, ") + names[i]);
    EXPECT_NE(proof.error().what.find("not on the curve"), std::string::npos);
  }
}

TYPED_TEST(ProofBytes, of_infinity_are_zeros_both_ways) {
  const std::string zeros(proof_bytes(TypeParam::kId), '\0');
  const auto proof = decode_proof<TypeParam>(bytes_of(zeros));
  ASSERT_TRUE(proof);
  EXPECT_TRUE(proof->a.is_infinity() && proof->b.is_infinity() && proof->c.is_infinity());
  EXPECT_EQ(encode_proof(*proof), zeros);
}

// BLS12-381's G1 has a cofactor: (0, 2) is on y^2 = x^3 + 4 and has order 3.
TEST(ProofBytes, of_a_point_outside_the_subgroup_decode_but_are_told) {
  Proof<Bls12_381> proof{};
  proof.a = {Bls12_381::Fq::zero(), Bls12_381::Fq::from_u64(2)};
  const std::string bytes = encode_proof(proof);
  const auto decoded = decode_proof<Bls12_381>(bytes_of(bytes));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_FALSE(in_subgroups(*decoded));
}

}  // namespace
}  // namespace cuzk
