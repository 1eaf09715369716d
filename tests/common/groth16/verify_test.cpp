// Verification against snarkjs' proofs: all of them are valid, and nothing that was tampered with is.
#include "common/groth16/verify.hpp"

#include <chrono>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "common/formats/json.hpp"
#include "tests/support/groth16_files.hpp"

namespace cuzk {
namespace {

using test::bytes_of;
using test::CircuitFiles;

struct Statement {
  VerifyingKeyBytes key;
  std::string proof;
  std::string publics;
};

Statement statement_of(const CircuitFiles& files) {
  auto key = vkey_from_json(files.text("verification_key.json"), "verification_key.json");
  auto proof = proof_from_json(files.text("proof.json"), files.curve_id(), "proof.json");
  auto publics = publics_from_json(files.text("public.json"), files.curve_id(), "public.json");
  EXPECT_TRUE(key && proof && publics) << files.label();
  return {*key, *proof, *publics};
}

bool is_valid(const Statement& statement) {
  const auto verdict =
      verify_bytes(statement.key, bytes_of(statement.proof), bytes_of(statement.publics));
  EXPECT_TRUE(verdict) << verdict.error().message();
  return verdict && verdict->valid;
}

class Verify : public testing::TestWithParam<CircuitFiles> {
 protected:
  Statement statement = statement_of(GetParam());
  std::size_t coordinate = coordinate_bytes(GetParam().curve_id());
};
INSTANTIATE_TEST_SUITE_P(AllCircuits, Verify, testing::ValuesIn(test::all_circuit_files()),
                         [](const auto& tested) { return tested.param.label(); });

TEST_P(Verify, accepts_snarkjs_proof) { EXPECT_TRUE(is_valid(statement)); }

TEST_P(Verify, rejects_every_changed_public_value) {
  for (std::size_t i = 0; i < statement.publics.size(); i += kScalarBytes) {
    Statement changed = statement;
    changed.publics[i] ^= 1;
    EXPECT_FALSE(is_valid(changed)) << "public value " << i / kScalarBytes;
    if (i >= 8 * kScalarBytes) break;  // edge_manypub has 501 alike
  }
}

TEST_P(Verify, rejects_another_point_of_the_curve_in_each_place) {
  Statement changed = statement;
  const std::size_t g1 = 2 * coordinate;
  // A and C exchanged, then each of them replaced by alpha1, B by beta2.
  changed.proof = statement.proof.substr(3 * g1) + statement.proof.substr(g1, 2 * g1) +
                  statement.proof.substr(0, g1);
  EXPECT_FALSE(is_valid(changed));
  changed.proof = statement.proof;
  changed.proof.replace(0, g1, statement.key.bytes, 0, g1);
  EXPECT_FALSE(is_valid(changed));
  changed.proof = statement.proof;
  changed.proof.replace(3 * g1, g1, statement.key.bytes, 0, g1);
  EXPECT_FALSE(is_valid(changed));
  changed.proof = statement.proof;
  changed.proof.replace(g1, 2 * g1, statement.key.bytes, g1, 2 * g1);
  EXPECT_FALSE(is_valid(changed));
}

TEST_P(Verify, rejects_infinity_in_each_place) {
  const std::size_t g1 = 2 * coordinate;
  for (const auto& [at, size] : {std::pair{std::size_t{0}, g1}, {g1, 2 * g1}, {3 * g1, g1}}) {
    Statement changed = statement;
    changed.proof.replace(at, size, size, '\0');
    EXPECT_FALSE(is_valid(changed)) << "offset " << at;
  }
}

TEST_P(Verify, says_bad_request_when_the_number_of_public_values_is_wrong) {
  for (const std::string& publics :
       {statement.publics + std::string(kScalarBytes, '\0'), statement.publics + "x"}) {
    const auto verdict = verify_bytes(statement.key, bytes_of(statement.proof), bytes_of(publics));
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.error().error_class, ErrorClass::kBadRequest);
  }
}

TEST_P(Verify, is_fast_enough_to_check_every_proof) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(is_valid(statement));
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  RecordProperty("milliseconds", std::to_string(elapsed.count()));
}

class VerifyMalformed : public testing::TestWithParam<const char*> {
 protected:
  CircuitFiles files{GetParam(), "mult2"};
  Statement statement = statement_of(files);

