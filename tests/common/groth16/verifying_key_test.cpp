// Verifying keys: what is imported from a zkey equals what snarkjs exported, and forgeable keys are refused.
#include "common/groth16/verifying_key.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/formats/json.hpp"
#include "common/formats/zkey.hpp"
#include "tests/support/groth16_files.hpp"

namespace cuzk {
namespace {

using test::bytes_of;
using test::CircuitFiles;

VerifyingKeyBytes snarkjs_key(const CircuitFiles& files) {
  auto key = vkey_from_json(files.text("verification_key.json"), "verification_key.json");
  EXPECT_TRUE(key) << key.error().message();
  return *key;
}

Result<VerifyingKeyBytes> import(const Zkey& zkey) {
  const ZkeyHeader& header = zkey.header();
  return import_verifying_key(
      header.curve, {header.alpha1, header.beta2, header.gamma2, header.delta2, zkey.ic()}, "key");
}

Status decode(const VerifyingKeyBytes& key) {
  if (key.curve == CurveId::kBn254) {
    CUZK_CHECK(decode_verifying_key<Bn254>(key));
  } else {
    CUZK_CHECK(decode_verifying_key<Bls12_381>(key));
  }
  return {};
}

class VerifyingKeys : public testing::TestWithParam<CircuitFiles> {};
INSTANTIATE_TEST_SUITE_P(AllCircuits, VerifyingKeys, testing::ValuesIn(test::all_circuit_files()),
                         [](const auto& tested) { return tested.param.label(); });

TEST_P(VerifyingKeys, imported_from_a_zkey_equal_the_ones_that_snarkjs_exported) {
  const std::string file = GetParam().zkey();
  const auto zkey = Zkey::parse(bytes_of(file), "key");
  ASSERT_TRUE(zkey) << zkey.error().message();
  const auto key = import(*zkey);
  ASSERT_TRUE(key) << key.error().message();
  EXPECT_EQ(*key, snarkjs_key(GetParam()));
}

TEST_P(VerifyingKeys, give_the_pairing_that_snarkjs_exports) {
  const auto json = nlohmann::json::parse(GetParam().text("verification_key.json"));
  const VerifyingKeyBytes key = snarkjs_key(GetParam());
  const auto alphabeta = alphabeta_bytes(key);
  ASSERT_TRUE(alphabeta) << alphabeta.error().message();
  const auto written = nlohmann::json::parse(vkey_to_json(key, *alphabeta));
  EXPECT_EQ(written["vk_alphabeta_12"], json["vk_alphabeta_12"]);
  EXPECT_EQ(written["IC"], json["IC"]);
}

class VerifyingKeyFaults : public testing::TestWithParam<const char*> {
 protected:
  VerifyingKeyBytes key = snarkjs_key({GetParam(), "mult2"});
  std::size_t g1 = g1_bytes(key.curve);
  std::size_t g2 = g2_bytes(key.curve);
};
INSTANTIATE_TEST_SUITE_P(BothCurves, VerifyingKeyFaults, testing::Values("bn128", "bls12381"));

TEST_P(VerifyingKeyFaults, single_points_at_infinity_are_refused_by_name) {
  const std::pair<const char*, std::size_t> points[] = {
      {"alpha1", 0}, {"beta2", g1}, {"gamma2", g1 + g2}, {"delta2", g1 + 2 * g2}};
  for (const auto& [name, at] : points) {
    VerifyingKeyBytes changed = key;
    const std::size_t size = at == 0 ? g1 : g2;
    changed.bytes.replace(at, size, size, '\0');
    const Status decoded = decode(changed);
    ASSERT_FALSE(decoded) << name;
    EXPECT_EQ(decoded.error().where, std::string("verifying key, ") + name);
  }
}

TEST_P(VerifyingKeyFaults, ic_at_infinity_is_accepted_because_a_public_signal_may_be_unused) {
  key.bytes.replace(key.bytes.size() - g1, g1, g1, '\0');
  EXPECT_TRUE(decode(key));
}

TEST_P(VerifyingKeyFaults, point_off_the_curve_is_refused_by_name) {
  key.bytes[key.bytes.size() - g1] ^= 1;
  const Status decoded = decode(key);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().where, "verifying key, IC point 1");
}

TEST_P(VerifyingKeyFaults, lengths_and_counts_must_agree) {
  for (const auto& [n_public, size] :
       {std::pair{key.n_public + 1, key.bytes.size()}, {key.n_public, key.bytes.size() - 1},
        {key.n_public, std::size_t{0}}, {SIZE_MAX, key.bytes.size()}}) {
    VerifyingKeyBytes changed = key;
    changed.n_public = n_public;
    changed.bytes.resize(size);
    EXPECT_FALSE(decode(changed)) << n_public << ", " << size;
  }
  VerifyingKeyBytes other = key;
  other.curve = key.curve == CurveId::kBn254 ? CurveId::kBls12_381 : CurveId::kBn254;
  EXPECT_FALSE(decode(other));
}

TEST_P(VerifyingKeyFaults, imported_coordinates_must_be_canonical) {
  const CircuitFiles files{GetParam(), "mult2"};
  std::string file = files.zkey();
  const auto zkey = Zkey::parse(bytes_of(file), "key");
  ASSERT_TRUE(zkey);
  const std::span<const std::byte> ic = zkey->ic();
  const auto at = static_cast<std::size_t>(ic.data() - bytes_of(file).data());
  file.replace(at, g1 / 2, g1 / 2, '\xff');
  const auto imported = import(*zkey);
  ASSERT_FALSE(imported);
  EXPECT_NE(imported.error().message().find("key"), std::string::npos);
}

}  // namespace
}  // namespace cuzk
