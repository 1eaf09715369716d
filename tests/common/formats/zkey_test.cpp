#include "common/formats/zkey.hpp"

#include <array>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "common/field/fp.hpp"
#include "common/formats/json.hpp"
#include "tests/common/formats/test_files.hpp"

namespace cuzk::test {
namespace {

// Montgomery coordinates as they lie in a zkey, as canonical bytes.
template <class Fq>
std::string canonical_in(std::span<const std::byte> points) {
  std::string bytes;
  for (std::size_t i = 0; i < points.size(); i += Fq::kBytes) {
    typename Fq::Integer raw;
    std::memcpy(&raw, points.data() + i, sizeof raw);
    const auto integer = Fq::from_raw(raw).to_integer();
    bytes.append(reinterpret_cast<const char*>(&integer), sizeof integer);
  }
  return bytes;
}

std::string canonical(CurveId curve, std::span<const std::byte> points) {
  return curve == CurveId::kBn254 ? canonical_in<Bn254Fq>(points)
                                  : canonical_in<Bls12_381Fq>(points);
}

std::uint64_t smallest_domain(std::uint64_t rows) {
  std::uint64_t size = 1;
  while (size < rows) size *= 2;
  return size;
}

TEST(Zkey, AgreesWithTheVerificationKeyThatSnarkjsExportedFromIt) {
  for (const CurveId curve : kCurves) {
    for (const std::string& circuit : kSmallCircuits) {
      SCOPED_TRACE(std::string(name_of(curve)) + " " + circuit);
      const std::string file = slurp(circuit_file(curve, circuit, circuit + ".zkey"));
      const auto key = Zkey::parse(bytes_of(file), circuit + ".zkey");
      ASSERT_TRUE(key) << key.error().message();
      const auto vkey = vkey_from_json(slurp(circuit_file(curve, circuit, "verification_key.json")),
                                       "verification_key.json");
      ASSERT_TRUE(vkey) << vkey.error().message();

      const ZkeyHeader& header = key->header();
      EXPECT_EQ(header.curve, curve);
      EXPECT_EQ(header.n_public, vkey->n_public);
      std::string bytes;
      for (const auto part :
           {header.alpha1, header.beta2, header.gamma2, header.delta2, key->ic()}) {
        bytes += canonical(curve, part);
      }
      EXPECT_TRUE(bytes == vkey->bytes);
      EXPECT_EQ(key->test_only(), circuit.find("ceremony") == std::string::npos);
    }
  }
}

TEST(Zkey, CoefficientsEndWithTheRowsOfThePublicSignals) {
  for (const CurveId curve : kCurves) {
    for (const std::string& circuit : kSmallCircuits) {
      SCOPED_TRACE(std::string(name_of(curve)) + " " + circuit);
      const std::string file = slurp(circuit_file(curve, circuit, circuit + ".zkey"));
      const auto key = Zkey::parse(bytes_of(file), circuit + ".zkey");
      ASSERT_TRUE(key) << key.error().message();
      const ZkeyCoefficients& entries = key->coefficients();
      const std::size_t n_rows = key->header().n_public + std::size_t{1};
      ASSERT_GE(entries.size(), n_rows);
      const ZkeyCoefficient first = entries[entries.size() - n_rows];
      for (std::size_t i = 0; i < n_rows; ++i) {
        const ZkeyCoefficient entry = entries[entries.size() - n_rows + i];
        EXPECT_EQ(entry.matrix, 0u);
        EXPECT_EQ(entry.signal, i);
        EXPECT_EQ(entry.constraint, first.constraint + i);
        EXPECT_EQ(entry.value, first.value);
      }
      EXPECT_EQ(key->header().domain_size, smallest_domain(first.constraint + n_rows));
    }
  }
}

TEST(Zkey, ErrorsNameThePlaceOfAPoint) {
  const std::string file = slurp(circuit_file(CurveId::kBn254, "mult2", "mult2.zkey"));
  const auto key = Zkey::parse(bytes_of(file), "k.zkey");
  ASSERT_TRUE(key) << key.error().message();
  const auto point = key->a().subspan(2 * 64, 64);
  const auto offset = static_cast<std::size_t>(point.data() - bytes_of(file).data());
  EXPECT_EQ(key->where(ZkeySection::kA, point, "point 2"),
            fmt::format("k.zkey, section 5 (A), point 2, offset {:#x}", offset));
}

// Every 32-bit field of the header, set to what breaks careless arithmetic.
TEST(Zkey, RefusesWrongHeaderFieldsWithoutAllocatingByThem) {
  for (const CurveId curve : kCurves) {
    const std::string good = slurp(circuit_file(curve, "mult2", "mult2.zkey"));
    const auto key = Zkey::parse(bytes_of(good), "k.zkey");
    ASSERT_TRUE(key) << key.error().message();
    const auto alpha =
        static_cast<std::size_t>(key->header().alpha1.data() - bytes_of(good).data());
    const std::size_t n8q = alpha - 12 - 36 - coordinate_bytes(curve) - 4;
    for (const std::size_t offset : {n8q, alpha - 12 - 36, alpha - 12, alpha - 8, alpha - 4}) {
      std::uint32_t original = 0;
      std::memcpy(&original, good.data() + offset, 4);
      for (const std::uint32_t value :
           {0u, 1u, original - 1, original + 1, original * 2, original ^ 0x80000000u, 1u << 28,
            1u << 31, std::numeric_limits<std::uint32_t>::max()}) {
        if (value == original) continue;
        std::string broken = good;
        std::memcpy(broken.data() + offset, &value, 4);
        const auto parsed = Zkey::parse(bytes_of(broken), "k.zkey");
        ASSERT_FALSE(parsed) << name_of(curve) << " offset " << offset << " value " << value;
        EXPECT_EQ(parsed.error().error_class, ErrorClass::kBadRequest);
      }
    }
  }
}

TEST(Zkey, RefusesEveryTruncationAndEverySingleSectionThatIsNeeded) {
  const std::string good =
      slurp(circuit_file(CurveId::kBls12_381, "edge_nopublic", "edge_nopublic.zkey"));
  ASSERT_TRUE(Zkey::parse(bytes_of(good), "k.zkey"));
  for (std::size_t size = 0; size < good.size(); ++size) {
    // A copy of that size, so that a sanitizer sees a read beyond it.
    const std::string cut = good.substr(0, size);
    EXPECT_FALSE(Zkey::parse(bytes_of(cut), "k.zkey")) << size;
  }
}

TEST(Zkey, ADomainBeyondTheFieldIsRefused) {
  std::string file = slurp(circuit_file(CurveId::kBn254, "mult2", "mult2.zkey"));
  const auto key = Zkey::parse(bytes_of(file), "k.zkey");
  ASSERT_TRUE(key);
  const auto domain =
      static_cast<std::size_t>(key->header().alpha1.data() - bytes_of(file).data()) - 4;
  const std::uint32_t size = 1u << 28;
  std::memcpy(file.data() + domain, &size, 4);
  const auto parsed = Zkey::parse(bytes_of(file), "k.zkey");
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().what.find("2^27"), std::string::npos) << parsed.error().message();
}

TEST(Zkey, NamesOtherProtocols) {
  std::string file = slurp(circuit_file(CurveId::kBn254, "mult2", "mult2.zkey"));
  const std::uint32_t plonk = 2;
  std::memcpy(file.data() + 24, &plonk, 4);
  const auto parsed = Zkey::parse(bytes_of(file), "k.zkey");
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().what.find("plonk"), std::string::npos) << parsed.error().message();
}

TEST(Zkey, ALargerRealKeyParses) {
  const std::string path =
      std::string(CUZK_SHARED_DIR) + "/data/circom/bn128/merkle20/merkle20.zkey";
  const auto file = MappedFile::open(path);
  if (!file) GTEST_SKIP() << "merkle20.zkey is not here: " << file.error().message();
  const auto key = Zkey::parse(file->bytes(), "merkle20.zkey");
  ASSERT_TRUE(key) << key.error().message();
  EXPECT_EQ(key->header().n_variables, 10'442u);
}

}  // namespace
}  // namespace cuzk::test