  // The verdict on a proof file, or false when it is refused.
  bool accepts_proof(const std::string& file) {
    const auto proof = proof_from_json(test::malformed(GetParam(), file), files.curve_id(), file);
    if (!proof) return false;
    statement.proof = *proof;
    return is_valid(statement);
  }
  bool accepts_publics(const std::string& file) {
    const auto publics =
        publics_from_json(test::malformed(GetParam(), file), files.curve_id(), file);
    if (!publics) return false;
    const auto verdict =
        verify_bytes(statement.key, bytes_of(statement.proof), bytes_of(*publics));
    return verdict && verdict->valid;
  }
};
INSTANTIATE_TEST_SUITE_P(BothCurves, VerifyMalformed, testing::Values("bn128", "bls12381"));

TEST_P(VerifyMalformed, proofs_are_rejected) {
  for (const char* file :
       {"p01_not_on_curve.proof.json", "p02_coord_ge_q.proof.json", "p04_A_infinity.proof.json",
        "p05_missing_pi_c.proof.json", "p07_z_not_1.proof.json", "p08_truncated_json.proof.json",
        "p09_curve_other.proof.json"}) {
    EXPECT_FALSE(accepts_proof(file)) << file;
  }
}

TEST_P(VerifyMalformed, proof_off_the_curve_is_an_invalid_proof_and_the_reason_names_the_point) {
  const auto proof = proof_from_json(test::malformed(GetParam(), "p01_not_on_curve.proof.json"),
                                     files.curve_id(), "p01");
  ASSERT_TRUE(proof) << proof.error().message();
  const auto verdict =
      verify_bytes(statement.key, bytes_of(*proof), bytes_of(statement.publics));
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->valid);
  EXPECT_EQ(verdict->reason, "proof, A: the point is not on the curve");
}

TEST_P(VerifyMalformed, negated_A_and_B_verify_because_groth16_is_malleable) {
  EXPECT_TRUE(accepts_proof("p06_negated_A_C.proof.json"));
}

TEST_P(VerifyMalformed, public_values_are_rejected) {
  for (const char* file : {"u01_alias_plus_r.public.json", "u02_negative.public.json",
                           "u03_empty.public.json", "u04_extra.public.json"}) {
    EXPECT_FALSE(accepts_publics(file)) << file;
  }
}

// A value v and v + r are the same element of the field, and only one of them is the statement.
TEST_P(VerifyMalformed, alias_of_a_public_value_is_an_invalid_statement) {
  ASSERT_TRUE(is_valid(statement));
  std::uint64_t value[4];
  std::memcpy(value, statement.publics.data(), sizeof value);
  const auto& r = files.curve_id() == CurveId::kBn254 ? Bn254::Fr::Params::kModulus
                                                      : Bls12_381::Fr::Params::kModulus;
  unsigned __int128 carry = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    carry += value[i];
    carry += r[i];
    value[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
  std::memcpy(statement.publics.data(), value, sizeof value);
  EXPECT_FALSE(is_valid(statement));
}

// On BLS12-381 a point of order 3 added to A keeps the pairing equation: only the subgroup check sees it.
TEST(Verify, rejects_a_point_outside_the_subgroup) {
  const CircuitFiles files{"bls12381", "mult2"};
  Statement statement = statement_of(files);
  ASSERT_TRUE(is_valid(statement));
  auto proof = decode_proof<Bls12_381>(bytes_of(statement.proof));
  ASSERT_TRUE(proof);
  const Affine<G1Of<Bls12_381>> order_3 = {Bls12_381::Fq::zero(), Bls12_381::Fq::from_u64(2)};
  proof->a = to_affine(add_mixed(Jacobian<G1Of<Bls12_381>>::from(proof->a), order_3));
  statement.proof = encode_proof(*proof);
  const auto verdict =
      verify_bytes(statement.key, bytes_of(statement.proof), bytes_of(statement.publics));
  ASSERT_TRUE(verdict) << verdict.error().message();
  EXPECT_FALSE(verdict->valid);
  EXPECT_NE(verdict->reason.find("subgroup"), std::string::npos);
}

}  // namespace
}  // namespace cuzk
