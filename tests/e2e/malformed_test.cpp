// Every broken file of tests/data/malformed through the daemon: the manifest says what must happen.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/e2e/circuits.hpp"
#include "tests/e2e/daemon.hpp"

namespace cuzk::e2e {
namespace {

namespace fs = std::filesystem;

struct Row {
  std::string file;
  std::string kind;
  std::string expectation;
};

fs::path malformed() { return fs::path(CUZK_TEST_DATA) / "malformed"; }

std::vector<Row> manifest() {
  std::ifstream file(malformed() / "MANIFEST.tsv");
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    Row row;
    std::string base;
    std::getline(fields, row.file, '\t');
    std::getline(fields, row.kind, '\t');
    std::getline(fields, base, '\t');
    std::getline(fields, row.expectation, '\t');
    rows.push_back(row);
  }
  return rows;
}

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

// What the manifest's sentence means for an exit code of cuzkctl.
void expect(const Row& row, const Output& output) {
  if (starts_with(row.expectation, "accept or reject") || starts_with(row.expectation, "policy")) {
    EXPECT_TRUE(output.exit_code == 0 || output.exit_code == 1 || output.exit_code == 2) << output.err;
  } else if (starts_with(row.expectation, "reject")) {
    EXPECT_EQ(output.exit_code, 2) << output.out << output.err;
    EXPECT_FALSE(output.err.empty());
  } else if (starts_with(row.expectation, "accept") || row.expectation.find("verify=TRUE") == 0) {
    EXPECT_EQ(output.exit_code, 0) << output.out << output.err;
  } else if (starts_with(row.expectation, "cannot be seen by parsing")) {
    EXPECT_EQ(output.exit_code, 1) << output.out << output.err;
  } else if (starts_with(row.expectation, "verify=false or reject")) {
    EXPECT_TRUE(output.exit_code == 1 || output.exit_code == 2) << output.out << output.err;
  } else if (starts_with(row.expectation, "verify=false")) {
    EXPECT_TRUE(output.exit_code == 1 || output.exit_code == 2) << output.out << output.err;
  } else {
    ADD_FAILURE() << "the manifest says something that this test does not know";
  }
}

Output try_file(Daemon& daemon, const Row& row, const Circuit& mult2) {
  const fs::path file = malformed() / row.file;
  if (row.kind == "zkey") return daemon.ctl({"prove", "--zkey", file, "--wtns", mult2.file(".wtns")});
  if (row.kind == "wtns") return daemon.ctl({"prove", "--zkey", mult2.file(".zkey"), "--wtns", file});
  if (row.kind == "r1cs") {
    const Output added =
        daemon.ctl({"circuit", "add", "broken", "--zkey", mult2.file(".zkey"), "--r1cs", file});
    if (added.exit_code == 0) daemon.ctl({"circuit", "remove", "broken"});
    return added;
  }
  if (row.kind == "input") return daemon.ctl({"prove", mult2.curve, "--input", file});
  const fs::path proof = row.kind == "proof" ? file : mult2.folder / "proof.json";
  const fs::path publics = row.kind == "public" ? file : mult2.folder / "public.json";
  return daemon.ctl({"verify", "--vkey", mult2.folder / "verification_key.json", "--public", publics,
                     "--proof", proof});
}

TEST(Malformed, EveryFileOfTheManifestGetsWhatTheManifestSays) {
  Daemon daemon;
  for (const char* curve : {"bn128", "bls12381"}) {
    const Circuit mult2 = circuit(curve, "mult2");
    const Output added = daemon.ctl(
        {"circuit", "add", curve, "--zkey", mult2.file(".zkey"), "--wasm", mult2.file(".wasm")});
    ASSERT_EQ(added.exit_code, 0) << added.err;
  }
  const std::vector<Row> rows = manifest();
  ASSERT_EQ(rows.size(), 219u);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.file + ": " + row.expectation);
    const std::string curve = row.file.substr(0, row.file.find('/'));
    const Output output = try_file(daemon, row, circuit(curve, "mult2"));
    expect(row, output);
    if (output.exit_code != 0) {
      EXPECT_EQ(output.err.find("please report this"), std::string::npos) << output.err;
    }
  }

  // Nothing died on the way, and nothing was left behind.
  const auto status = daemon.status();
  for (const auto& worker : status.at("workers")) {
    EXPECT_EQ(worker.value("restarts", -1), 0) << worker.dump();
  }
  for (const auto& entry : fs::recursive_directory_iterator(daemon.folder() / "state")) {
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace cuzk::e2e
