// Whole proofs on the CPU engine: every circuit, known answers, and keys that only a proof can unmask.
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/field/text.hpp"
#include "common/formats/json.hpp"
#include "tests/gpu_worker/proving.hpp"

namespace cuzk {
namespace {

using test::bytes_of;
namespace fs = std::filesystem;
using test::CircuitFiles;
using test::PreparedCircuit;

class Prove : public testing::TestWithParam<CircuitFiles> {};
INSTANTIATE_TEST_SUITE_P(AllCircuits, Prove, testing::ValuesIn(test::all_circuit_files()),
                         [](const auto& tested) { return tested.param.label(); });

TEST_P(Prove, makes_proofs_that_verify_and_that_differ_each_time) {
  const PreparedCircuit circuit(GetParam());
  CpuEngine engine(2);
  const auto first = test::prove(engine, circuit);
  const auto second = test::prove(engine, circuit);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(circuit.accepts(*first));
  EXPECT_TRUE(circuit.accepts(*second));
  // All three points depend on r or s.
  const std::size_t n = coordinate_bytes(GetParam().curve_id());
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NE(first->substr(i * n, n), second->substr(i * n, n)) << "coordinate " << i;
  }
}

TEST_P(Prove, makes_proofs_that_verify_with_the_key_that_snarkjs_exported) {
  const PreparedCircuit circuit(GetParam());
  CpuEngine engine(1);
  const auto proof = test::prove(engine, circuit);
  ASSERT_TRUE(proof);
  const auto key = vkey_from_json(GetParam().text("verification_key.json"), "vkey");
  const auto publics = publics_from_json(GetParam().text("public.json"), GetParam().curve_id(), "p");
  ASSERT_TRUE(key && publics);
  const auto verdict = verify_bytes(*key, bytes_of(*proof), bytes_of(*publics));
  ASSERT_TRUE(verdict) << verdict.error().message();
  EXPECT_TRUE(verdict->valid) << verdict->reason;
}

// The quotient, the sums and the assembly are exact: neither threads nor their order show in a proof.
TEST_P(Prove, gives_the_same_bytes_for_the_same_blinding_and_any_number_of_threads) {
  const PreparedCircuit circuit(GetParam());
  const Blinding blinding({{123456789, 5, 7, 11}}, {{987654321, 13, 17, 19}});
  std::string expected;
  for (const unsigned threads : {1u, 2u, 3u}) {
    CpuEngine engine(threads);
    const auto proof = test::prove(engine, circuit, blinding);
    ASSERT_TRUE(proof);
    if (expected.empty()) expected = *proof;
    EXPECT_EQ(*proof, expected) << threads << " threads";
  }
}

TEST_P(Prove, of_a_changed_witness_does_not_verify) {
  PreparedCircuit circuit(GetParam());
  const std::string publics(reinterpret_cast<const char*>(circuit.publics().data()),
                            circuit.publics().size());
  circuit.witness()[circuit.witness().size() - 4] ^= 1;
  CpuEngine engine(1);
  const auto proof = test::prove(engine, circuit);
  ASSERT_TRUE(proof);
  const auto verdict = verify_bytes(circuit.verifying_key(), bytes_of(*proof), bytes_of(publics));
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->valid);
}

// Proofs with given r and s from known_proofs.mjs, which shares no code and no method with this program.
TEST(KnownProofs, of_an_independent_program_are_reproduced_exactly) {
  const auto answers = nlohmann::json::parse(
      test::read_whole(fs::path(CUZK_TEST_DATA) / "groth16/known_proofs.json"));
  ASSERT_GE(answers.size(), 40u);
  std::map<std::string, PreparedCircuit> circuits;
  CpuEngine engine(2);
  const auto scalar = [](CurveId curve, const std::string& decimal) {
    return curve == CurveId::kBn254 ? from_decimal<Bn254::Fr>(decimal)->to_integer()
                                    : from_decimal<Bls12_381::Fr>(decimal)->to_integer();
  };
  for (const auto& answer : answers) {
    const CircuitFiles files{answer["curve"], answer["circuit"]};
    const auto position = circuits.try_emplace(files.label(), files).first;
    const CurveId curve = files.curve_id();
    const Blinding blinding(scalar(curve, answer["r"]), scalar(curve, answer["s"]));
    const auto proof = test::prove(engine, position->second, blinding);
    ASSERT_TRUE(proof);
    const auto json = nlohmann::json::parse(proof_to_json(curve, *proof));
    const nlohmann::json coordinates = {
        json["pi_a"][0],    json["pi_a"][1],    json["pi_b"][0][0], json["pi_b"][0][1],
        json["pi_b"][1][0], json["pi_b"][1][1], json["pi_c"][0],    json["pi_c"][1]};
    EXPECT_EQ(coordinates, answer["proof"]) << files.label() << ", r = " << answer["r"];
  }
}

class ProveMalformed : public testing::TestWithParam<const char*> {
 protected:
  // Proves mult2 with a broken key; the verdict of its verifying key, which is intact.
  bool accepts(const std::string& file) {
    const PreparedCircuit circuit(test::malformed(GetParam(), file),
                                  CircuitFiles{GetParam(), "mult2"}.wtns());
    CpuEngine engine(2);
    const auto proof = test::prove(engine, circuit);
    EXPECT_TRUE(proof) << proof.error().message();
    return proof && circuit.accepts(*proof);
  }
};
INSTANTIATE_TEST_SUITE_P(BothCurves, ProveMalformed, testing::Values("bn128", "bls12381"));

TEST_P(ProveMalformed, keys_whose_fault_no_parser_can_see_make_proofs_that_fail) {
  for (const char* file : {"z26c_coef_value_wrong.zkey", "z30_A_swapped_points.zkey",
                           "z35_H_rotated.zkey"}) {
    EXPECT_FALSE(accepts(file)) << file;
  }
}

TEST_P(ProveMalformed, keys_that_are_only_unusual_make_proofs_that_verify) {
  for (const char* file : {"z10_missing_section_10.zkey", "z11_unknown_section_99.zkey",
                           "z40_coefs_reversed_order.zkey"}) {
    EXPECT_TRUE(accepts(file)) << file;
  }
}

}  // namespace
}  // namespace cuzk
