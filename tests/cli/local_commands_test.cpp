// verify and vkey export: what needs no daemon, against snarkjs' files and the broken ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/ctl.hpp"
#include "tests/support/manifest.hpp"

namespace cuzk::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

struct Circuit {
  std::string name;
  fs::path folder;
  std::string file(const std::string& name_in_folder) const {
    return (folder / name_in_folder).string();
  }
};

// Every circuit of tests/data, and those of the larger collection where it is.
std::vector<Circuit> circuits() {
  std::vector<Circuit> all;
  for (const fs::path& data :
       {fs::path(CUZK_TEST_DATA) / "circom", fs::path(CUZK_SHARED_DIR) / "data/circom"}) {
    for (const char* curve : {"bn128", "bls12381"}) {
      if (!fs::exists(data / curve)) continue;
      for (const auto& entry : fs::directory_iterator(data / curve)) {
        const std::string name = entry.path().filename().string();
        if (fs::exists(entry.path() / (name + ".zkey"))) all.push_back({name, entry.path()});
      }
    }
  }
  return all;
}

TEST(VkeyExport, EqualsSnarkjsByteForByteForEveryCircuit) {
  const auto all = circuits();
  ASSERT_GE(all.size(), 8u);
  for (const Circuit& circuit : all) {
    SCOPED_TRACE(circuit.folder);
    const Outcome outcome = ctl({"vkey", "export", "--zkey", circuit.file(circuit.name + ".zkey")});
    EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
    const std::string expected = read_text(circuit.file("verification_key.json"));
    ASSERT_FALSE(expected.empty());
    EXPECT_TRUE(outcome.out == expected) << outcome.out.substr(0, 300);
  }
}

TEST(VkeyExport, RefusesBrokenKeysAsBadRequests) {
  EXPECT_EQ(ctl({"vkey", "export", "--zkey", "/nonexistent.zkey"}).exit_code, kUsage);
  std::size_t refused = 0;
  for (const auto& row : test::read_manifest()) {
    // Points that only the conversion of the whole key looks at do not matter here.
    if (row.kind != "zkey" || row.outcome != test::Outcome::kReject ||
        row.layer != test::Layer::kParse)
      continue;
    const Outcome outcome = ctl({"vkey", "export", "--zkey", row.path()});
    EXPECT_EQ(outcome.exit_code, kUsage) << row.file;
    EXPECT_THAT(outcome.err, HasSubstr(row.path()));
    EXPECT_THAT(outcome.out, IsEmpty());
    ++refused;
  }
  EXPECT_GT(refused, 20u);
}

TEST(Verify, AcceptsEveryProofOfSnarkjs) {
  for (const Circuit& circuit : circuits()) {
    SCOPED_TRACE(circuit.folder);
    const Outcome outcome =
        ctl({"verify", "--vkey", circuit.file("verification_key.json"), "--public",
             circuit.file("public.json"), "--proof", circuit.file("proof.json")});
    EXPECT_EQ(outcome.exit_code, kDone) << outcome.err;
    EXPECT_THAT(outcome.out, StartsWith("valid: "));
  }
}

TEST(Verify, JsonSaysTheVerdictAndWhy) {
  const std::string folder = std::string(CUZK_TEST_DATA) + "/circom/bn128/";
  const auto verify = [&](const std::string& public_from) {
    return ctl({"verify", "--vkey", folder + "mult2/verification_key.json", "--public", public_from,
                "--proof", folder + "mult2/proof.json", "--json"});
  };
  const Outcome valid = verify(folder + "mult2/public.json");
  EXPECT_EQ(valid.json()["valid"], true);
  EXPECT_EQ(valid.json()["reason"], nullptr);
  EXPECT_EQ(valid.json()["curve"], "bn128");

  auto publics = nlohmann::json::parse(read_text(folder + "mult2/public.json"));
  publics[0] = "12345";
  Folder scratch;
  const Outcome invalid = verify(scratch.write("public.json", publics.dump()));
  EXPECT_EQ(invalid.exit_code, kFailed);
  EXPECT_EQ(invalid.json()["valid"], false);
  EXPECT_TRUE(invalid.json()["reason"].is_string());
}

TEST(Verify, FollowsTheManifestForEveryProofAndEveryPublicFile) {
  std::size_t seen = 0;
  for (const auto& row : test::read_manifest()) {
    if (row.kind != "proof" && row.kind != "public") continue;
    ++seen;
    SCOPED_TRACE(row.file + ": " + row.expectation);
    const Outcome outcome =
        ctl({"verify", "--vkey", row.beside("verification_key.json"), "--public",
             row.kind == "public" ? row.path() : row.beside("public.json"), "--proof",
             row.kind == "proof" ? row.path() : row.beside("proof.json")});
    switch (row.outcome) {
      case test::Outcome::kReject:
        EXPECT_EQ(outcome.exit_code, kUsage);
        EXPECT_THAT(outcome.err, HasSubstr(row.path()));
        EXPECT_THAT(outcome.out, IsEmpty());
        break;
      case test::Outcome::kVerifyFalse:
        EXPECT_TRUE(outcome.exit_code == kFailed || outcome.exit_code == kUsage)
            << outcome.exit_code;
        if (outcome.exit_code == kFailed) {
          EXPECT_THAT(outcome.out, StartsWith("INVALID: "));
        }
        // Where the manifest leaves no choice between false and a refusal.
        if (row.expectation.find("or reject") == std::string::npos) {
          EXPECT_EQ(outcome.exit_code, kFailed);
        }
        break;
      case test::Outcome::kVerifyTrue:
      case test::Outcome::kAccept:
        EXPECT_EQ(outcome.exit_code, kDone) << outcome.err << outcome.out;
        break;
      case test::Outcome::kProofFails: ADD_FAILURE() << "not for a foreign proof"; break;
    }
    EXPECT_EQ(outcome.err.find("report this"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(seen, 28u);
}

TEST(Verify, AMissingFileOrOptionIsExitCode2) {
  EXPECT_EQ(ctl({"verify", "--vkey", "/nonexistent", "--public", "/nonexistent", "--proof",
                 "/nonexistent"})
                .exit_code,
            kUsage);
  EXPECT_EQ(ctl({"verify", "--vkey", "/nonexistent"}).exit_code, kUsage);
}

}  // namespace
}  // namespace cuzk::cli
