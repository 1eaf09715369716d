// The broken files of tests/data/malformed, and who has to notice what is wrong with each.
//
// MANIFEST.tsv says what a strict prover must do with every file; this header adds which part of
// the program decides it, so that each part's tests can take their rows and none is left over. The
// base of every row is the good circuit of the same curve in tests/data/circom.
#pragma once

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/types.hpp"

namespace cuzk::test {

// Who can tell that a file of the manifest is broken (or, for accepted ones, who has the last
// word).
enum class Layer {
  kParse,      // common/formats alone: structure, counts, canonical numbers
  kKeyPoints,  // the conversion of a key: points on their curve, coordinates below q
  kProof,      // verification of our own proof: the key parses and converts, its proofs are false
  kVerify,     // verification of a foreign proof
  kCircuit,    // the circuit's own input signals
};

// What must happen in the end.
enum class Outcome {
  kReject,       // refused as a bad request
  kAccept,       // used; the proof verifies
  kVerifyFalse,  // verification answers false, or refuses
  kVerifyTrue,   // verification answers true
  kProofFails,   // a proof is made and found to be false
};

struct ManifestRow {
  std::string file;         // "bn128/z01_empty.zkey"
  std::string kind;         // zkey, wtns, r1cs, proof, public, input
  std::string base;         // "mult2"
  std::string expectation;  // the manifest's words
  std::string id;           // "z01"
  CurveId curve{};
  Layer layer{};
  Outcome outcome{};

  std::string path() const { return std::string(CUZK_TEST_DATA "/malformed/") + file; }
  // The good circuit's file with an ending, for example good("zkey") or good("wtns").
  std::string good(std::string_view ending) const {
    return std::string(CUZK_TEST_DATA "/circom/") + name_of(curve) + "/" + base + "/" + base + "." +
           std::string(ending);
  }
  // Another file in the good circuit's folder: "verification_key.json".
  std::string beside(std::string_view name) const {
    return std::string(CUZK_TEST_DATA "/circom/") + name_of(curve) + "/" + base + "/" +
           std::string(name);
  }
};

inline void PrintTo(const ManifestRow& row, std::ostream* out) { *out << row.file; }

inline bool is_one_of(std::string_view id, std::initializer_list<std::string_view> ids) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

inline Layer layer_of(std::string_view id) {
  if (is_one_of(id, {"z27", "z28b", "z34c"})) return Layer::kKeyPoints;
  if (is_one_of(id, {"z26c", "z30", "z35"})) return Layer::kProof;
  if (is_one_of(id, {"p01", "p04", "p06", "u01", "u02", "u03", "u04"})) return Layer::kVerify;
  if (is_one_of(id, {"i02", "i03", "i13"})) return Layer::kCircuit;
  return Layer::kParse;
}

inline Outcome outcome_of(const ManifestRow& row) {
  // Where the manifest leaves the policy open: numbers whose meaning is not in doubt are accepted,
  // and so is an r1cs with a count that nothing needs.
  if (is_one_of(row.id, {"u05", "u06"})) return Outcome::kVerifyTrue;
  if (is_one_of(row.id, {"i05", "r09"})) return Outcome::kAccept;
  if (row.id == "i11") return Outcome::kReject;

  const std::string_view text = row.expectation;
  if (text.starts_with("accept")) return Outcome::kAccept;
  if (text.starts_with("cannot be seen by parsing")) return Outcome::kProofFails;
  if (text.starts_with("verify=TRUE")) return Outcome::kVerifyTrue;
  if (text.starts_with("verify=false")) {
    return layer_of(row.id) == Layer::kParse ? Outcome::kReject : Outcome::kVerifyFalse;
  }
  if (text.starts_with("reject")) return Outcome::kReject;
  throw std::runtime_error("the manifest's words are not understood: " + row.expectation);
}

inline ManifestRow parse_manifest_row(const std::string& line) {
  std::istringstream fields(line);
  ManifestRow row;
  std::getline(fields, row.file, '\t');
  std::getline(fields, row.kind, '\t');
  std::getline(fields, row.base, '\t');
  std::getline(fields, row.expectation, '\t');
  const std::size_t slash = row.file.find('/');
  const std::string curve = row.file.substr(0, slash);
  const std::string name = row.file.substr(slash + 1);
  row.curve = curve == "bn128" ? CurveId::kBn254 : CurveId::kBls12_381;
  row.id = name.substr(0, name.find('_'));
  row.layer = layer_of(row.id);
  row.outcome = outcome_of(row);
  return row;
}

// All rows, in the manifest's order. Throws when the manifest cannot be read or understood.
inline std::vector<ManifestRow> read_manifest() {
  std::ifstream manifest(CUZK_TEST_DATA "/malformed/MANIFEST.tsv");
  std::string line;
  std::vector<ManifestRow> rows;
  std::getline(manifest, line);  // the titles of the columns
  while (std::getline(manifest, line)) {
    if (!line.empty()) rows.push_back(parse_manifest_row(line));
  }
  if (rows.empty())
    throw std::runtime_error("tests/data/malformed/MANIFEST.tsv is missing or empty");
  return rows;
}

// The rows that `layer` decides.
inline std::vector<ManifestRow> manifest_rows(Layer layer) {
  std::vector<ManifestRow> rows = read_manifest();
  std::erase_if(rows, [layer](const ManifestRow& row) { return row.layer != layer; });
  return rows;
}

// A name for a parametrised test: "bn128_z01_empty_zkey".
inline std::string test_name(const ManifestRow& row) {
  std::string name = row.file;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

}  // namespace cuzk::test
