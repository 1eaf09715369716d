// The JSON files, against those that snarkjs wrote.
#include "common/formats/json.hpp"

#include <string>

#include <gmpxx.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/common/formats/test_files.hpp"

namespace cuzk::test {
namespace {

using nlohmann::json;

// A number's little-endian bytes by libgmp.
std::string little_endian(const std::string& decimal, std::size_t size) {
  std::string bytes(size, '\0');
  const mpz_class value(decimal, 10);
  mpz_export(bytes.data(), nullptr, -1, 1, -1, 0, value.get_mpz_t());
  return bytes;
}

// The affine coordinates of a point in snarkjs' JSON.
std::string point(const json& xyz, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < 2; ++i) {
    if (xyz[i].is_array()) {
      bytes += little_endian(xyz[i][0], size) + little_endian(xyz[i][1], size);
    } else {
      bytes += little_endian(xyz[i], size);
    }
  }
  return bytes;
}

class SnarkjsFiles : public testing::TestWithParam<CurveId> {
 protected:
  std::string file(const std::string& circuit, const std::string& name) const {
    return slurp(circuit_file(GetParam(), circuit, name));
  }
};

TEST_P(SnarkjsFiles, ProofsAreReadAndWrittenByteForByte) {
  const std::size_t size = coordinate_bytes(GetParam());
  for (const std::string& circuit : kSmallCircuits) {
    const std::string text = file(circuit, "proof.json");
    const auto bytes = proof_from_json(text, GetParam(), "proof.json");
    ASSERT_TRUE(bytes) << bytes.error().message();
    const json reference = json::parse(text);
    EXPECT_EQ(*bytes, point(reference["pi_a"], size) + point(reference["pi_b"], size) +
                          point(reference["pi_c"], size));
    EXPECT_EQ(bytes->size(), proof_bytes(GetParam()));
    EXPECT_EQ(proof_to_json(GetParam(), *bytes), text);
  }
}

TEST_P(SnarkjsFiles, PublicsAreReadAndWrittenByteForByte) {
  for (const std::string& circuit : kSmallCircuits) {
    const std::string text = file(circuit, "public.json");
    const auto bytes = publics_from_json(text, GetParam(), "public.json");
    ASSERT_TRUE(bytes) << bytes.error().message();
    std::string expected;
    for (const auto& value : json::parse(text)) expected += little_endian(value, 32);
    EXPECT_EQ(*bytes, expected);
    EXPECT_EQ(publics_to_json(*bytes), text);
  }
}

TEST_P(SnarkjsFiles, VerificationKeysAreReadAndWrittenByteForByte) {
  const std::size_t size = coordinate_bytes(GetParam());
  for (const std::string& circuit : kSmallCircuits) {
    const std::string text = file(circuit, "verification_key.json");
    const auto key = vkey_from_json(text, "verification_key.json");
    ASSERT_TRUE(key) << key.error().message();
    const json reference = json::parse(text);
    std::string expected = point(reference["vk_alpha_1"], size);
    for (const char* name : {"vk_beta_2", "vk_gamma_2", "vk_delta_2"}) {
      expected += point(reference[name], size);
    }
    for (const json& ic : reference["IC"]) expected += point(ic, size);
    EXPECT_EQ(key->bytes, expected);
    EXPECT_EQ(key->curve, GetParam());
    EXPECT_EQ(key->n_public, reference["nPublic"]);
    EXPECT_EQ(key->bytes.size(), verifying_key_bytes(GetParam(), key->n_public));

    std::string alphabeta;
    for (const json& half : reference["vk_alphabeta_12"]) {
      for (const json& pair : half) {
        for (const json& number : pair) alphabeta += little_endian(number, size);
      }
    }
    EXPECT_EQ(vkey_to_json(*key, alphabeta), text);
  }
}

TEST_P(SnarkjsFiles, InfinityIsWrittenAsSnarkjsDoes) {
  const std::string bytes(proof_bytes(GetParam()), '\0');
  const json proof = json::parse(proof_to_json(GetParam(), bytes));
  EXPECT_EQ(proof["pi_a"], json::parse(R"(["0","1","0"])"));
  EXPECT_EQ(proof["pi_b"], json::parse(R"([["0","0"],["1","0"],["0","0"]])"));
  const auto back = proof_from_json(proof.dump(), GetParam(), "proof.json");
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, bytes);
}

TEST_P(SnarkjsFiles, AProofWithoutACurveOrInOneLineIsFine) {
  const std::string text = file("mult2", "proof.json");
  json proof = json::parse(text);
  proof.erase("curve");
  proof["something else"] = {1, 2};
  EXPECT_EQ(*proof_from_json(proof.dump(), GetParam(), "p"),
            *proof_from_json(text, GetParam(), "p"));
}

