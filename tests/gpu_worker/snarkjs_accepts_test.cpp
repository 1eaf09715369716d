// snarkjs' own verifier on our proofs: the judgement of a program that is not ours.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/groth16_files.hpp"

namespace cuzk {
namespace {

using test::CircuitFiles;
namespace fs = std::filesystem;

int run(const std::string& command) {
  const int status = std::system((command + " >/dev/null 2>&1").c_str());
  return status == -1 ? -1 : WEXITSTATUS(status);
}

class Snarkjs : public testing::TestWithParam<CircuitFiles> {
 protected:
  void SetUp() override {
    if (!fs::exists(CUZK_SNARKJS)) GTEST_SKIP() << "snarkjs is not installed at " << CUZK_SNARKJS;
    if (run("node --version") != 0) GTEST_SKIP() << "node is not installed";
  }
  // Whether snarkjs says OK to a proof file.
  bool accepts(const fs::path& publics, const fs::path& proof) {
    return run("node '" CUZK_SNARKJS "' groth16 verify '" +
               GetParam().path("verification_key.json").string() + "' '" + publics.string() +
               "' '" + proof.string() + "'") == 0;
  }
};
INSTANTIATE_TEST_SUITE_P(AllCircuits, Snarkjs, testing::ValuesIn(test::all_circuit_files()),
                         [](const auto& tested) { return tested.param.label(); });

TEST_P(Snarkjs, accepts_our_proof_and_no_other) {
  test::TemporaryFolder folder;
  const CircuitFiles& files = GetParam();
  const fs::path proof = folder.path() / "proof.json";
  const fs::path publics = folder.path() / "public.json";
  ASSERT_EQ(run("'" CUZK_PROVE_FILE "' '" + files.path(files.name + ".zkey").string() + "' '" +
                files.path(files.name + ".wtns").string() + "' '" + proof.string() + "' '" +
                publics.string() + "' --threads 1 --cache '" + folder.path().string() + "'"),
            0);
  EXPECT_EQ(test::read_whole(publics), files.text("public.json"));
  EXPECT_TRUE(accepts(publics, proof));
  // The proof of another circuit on the same curve must fail: the check above can.
  const CircuitFiles other{files.curve, files.name == "mult2" ? "edge_add2" : "mult2"};
  EXPECT_FALSE(accepts(publics, other.path("proof.json")));
}

}  // namespace
}  // namespace cuzk
