// Numbers as text, against libgmp.
#include "common/formats/number_text.hpp"

#include <array>
#include <cmath>
#include <random>
#include <string>

#include <gmp.h>
#include <gtest/gtest.h>

#include "tests/common/formats/test_files.hpp"

namespace cuzk::test {
namespace {

// A libgmp integer that frees itself.
class Mpz {
 public:
  Mpz() { mpz_init(value_); }
  ~Mpz() { mpz_clear(value_); }
  Mpz(const Mpz&) = delete;
  Mpz& operator=(const Mpz&) = delete;
  mpz_ptr get() { return value_; }

 private:
  mpz_t value_;
};

const char* scalar_modulus_hex(CurveId curve) {
  return curve == CurveId::kBn254
             ? "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001"
             : "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";
}

std::string random_digits(std::mt19937_64& random, std::size_t n, bool hexadecimal) {
  static constexpr char kDigits[] = "0123456789abcdefABCDEF";
  std::string digits;
  for (std::size_t i = 0; i < n; ++i) digits += kDigits[random() % (hexadecimal ? 22 : 10)];
  return digits;
}

TEST(NumberText, ReadsWhatBigIntReadsAndNothingElse) {
  const auto zero = read_integer("-0");
  ASSERT_TRUE(zero);
  EXPECT_TRUE(zero->digits.empty());
  for (const char* text : {"0", "1", "+1", "-1", "007", "0x0", "0XfF"}) {
    EXPECT_TRUE(read_integer(text)) << text;
  }
  for (const char* text : {"", "-", "+", "0x", "-0x1", "+0x1", "--1", " 1", "1 ", "1.0", "1e3",
                           "0b1", "0o7", "1_000", "fF", "0xg", "1n", "\xd9\xa1", "NaN"}) {
    EXPECT_FALSE(read_integer(text)) << text;
  }
}

TEST(NumberText, ReducesNumbersOfAnyLengthLikeGmp) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  Mpz value, modulus;
  for (int i = 0; i < 2000; ++i) {
    const bool hexadecimal = random() % 2 == 0;
    const std::string digits = random_digits(random, 1 + random() % 200, hexadecimal);
    const bool negative = !hexadecimal && random() % 2 == 0;
    std::string text = hexadecimal ? "0x" : negative ? "-" : "";
    text += digits;
    const auto integer = read_integer(text);
    ASSERT_TRUE(integer) << text;
    mpz_set_str(value.get(), digits.c_str(), hexadecimal ? 16 : 10);
    if (negative) mpz_neg(value.get(), value.get());
    for (const CurveId curve : kCurves) {
      mpz_set_str(modulus.get(), scalar_modulus_hex(curve), 16);
      Mpz rest;
      mpz_mod(rest.get(), value.get(), modulus.get());
      ScalarInteger expected{};
      mpz_export(expected.data(), nullptr, -1, 8, 0, 0, rest.get());
      ASSERT_EQ(reduce(*integer, curve), expected) << text;
    }
  }
}

TEST(NumberText, ReducesAMillionDigitsInLinearTime) {
  std::string text(1'000'000, '7');
  Mpz value, modulus;
  mpz_set_str(value.get(), text.c_str(), 10);
  mpz_set_str(modulus.get(), scalar_modulus_hex(CurveId::kBls12_381), 16);
  mpz_mod(value.get(), value.get(), modulus.get());
  ScalarInteger expected{};
  mpz_export(expected.data(), nullptr, -1, 8, 0, 0, value.get());
  EXPECT_EQ(reduce(*read_integer(text), CurveId::kBls12_381), expected);
}

TEST(NumberText, EdgesOfTheFieldReduceRight) {
  for (const CurveId curve : kCurves) {
    Mpz r;
    mpz_set_str(r.get(), scalar_modulus_hex(curve), 16);
    const auto text = [](mpz_ptr value) {
      char* digits = mpz_get_str(nullptr, 10, value);
      std::string result = digits;
      std::free(digits);
      return result;
    };
    EXPECT_EQ(reduce(*read_integer(text(r.get())), curve), ScalarInteger{});
    std::string minus = "-";
    minus += text(r.get());
    EXPECT_EQ(reduce(*read_integer(minus), curve), ScalarInteger{});
    mpz_add_ui(r.get(), r.get(), 3);
    EXPECT_EQ(reduce(*read_integer(text(r.get())), curve), (ScalarInteger{3, 0, 0, 0}));
    mpz_sub_ui(r.get(), r.get(), 4);
    EXPECT_EQ(reduce(*read_integer("-1"), curve), reduce(*read_integer(text(r.get())), curve));
  }
}

TEST(NumberText, LimbsAndDecimalsAgreeWithGmp) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  Mpz value;
  for (int i = 0; i < 2000; ++i) {
    const bool hexadecimal = random() % 2 == 0;
    const std::string digits = random_digits(random, 1 + random() % 130, hexadecimal);
    mpz_set_str(value.get(), digits.c_str(), hexadecimal ? 16 : 10);
    std::string text = hexadecimal ? "0x" : "";
    text += digits;
    const auto integer = read_integer(text);
    ASSERT_TRUE(integer);
    std::array<std::uint64_t, 6> limbs{};
    const bool fits = to_limbs(*integer, limbs);
    ASSERT_EQ(fits, mpz_sizeinbase(value.get(), 2) <= 384) << digits;
    if (!fits) continue;
    std::array<std::uint64_t, 6> expected{};
    mpz_export(expected.data(), nullptr, -1, 8, 0, 0, value.get());
    ASSERT_EQ(limbs, expected) << digits;
    char* decimal = mpz_get_str(nullptr, 10, value.get());
    EXPECT_EQ(to_decimal(std::as_bytes(std::span(limbs))), decimal);
    std::free(decimal);
  }
}

TEST(NumberText, KnowsWhichIntegersADoubleHolds) {
  for (const char* text : {"0", "9007199254740992", "9007199254740994", "18014398509481988",
                           "1000000000000000000000", "0x8000000000000000000000"}) {
    EXPECT_TRUE(is_exact_double(*read_integer(text))) << text;
  }
  for (const char* text :
       {"9007199254740993", "-9007199254740993", "18014398509481986", "12345678901234567890123"}) {
    EXPECT_FALSE(is_exact_double(*read_integer(text))) << text;
  }
  // Against the C library: to double and back.
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  Mpz value, back;
  int exact = 0;
  for (int i = 0; i < 5000; ++i) {
    mpz_set_ui(value.get(), random() >> (random() % 14));
    mpz_mul_2exp(value.get(), value.get(), random() % 900);
    char* digits = mpz_get_str(nullptr, 10, value.get());
    mpz_set_d(back.get(), std::strtod(digits, nullptr));
    const bool same = mpz_cmp(back.get(), value.get()) == 0;
    exact += same ? 1 : 0;
    EXPECT_EQ(is_exact_double(*read_integer(digits)), same) << digits;
    std::free(digits);
  }
  EXPECT_GT(exact, 100);
  EXPECT_LT(exact, 4900);
  const std::string huge = std::string("1").append(400, '0');
  EXPECT_FALSE(is_exact_double(*read_integer(huge)));
}

}  // namespace
}  // namespace cuzk::test
