// Files of tests/data, and bytes to break.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "common/mapped_file.hpp"
#include "common/types.hpp"

namespace cuzk::test {

inline const std::vector<std::string> kSmallCircuits = {
    "mult2",     "edge_nopublic",  "edge_allpublic", "edge_manypub",
    "edge_add2", "mult2_ceremony", "chain_1000",     "chain_1000_ceremony"};

inline constexpr CurveId kCurves[] = {CurveId::kBn254, CurveId::kBls12_381};

inline std::string circuit_file(CurveId curve, const std::string& circuit,
                                const std::string& file) {
  return std::string(CUZK_TEST_DATA "/circom/") + name_of(curve) + "/" + circuit + "/" + file;
}

// A whole file, which must exist.
inline std::string slurp(const std::string& path) {
  auto content = read_file(path, std::size_t{1} << 30);
  EXPECT_TRUE(content) << (content ? "" : content.error().message());
  return content ? *std::move(content) : std::string();
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <class Integer>
void append_int(std::string& bytes, Integer value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct RawSection {
  std::uint32_t id;
  std::string bytes;
};

// A container file with these sections in this order.
inline std::string make_container(std::string_view magic, std::uint32_t version,
                                  const std::vector<RawSection>& sections) {
  std::string file(magic);
  append_int(file, version);
  append_int(file, static_cast<std::uint32_t>(sections.size()));
  for (const RawSection& section : sections) {
    append_int(file, section.id);
    append_int(file, static_cast<std::uint64_t>(section.bytes.size()));
    file += section.bytes;
  }
  return file;
}

}  // namespace cuzk::test
