// The circuits, keys and broken files that Groth16 tests of several folders read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <stdlib.h>

#include "common/mapped_file.hpp"
#include "common/types.hpp"

namespace cuzk::test {

namespace fs = std::filesystem;

inline std::string read_whole(const fs::path& path) {
  auto content = read_file(path, std::size_t{1} << 30);
  if (!content) throw std::runtime_error(content.error().message());
  return *std::move(content);
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// One folder of tests/data/circom, or of ../shared/data/circom for circuits that are too large to ship.
struct CircuitFiles {
  std::string curve;  // snarkjs' name
  std::string name;
  fs::path root = fs::path(CUZK_TEST_DATA) / "circom";

  CurveId curve_id() const { return curve == "bn128" ? CurveId::kBn254 : CurveId::kBls12_381; }
  fs::path path(const std::string& file) const {
    return root / curve / name / file;
  }
  std::string zkey() const { return read_whole(path(name + ".zkey")); }
  std::string wtns() const { return read_whole(path(name + ".wtns")); }
  std::string text(const std::string& file) const { return read_whole(path(file)); }
  std::string label() const { return curve + "_" + name; }
};

inline std::vector<CircuitFiles> all_circuit_files() {
  std::vector<CircuitFiles> circuits;
  for (const char* curve : {"bn128", "bls12381"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(CUZK_TEST_DATA) / "circom" / curve)) {
      circuits.push_back({curve, entry.path().filename().string()});
    }
    const fs::path shared = fs::path(CUZK_SHARED_DIR) / "data/circom";
    if (!fs::exists(shared / curve)) continue;
    for (const auto& entry : fs::directory_iterator(shared / curve)) {
      const CircuitFiles files{curve, entry.path().filename().string(), shared};
      if (!fs::exists(CircuitFiles{curve, files.name}.path(""))) circuits.push_back(files);
    }
  }
  return circuits;
}

inline std::string malformed(const std::string& curve, const std::string& file) {
  return read_whole(fs::path(CUZK_TEST_DATA) / "malformed" / curve / file);
}

// A folder that goes with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "cuzk_test_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }
  // Names of everything inside.
  std::vector<std::string> content() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

 private:
  fs::path path_;
};

}  // namespace cuzk::test