// Each change makes a good file one that must be refused, and the error says where.
TEST_P(SnarkjsFiles, WhatIsNotCanonicalIsRefusedAndNamed) {
  const json good = json::parse(file("mult2", "proof.json"));
  const auto refusal = [&](const char* pointer, const json& value) {
    json broken = good;
    broken[json::json_pointer(pointer)] = value;
    const auto parsed = proof_from_json(broken.dump(), GetParam(), "p.json");
    if (!parsed) {
      EXPECT_EQ(parsed.error().error_class, ErrorClass::kBadRequest);
    }
    return parsed ? "accepted" : parsed.error().message();
  };
  EXPECT_EQ(refusal("/pi_a/0", "x"),
            "p.json, pi_a[0]: is not an integer (write it as a decimal string)");
  const std::string outside = std::string("is not in [0, q) of ") + name_of(GetParam());
  EXPECT_EQ(refusal("/pi_b/1/0", "-1"), "p.json, pi_b[1][0]: " + outside);
  EXPECT_EQ(refusal("/pi_c/1", std::string(200, '9')), "p.json, pi_c[1]: " + outside);
  EXPECT_EQ(refusal("/pi_a/2", "0").substr(0, 26), "p.json, pi_a[2]: z is not ");
  EXPECT_EQ(refusal("/pi_b/2/1", "1").substr(0, 26), "p.json, pi_b[2]: z is not ");
  EXPECT_EQ(refusal("/pi_a", {"0", "0", "1"}), "p.json, pi_a: (0, 0) is not a point of the curve");
  EXPECT_NE(refusal("/pi_a", {"1", "2"}).find("three coordinates"), std::string::npos);
  EXPECT_NE(refusal("/pi_b/0", "1").find("two numbers"), std::string::npos);
  EXPECT_NE(refusal("/pi_a/0", nullptr).find("not an integer"), std::string::npos);
  EXPECT_NE(refusal("/pi_a/0", true).find("not an integer"), std::string::npos);
  EXPECT_NE(refusal("/pi_a/0", 9007199254740993).find("loses digits"), std::string::npos);
  EXPECT_NE(refusal("/protocol", "plonk").find("not groth16"), std::string::npos);
  EXPECT_NE(refusal("/curve", "secp256k1").find("neither bn128 nor bls12381"), std::string::npos);
  EXPECT_NE(refusal("/curve", 5).find("neither bn128 nor bls12381"), std::string::npos);
}

TEST_P(SnarkjsFiles, AKeyWhoseCountDisagreesWithItsPointsIsRefused) {
  json key = json::parse(file("mult2", "verification_key.json"));
  key["nPublic"] = 2;
  const auto parsed = vkey_from_json(key.dump(), "v.json");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().where, "v.json, nPublic");
  key["nPublic"] = 1;
  EXPECT_TRUE(vkey_from_json(key.dump(), "v.json"));
  key["IC"] = json::array();
  EXPECT_FALSE(vkey_from_json(key.dump(), "v.json"));
  key.erase("IC");
  EXPECT_FALSE(vkey_from_json(key.dump(), "v.json"));
}

INSTANTIATE_TEST_SUITE_P(BothCurves, SnarkjsFiles, testing::ValuesIn(kCurves),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST(Json, BytesThatAreMissingAreWrittenAsZeros) {
  const std::string whole(proof_bytes(CurveId::kBn254), '\0');
  EXPECT_EQ(proof_to_json(CurveId::kBn254, ""), proof_to_json(CurveId::kBn254, whole));
  EXPECT_EQ(publics_to_json("abc"), "[\n]");
}

TEST(Json, CurvesGoByManyNames) {
  for (const char* name : {"bn128", "BN254", "alt_bn128", "ALTBN128", "bn-128"}) {
    EXPECT_EQ(curve_from_name(name), CurveId::kBn254) << name;
  }
  for (const char* name : {"bls12381", "bls12-381", "BLS12_381"}) {
    EXPECT_EQ(curve_from_name(name), CurveId::kBls12_381) << name;
  }
  for (const char* name : {"", "bn", "bls12377", "bn1280"}) {
    EXPECT_EQ(curve_from_name(name), std::nullopt) << name;
  }
}

TEST(Json, PublicsAcceptEveryClearSpellingOfANumber) {
  const auto publics = [](std::string_view text) {
    return publics_from_json(text, CurveId::kBn254, "public.json");
  };
  for (const char* text : {R"(["33"])", "[33]", R"(["0x21"])", R"([ "0033" ])"}) {
    const auto bytes = publics(text);
    ASSERT_TRUE(bytes) << text << bytes.error().message();
    EXPECT_EQ(*bytes, std::string("\x21") + std::string(31, '\0')) << text;
  }
  EXPECT_EQ(*publics("[]"), "");
  for (const char* text : {"null", "{}", R"("33")", "[[1]]", "[null]", "[true]", "[1.0]", "[1e2]",
                           "[9007199254740993]", R"(["1.5"])", R"(["0b1"])", "[1,]", "[1] x", ""}) {
    EXPECT_FALSE(publics(text)) << text;
  }
}

TEST(Json, DoubledKeysDeepNestingAndBadTextAreRefused) {
  const auto refusal = [](std::string_view text) {
    const auto parsed = proof_from_json(text, CurveId::kBn254, "p.json");
    return parsed ? "accepted" : parsed.error().message();
  };
  EXPECT_EQ(refusal(R"({"pi_a":1,"pi_a":2})"), "p.json: the key \"pi_a\" is given twice");
  EXPECT_EQ(refusal(std::string(65, '[')), "p.json: nests more than 64 arrays and objects");
  EXPECT_NE(refusal(std::string(1'000'000, '[')), "accepted");
  EXPECT_EQ(refusal(""), "p.json, line 1, column 1, offset 0x0: is empty, where JSON is expected");
  EXPECT_EQ(refusal("{\n \"a\": [1,\n  x]}"),
            "p.json, line 3, column 3, offset 0xe: is not valid JSON");
  EXPECT_EQ(refusal("{\"a\":"),
            "p.json, line 1, column 6, offset 0x5: ends in the middle of a JSON value");
  EXPECT_NE(refusal("{\"a\": 1e999}").find("too large for JSON"), std::string::npos);
  EXPECT_NE(refusal("{\"\xff\xfe\": 1}").find("not valid JSON"), std::string::npos);
  EXPECT_NE(refusal("[1,2]").find("not a JSON object"), std::string::npos);
}

}  // namespace
}  // namespace cuzk::test
