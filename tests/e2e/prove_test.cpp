// Real proofs through all the processes, judged by our verifier and by snarkjs.
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "tests/e2e/circuits.hpp"
#include "tests/e2e/daemon.hpp"

namespace cuzk::e2e {
namespace {

namespace fs = std::filesystem;

// node_modules with snarkjs, or empty: scripts/test puts them into build/js.
fs::path node_modules() {
  const fs::path modules = CUZK_JS_MODULES;
  return fs::exists(modules / "snarkjs") ? modules : fs::path();
}

TEST(Prove, EveryCircuitProvesAndSnarkjsAcceptsEachProof) {
  Daemon daemon;
  std::vector<std::string> triples;
  for (const Circuit& circuit : all_circuits()) {
    SCOPED_TRACE(circuit.curve + "/" + circuit.name);
    const std::string stem = circuit.curve + "-" + circuit.name;
    const fs::path proof = daemon.folder() / (stem + ".proof.json");
    const fs::path publics = daemon.folder() / (stem + ".public.json");
    const Output proved =
        daemon.ctl({"prove", "--zkey", circuit.file(".zkey"), "--wtns", circuit.file(".wtns"), "--proof",
                    proof, "--public", publics});
    ASSERT_EQ(proved.exit_code, 0) << proved.out << proved.err;
    // The public signals are the witness's, so snarkjs' own file has the same ones.
    EXPECT_EQ(nlohmann::json::parse(read_text(publics)),
              nlohmann::json::parse(read_text(circuit.folder / "public.json")));
    const fs::path vkey = circuit.folder / "verification_key.json";
    const Output verified =
        daemon.ctl({"verify", "--vkey", vkey, "--public", publics, "--proof", proof});
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
    triples.insert(triples.end(), {vkey, publics, proof});
  }
  ASSERT_FALSE(triples.empty());
  if (node_modules().empty()) {
    GTEST_SKIP() << "snarkjs is not in build/js: scripts/test puts it there";
  }
  std::vector<std::string> command = {"node", CUZK_E2E_DIR "/snarkjs_verify.js", node_modules()};
  command.insert(command.end(), triples.begin(), triples.end());
  const Output judged = run(command, std::chrono::seconds(200));
  ASSERT_EQ(judged.exit_code, 0) << judged.err;
  const auto verdicts = nlohmann::json::parse(judged.out);
  ASSERT_EQ(verdicts.size(), triples.size() / 3);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    EXPECT_TRUE(verdicts[i].get<bool>()) << triples[3 * i + 2];
  }
}

TEST(Prove, TwoProofsOfOneWitnessDiffer) {
  Daemon daemon;
  const Circuit mult2 = circuit("bn128", "mult2");
  const auto prove = [&](const std::string& name) {
    const fs::path proof = daemon.folder() / name;
    EXPECT_EQ(daemon
                  .ctl({"prove", "--zkey", mult2.file(".zkey"), "--wtns", mult2.file(".wtns"), "--proof",
                        proof})
                  .exit_code,
              0);
    return read_text(proof);
  };
  EXPECT_NE(prove("one.json"), prove("two.json")) << "r and s must be fresh for each proof";
}

TEST(Prove, ManyClientsAtOnceEachGetTheirOwnAnswer) {
  Daemon daemon;
  const std::vector<Circuit> circuits = {circuit("bn128", "mult2"), circuit("bls12381", "edge_add2"),
                                         circuit("bn128", "edge_allpublic"),
                                         circuit("bls12381", "chain_1000")};
  std::vector<std::thread> clients;
  std::vector<Output> outputs(12);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    clients.emplace_back([&, i] {
      const Circuit& mine = circuits[i % circuits.size()];
      outputs[i] = daemon.ctl({"prove", "--zkey", mine.file(".zkey"), "--wtns", mine.file(".wtns"),
                               "--public", daemon.folder() / (std::to_string(i) + ".public.json")});
    });
  }
  for (std::thread& client : clients) client.join();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    ASSERT_EQ(outputs[i].exit_code, 0) << outputs[i].err;
    EXPECT_EQ(nlohmann::json::parse(read_text(daemon.folder() / (std::to_string(i) + ".public.json"))),
              nlohmann::json::parse(read_text(circuits[i % circuits.size()].folder / "public.json")));
  }
}

TEST(Prove, ARequestIdNamesOneJobAlsoAfterARestart) {
  Daemon daemon;
  const Circuit mult2 = circuit("bn128", "mult2");
  const std::vector<std::string> command = {"prove",        "--zkey", mult2.file(".zkey"), "--wtns",
                                            mult2.file(".wtns"), "--request-id", "the-same", "--json"};
  const Output first = daemon.ctl(command);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Output second = daemon.ctl(command);
  daemon.kill_and_restart();
  const Output third = daemon.ctl(command);
  const auto proof_of = [](const Output& output) {
    return nlohmann::json::parse(output.out).at("proof");
  };
  EXPECT_EQ(proof_of(first), proof_of(second));
  EXPECT_EQ(proof_of(first), proof_of(third));
}

TEST(Prove, TheExampleProvesFromItsInput) {
  Daemon daemon;
  const fs::path example = fs::path(CUZK_EXAMPLES_DIR) / "membership";
  const Output added = daemon.ctl({"circuit", "add", "membership", "--zkey", example / "membership.zkey",
                                   "--wasm", example / "membership.wasm", "--r1cs",
                                   example / "membership.r1cs"});
  ASSERT_EQ(added.exit_code, 0) << added.err;
  const fs::path proof = daemon.folder() / "proof.json";
  const fs::path publics = daemon.folder() / "public.json";
  const Output proved = daemon.ctl({"prove", "membership", "--input", example / "input.json", "--proof",
                                    proof, "--public", publics});
  ASSERT_EQ(proved.exit_code, 0) << proved.err;
  EXPECT_EQ(daemon
                .ctl({"verify", "--vkey", example / "verification_key.json", "--public", publics, "--proof",
                      proof})
                .exit_code,
            0);

  // One wrong sibling: the circuit's own assertion fails, and nothing is proved.
  auto input = nlohmann::json::parse(read_text(example / "input.json"));
  input["siblings"][3] = "1";
  std::ofstream(daemon.folder() / "wrong.json") << input.dump();
  const Output refused = daemon.ctl({"prove", "membership", "--input", daemon.folder() / "wrong.json"});
  EXPECT_EQ(refused.exit_code, 2) << refused.out << refused.err;
}

TEST(Prove, AWitnessThatBreaksAConstraintFailsAndNamesTheFirstOne) {
  Daemon daemon;
  const Circuit chain = circuit("bn128", "chain_1000");
  ASSERT_EQ(daemon
                .ctl({"circuit", "add", "chain", "--zkey", chain.file(".zkey"), "--r1cs",
                      chain.file(".r1cs")})
                .exit_code,
            0);
  // The last wire of the witness gets another value below r.
  std::string witness = read_text(chain.file(".wtns"));
  witness[witness.size() - 32] = static_cast<char>(witness[witness.size() - 32] ^ 1);
  const fs::path broken = daemon.folder() / "broken.wtns";
  std::ofstream(broken, std::ios::binary) << witness;
  const Output failed = daemon.ctl({"prove", "chain", "--wtns", broken});
  EXPECT_NE(failed.exit_code, 0);
  EXPECT_NE(failed.err.find("constraint"), std::string::npos) << failed.err;
  EXPECT_EQ(nlohmann::json::parse(daemon.ctl({"status", "--json"}).out).is_object(), true);
}

}  // namespace
}  // namespace cuzk::e2e
