// Every broken file gets what the manifest says, as far as parsing decides it.
#include "tests/support/manifest.hpp"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "common/formats/input_json.hpp"
#include "common/formats/json.hpp"
#include "common/formats/r1cs.hpp"
#include "common/formats/wtns.hpp"
#include "common/formats/zkey.hpp"
#include "tests/common/formats/test_files.hpp"

namespace cuzk::test {
namespace {

// Everything that this layer checks about a file.
Status check_file(const ManifestRow& row) {
  const std::string content = slurp(row.path());
  const std::span<const std::byte> bytes = bytes_of(content);
  if (row.kind == "zkey") {
    CUZK_CHECK(Zkey::parse(bytes, row.file));
  } else if (row.kind == "wtns") {
    const std::string key_file = slurp(row.good("zkey"));
    CUZK_TRY(key, Zkey::parse(bytes_of(key_file), "mult2.zkey"));
    CUZK_TRY(wtns, parse_wtns(bytes, row.file));
    CUZK_CHECK(check_wtns_fits(wtns, key.header().curve, key.header().n_variables, row.file));
    CUZK_CHECK(check_witness(wtns.values, wtns.curve, row.file, wtns.values_offset));
  } else if (row.kind == "r1cs") {
    CUZK_CHECK(R1cs::parse(bytes, row.file));
  } else if (row.kind == "proof") {
    CUZK_CHECK(proof_from_json(content, row.curve, row.file));
  } else if (row.kind == "public") {
    CUZK_CHECK(publics_from_json(content, row.curve, row.file));
  } else if (row.kind == "input") {
    CUZK_CHECK(parse_input(content, row.curve, row.file));
  } else {
    return bug("the manifest has a new kind: " + row.kind);
  }
  return {};
}

// What a refusal's message must contain, by the id of the row: where, and why.
const std::map<std::string, std::vector<std::string>> kReasons = {
    {"z01", {"0 bytes are too few"}},
    {"z02b", {"offset 0x0", "wtns", "not a zkey"}},
    {"z04", {"claims 4294967295 sections"}},
    {"z05", {"too few"}},
    {"z06", {"section", "offset", "left in the file"}},
    {"z07", {"section", "offset", "18446744073709551615 bytes long"}},
    {"z07b", {"section", "offset", "left in the file"}},
    {"z07c", {"section", "offset", "9223372036854775808 bytes long"}},
    {"z08", {"section 10 (contributions)", "left in the file"}},
    {"z10", {"section", "missing"}},
    {"z14b", {"section 1 (protocol)", "protocol 0"}},
    {"z16", {"section 2 (header)", "n8r", "offset"}},
    {"z17", {"section 2 (header)", "q", "neither bn128's nor bls12381's"}},
    {"z18b", {"section 2 (header)", " r, ", "offset", "is not"}},
    {"z18c", {"section 2 (header)", "q", "offset", "neither bn128's nor bls12381's"}},
    {"z19", {"section"}},
    {"z20", {"section"}},
    {"z21", {"section"}},
    {"z22", {"section 4 (coefficients)", "entries"}},
    {"z24", {"section 4 (coefficients)", "entry", "offset", "constraint", "domain's size"}},
    {"z25b", {"section 4 (coefficients)", "entry", "offset", "signal 4294967295"}},
    {"z26", {"section 4 (coefficients)", "entry", "offset", "not below"}},
    {"z26b", {"section 4 (coefficients)", "entry", "offset", "not below"}},
    {"z37", {"section 8 (C)", "0 bytes long", "nVars - nPublic - 1"}},
    {"z38", {"section 4 (coefficients)"}},
    {"z39", {"section 2 (header)", "after 0 bytes"}},
    {"w01", {"0 bytes are too few"}},
    {"w04", {"claims 4294967295 sections"}},
    {"w05", {"section 1 (header)", "left in the file"}},
    {"w06", {"section 2 (values)", "left in the file"}},
    {"w06b", {"section 2 (values)", "left in the file"}},
    {"w07", {"section 1 (header)", "n8", "offset"}},
    {"w08b", {"section 1 (header)", "prime", "offset"}},
    {"w09", {"section 2 (values)", "the header names"}},
    {"w10", {"section 2 (values)", "the header names"}},
    {"w10b", {"section 2 (values)", "0 bytes long"}},
    {"w10c", {"section 2 (values)", "the header names"}},
    {"w11", {"section 2 (values)", "18446744073709551615 bytes long"}},
    {"w13", {"witness value", "offset", "not below"}},
    {"w13b", {"witness value 1", "offset", "not below"}},
    {"w14c", {"witness value 0", "constant 1"}},
    {"w15b", {"section 1 (header)", "missing"}},
    {"w22", {"the key is for"}},
    {"r01", {"not a r1cs file"}},
    {"r02", {"section", "left in the file"}},
    {"r03b", {"section 2 (constraints)", "left after the last of 0 constraints"}},
    {"r04", {"constraint", "linear combination", "offset", "names wire"}},
    {"r05", {"constraint 0, linear combination A", "4294967295 terms"}},
    {"r06", {"section 1 (header)", "n8"}},
    {"r06b", {"section 1 (header)", "n8"}},
    {"r08", {"section 1 (header)", "public outputs"}},
    {"r10", {"constraint", "linear combination", "offset", "not below"}},
    {"p02", {"pi_a[0]", "[0, q)"}},
    {"p05", {"\"pi_c\" is missing"}},
    {"p07", {"pi_a[2]", "z is not 1"}},
    {"p08", {"line 1", "ends in the middle"}},
    {"p09", {"the proof is over", "the key is over"}},
    {"i07", {"signal \"a\", value 0", "fraction"}},
    {"i08", {"signal \"a\", value 0", "null"}},
    {"i09", {"line 1, column 2", "not valid JSON"}},
    {"i11", {"signal \"a\", value 0", "loses digits"}},
};

class EveryManifestRow : public testing::TestWithParam<ManifestRow> {};

TEST_P(EveryManifestRow, IsParsedOrRefusedAsTheManifestSays) {
  const ManifestRow& row = GetParam();
  const Status status = check_file(row);
  if (row.layer != Layer::kParse || row.outcome != Outcome::kReject) {
    EXPECT_TRUE(status) << row.expectation << "\n" << status.error().message();
    return;
  }
  ASSERT_FALSE(status) << row.expectation;
  const Error& error = status.error();
  const std::string message = error.message();
  EXPECT_EQ(error.error_class, ErrorClass::kBadRequest);
  EXPECT_NE(error.where.find(row.file), std::string::npos) << message;
  const auto reasons = kReasons.find(row.id);
  ASSERT_NE(reasons, kReasons.end()) << "no reason is written down for " << row.id;
  for (const std::string& reason : reasons->second) {
    EXPECT_NE(message.find(reason), std::string::npos) << reason << " is not in: " << message;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryManifestRow, testing::ValuesIn(read_manifest()),
                         [](const auto& test) { return test_name(test.param); });

TEST(Manifest, HasAllFilesOfTheFolderAndALayerForEach) {
  const std::vector<ManifestRow> rows = read_manifest();
  EXPECT_EQ(rows.size(), 219u);
  std::set<std::string> files;
  for (const ManifestRow& row : rows) files.insert(row.file);
  EXPECT_EQ(files.size(), rows.size());

  std::size_t decided = 0;
  for (const Layer layer :
       {Layer::kParse, Layer::kKeyPoints, Layer::kProof, Layer::kVerify, Layer::kCircuit}) {
    EXPECT_FALSE(manifest_rows(layer).empty());
    decided += manifest_rows(layer).size();
  }
  EXPECT_EQ(decided, rows.size());
}

TEST(Manifest, PublicsOutsideTheFieldBecomeWhatNoVerifierAccepts) {
  for (const ManifestRow& row : manifest_rows(Layer::kVerify)) {
    if (row.id != "u01" && row.id != "u02") continue;
    const auto publics = publics_from_json(slurp(row.path()), row.curve, row.file);
    ASSERT_TRUE(publics) << publics.error().message();
    EXPECT_EQ(*publics, std::string(32, '\xff')) << row.file;
  }
}

}  // namespace
}  // namespace cuzk::test
