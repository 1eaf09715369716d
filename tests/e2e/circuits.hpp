// The circuits that end-to-end tests prove.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cuzk::e2e {

struct Circuit {
  std::string curve;  // bn128 or bls12381
  std::string name;
  std::filesystem::path folder;

  std::filesystem::path file(const std::string& suffix) const { return folder / (name + suffix); }
};

// All of tests/data/circom, and all of ../shared/data/circom where that is (merkle20 is only there).
inline std::vector<Circuit> all_circuits() {
  namespace fs = std::filesystem;
  fs::path data = fs::path(CUZK_SHARED_DIR) / "data/circom";
  if (!fs::exists(data)) data = fs::path(CUZK_TEST_DATA) / "circom";
  std::vector<Circuit> circuits;
  for (const char* curve : {"bn128", "bls12381"}) {
    if (!fs::exists(data / curve)) continue;
    for (const auto& entry : fs::directory_iterator(data / curve)) {
      const std::string name = entry.path().filename().string();
      if (!fs::exists(entry.path() / (name + ".zkey"))) continue;
      circuits.push_back({curve, name, entry.path()});
    }
  }
  return circuits;
}

inline Circuit circuit(const std::string& curve, const std::string& name) {
  return {curve, name, std::filesystem::path(CUZK_TEST_DATA) / "circom" / curve / name};
}

}  // namespace cuzk::e2e
