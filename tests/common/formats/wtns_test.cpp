#include "common/formats/wtns.hpp"

#include <string>

#include <gtest/gtest.h>

#include "common/formats/json.hpp"
#include "common/formats/modulus.hpp"
#include "tests/common/formats/test_files.hpp"

namespace cuzk::test {
namespace {

TEST(Wtns, HoldsThePublicSignalsThatSnarkjsPrinted) {
  for (const CurveId curve : kCurves) {
    for (const std::string& circuit : kSmallCircuits) {
      SCOPED_TRACE(std::string(name_of(curve)) + " " + circuit);
      const std::string file = slurp(circuit_file(curve, circuit, circuit + ".wtns"));
      const auto wtns = parse_wtns(bytes_of(file), circuit + ".wtns");
      ASSERT_TRUE(wtns) << wtns.error().message();
      EXPECT_EQ(wtns->curve, curve);
      EXPECT_EQ(wtns->values.size(), std::size_t{wtns->count} * 32);
      EXPECT_EQ(wtns->values.data(), bytes_of(file).data() + wtns->values_offset);
      EXPECT_TRUE(check_witness(wtns->values, curve, "w.wtns"));
      const auto publics = publics_from_json(slurp(circuit_file(curve, circuit, "public.json")),
                                             curve, "public.json");
      ASSERT_TRUE(publics) << publics.error().message();
      ASSERT_LE(32 + publics->size(), wtns->values.size());
      EXPECT_EQ(std::memcmp(wtns->values.data() + 32, publics->data(), publics->size()), 0);
    }
  }
}

TEST(Wtns, RefusesEveryTruncation) {
  const std::string good = slurp(circuit_file(CurveId::kBn254, "mult2", "mult2.wtns"));
  ASSERT_TRUE(parse_wtns(bytes_of(good), "w.wtns"));
  for (std::size_t size = 0; size < good.size(); ++size) {
    const std::string cut = good.substr(0, size);
    EXPECT_FALSE(parse_wtns(bytes_of(cut), "w.wtns")) << size;
  }
}

TEST(Wtns, BelongsToOneCurveAndOneNumberOfVariables) {
  const std::string file = slurp(circuit_file(CurveId::kBn254, "mult2", "mult2.wtns"));
  const auto wtns = parse_wtns(bytes_of(file), "w.wtns");
  ASSERT_TRUE(wtns);
  EXPECT_TRUE(check_wtns_fits(*wtns, CurveId::kBn254, 4, "w.wtns"));
  EXPECT_FALSE(check_wtns_fits(*wtns, CurveId::kBls12_381, 4, "w.wtns"));
  EXPECT_FALSE(check_wtns_fits(*wtns, CurveId::kBn254, 5, "w.wtns"));
}

class WitnessValues : public testing::TestWithParam<CurveId> {
 protected:
  // `count` values: the constant one, then r - 1.
  std::string largest(std::size_t count) const {
    const Modulus& r = scalar_modulus(GetParam());
    ScalarInteger value{r.limb[0] - 1, r.limb[1], r.limb[2], r.limb[3]};
    std::string bytes(32, '\0');
    bytes[0] = 1;
    for (std::size_t i = 1; i < count; ++i) {
      bytes.append(reinterpret_cast<const char*>(value.data()), 32);
    }
    return bytes;
  }
  void set(std::string& bytes, std::size_t index, const ScalarInteger& value) const {
    std::memcpy(bytes.data() + 32 * index, value.data(), 32);
  }
};

TEST_P(WitnessValues, BelowTheModulusAreAccepted) {
  for (const std::size_t count : {1u, 2u, 255u, 256u, 257u, 1000u}) {
    EXPECT_TRUE(check_witness(bytes_of(largest(count)), GetParam(), "w.wtns")) << count;
  }
}

TEST_P(WitnessValues, FromTheModulusOnAreRefusedWithIndexAndOffset) {
  const Modulus& m = scalar_modulus(GetParam());
  const ScalarInteger r = {m.limb[0], m.limb[1], m.limb[2], m.limb[3]};
  const ScalarInteger bad_ones[] = {r,
                                    {r[0] + 5, r[1], r[2], r[3]},
                                    {0, r[1] + 1, r[2], r[3]},
                                    {0, 0, r[2] + 1, r[3]},
                                    {0, 0, 0, r[3] + 1},
                                    {~0ull, ~0ull, ~0ull, ~0ull}};
  for (const ScalarInteger& bad : bad_ones) {
    for (const std::size_t index : {1u, 2u, 254u, 255u, 256u, 257u, 511u, 512u, 999u}) {
      std::string bytes = largest(1000);
      set(bytes, index, bad);
      // A later one does not hide the first.
      set(bytes, 999, bad);
      const Status status = check_witness(bytes_of(bytes), GetParam(), "w.wtns", 76);
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().where,
                fmt::format("w.wtns, witness value {}, offset {:#x}", index, 76 + 32 * index));
    }
  }
}

TEST_P(WitnessValues, MustStartWithOne) {
  std::string bytes = largest(3);
  for (const ScalarInteger& first :
       {ScalarInteger{}, ScalarInteger{2, 0, 0, 0}, ScalarInteger{1, 0, 0, 1}}) {
    set(bytes, 0, first);
    EXPECT_FALSE(check_witness(bytes_of(bytes), GetParam(), "w.wtns"));
  }
  EXPECT_FALSE(check_witness({}, GetParam(), "w.wtns"));
  EXPECT_FALSE(check_witness(bytes_of(largest(2)).first(63), GetParam(), "w.wtns"));
}

INSTANTIATE_TEST_SUITE_P(BothCurves, WitnessValues, testing::ValuesIn(kCurves),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace cuzk::test
