// Constraints and violated ones, against libgmp and circom's own witnesses.
#include "common/formats/r1cs.hpp"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gmpxx.h>
#include <gtest/gtest.h>

#include "common/formats/wtns.hpp"
#include "tests/common/formats/test_files.hpp"

namespace cuzk::test {
namespace {

using Terms = std::vector<std::pair<std::uint32_t, mpz_class>>;

mpz_class modulus(CurveId curve) {
  return mpz_class(curve == CurveId::kBn254
                       ? "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001"
                       : "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001",
                   16);
}

void append_number(std::string& bytes, const mpz_class& value) {
  std::string number(32, '\0');
  mpz_export(number.data(), nullptr, -1, 1, -1, 0, value.get_mpz_t());
  bytes += number;
}

void append_terms(std::string& bytes, const Terms& terms) {
  append_int(bytes, static_cast<std::uint32_t>(terms.size()));
  for (const auto& [wire, coefficient] : terms) {
    append_int(bytes, wire);
    append_number(bytes, coefficient);
  }
}

std::string header(CurveId curve, std::uint32_t n_wires, std::uint32_t n_constraints) {
  std::string bytes;
  append_int(bytes, std::uint32_t{32});
  append_number(bytes, modulus(curve));
  for (const std::uint32_t count : {n_wires, 0u, 0u, n_wires - 1}) append_int(bytes, count);
  append_int(bytes, std::uint64_t{n_wires});
  append_int(bytes, n_constraints);
  return bytes;
}

// A random circuit whose constraints hold for a random witness, except those in `broken`.
class RandomCircuit {
 public:
  RandomCircuit(CurveId curve, std::uint64_t seed, std::uint32_t n_constraints,
                const std::vector<std::uint32_t>& broken)
      : curve_(curve), r_(modulus(curve)), random_(seed) {
    witness_.push_back(1);
    while (witness_.size() < 20) witness_.push_back(number());
    for (std::uint32_t i = 0; i < n_constraints; ++i) {
      const Terms a = terms();
      const Terms b = terms();
      Terms c = terms();
      // One more term makes C what it has to be.
      mpz_class missing = (value(a) * value(b) - value(c)) % r_;
      for (const std::uint32_t index : broken) missing += index == i ? 1 : 0;
      c.push_back({0, ((missing % r_) + r_) % r_});
      for (const Terms& side : {a, b, c}) append_terms(constraints_, side);
    }
    n_constraints_ = n_constraints;
  }

  std::string file() const {
    return make_container(
        "r1cs", 1,
        {{2, constraints_},
         {1, header(curve_, static_cast<std::uint32_t>(witness_.size()), n_constraints_)}});
  }
  std::string witness() const {
    std::string bytes;
    for (const mpz_class& value : witness_) append_number(bytes, value);
    return bytes;
  }

 private:
  mpz_class number() {
    if (random_() % 4 == 0) return random_() % 2;
    if (random_() % 4 == 0) return r_ - 1;
    mpz_class value = 0;
    for (int i = 0; i < 5; ++i) value = (value << 64) + mpz_class(std::to_string(random_()));
    return value % r_;
  }
  Terms terms() {
    Terms result;
    const std::size_t n = random_() % 5;
    for (std::size_t i = 0; i < n; ++i) {
      result.push_back({static_cast<std::uint32_t>(random_() % witness_.size()), number()});
    }
    return result;
  }
  mpz_class value(const Terms& terms) const {
    mpz_class sum = 0;
    for (const auto& [wire, coefficient] : terms) sum += coefficient * witness_[wire];
    return sum % r_;
  }

  CurveId curve_;
  mpz_class r_;
  std::mt19937_64 random_;
  std::vector<mpz_class> witness_;
  std::string constraints_;
  std::uint32_t n_constraints_ = 0;
};

TEST(R1cs, CircomsWitnessesSatisfyCircomsConstraints) {
  for (const CurveId curve : kCurves) {
    for (const std::string& circuit : kSmallCircuits) {
      SCOPED_TRACE(std::string(name_of(curve)) + " " + circuit);
      const std::string file = slurp(circuit_file(curve, circuit, circuit + ".r1cs"));
      const auto r1cs = R1cs::parse(bytes_of(file), circuit + ".r1cs");
      ASSERT_TRUE(r1cs) << r1cs.error().message();
      const std::string witness_file = slurp(circuit_file(curve, circuit, circuit + ".wtns"));
      const auto wtns = parse_wtns(bytes_of(witness_file), circuit + ".wtns");
      ASSERT_TRUE(wtns) << wtns.error().message();
      EXPECT_EQ(r1cs->header().curve, curve);
      EXPECT_EQ(r1cs->header().n_wires, wtns->count);
      const auto violated = first_violated(*r1cs, wtns->values);
      ASSERT_TRUE(violated) << violated.error().message();
      EXPECT_EQ(*violated, std::nullopt);
    }
  }
}

TEST(R1cs, AWrongOutputOfAChainIsFoundInItsLastConstraint) {
  for (const CurveId curve : kCurves) {
    const std::string file = slurp(circuit_file(curve, "chain_1000", "chain_1000.r1cs"));
    const auto r1cs = R1cs::parse(bytes_of(file), "chain_1000.r1cs");
    ASSERT_TRUE(r1cs);
    std::string witness_file = slurp(circuit_file(curve, "chain_1000", "chain_1000.wtns"));
    const auto wtns = parse_wtns(bytes_of(witness_file), "chain_1000.wtns");
    ASSERT_TRUE(wtns);
    // Wire 1 is the output of the chain.
    witness_file[wtns->values_offset + 32] ^= 1;
    std::uint64_t last_use = 0;
    ASSERT_TRUE(r1cs->for_each_constraint([&](const R1csConstraint& constraint) {
      for (const LinearCombination& side : {constraint.a, constraint.b, constraint.c}) {
        for (std::size_t i = 0; i < side.size(); ++i) {
          if (side[i].wire == 1) last_use = constraint.index;
        }
      }
      return true;
    }));
    const auto violated = first_violated(*r1cs, wtns->values);
    ASSERT_TRUE(violated) << violated.error().message();
    EXPECT_EQ(*violated, std::optional<std::uint64_t>(last_use));
  }
}

TEST(R1cs, TheFirstViolatedConstraintIsExact) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  for (const CurveId curve : kCurves) {
    const std::vector<std::vector<std::uint32_t>> cases = {{}, {0}, {49}, {17, 18, 40}, {30, 3}};
    for (const auto& broken : cases) {
      const RandomCircuit circuit(curve, seed + broken.size(), 50, broken);
      const std::string file = circuit.file();
      const auto r1cs = R1cs::parse(bytes_of(file), "c.r1cs");
      ASSERT_TRUE(r1cs) << r1cs.error().message();
      const auto violated = first_violated(*r1cs, bytes_of(circuit.witness()));
      ASSERT_TRUE(violated) << violated.error().message();
      std::optional<std::uint64_t> expected;
      if (!broken.empty()) expected = *std::min_element(broken.begin(), broken.end());
      EXPECT_EQ(*violated, expected);
    }
  }
}

TEST(R1cs, VisitsConstraintsInOrderUntilToldToStop) {
  const RandomCircuit circuit(CurveId::kBn254, 1, 10, {});
  const std::string file = circuit.file();
  const auto r1cs = R1cs::parse(bytes_of(file), "c.r1cs");
  ASSERT_TRUE(r1cs);
  std::vector<std::uint64_t> seen;
  ASSERT_TRUE(r1cs->for_each_constraint([&](const R1csConstraint& constraint) {
    seen.push_back(constraint.index);
    return seen.size() < 3;
  }));
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST(R1cs, RefusesEveryTruncation) {
  const std::string good = slurp(circuit_file(CurveId::kBn254, "mult2", "mult2.r1cs"));
  ASSERT_TRUE(R1cs::parse(bytes_of(good), "c.r1cs"));
  for (std::size_t size = 0; size < good.size(); ++size) {
    const std::string cut = good.substr(0, size);
    EXPECT_FALSE(R1cs::parse(bytes_of(cut), "c.r1cs")) << size;
  }
}

TEST(R1cs, RefusesCustomGatesAndWrongLabels) {
  const std::string empty_constraints;
  const std::string head = header(CurveId::kBn254, 3, 0);
  EXPECT_TRUE(R1cs::parse(bytes_of(make_container("r1cs", 1, {{1, head}, {2, ""}})), "c.r1cs"));
  const std::string labels(24, '\0');
  EXPECT_TRUE(R1cs::parse(bytes_of(make_container("r1cs", 1, {{1, head}, {2, ""}, {3, labels}})),
                          "c.r1cs"));
  EXPECT_FALSE(
      R1cs::parse(bytes_of(make_container("r1cs", 1, {{1, head}, {2, ""}, {3, "x"}})), "c.r1cs"));
  for (const std::uint32_t id : {4u, 5u}) {
    const auto parsed =
        R1cs::parse(bytes_of(make_container("r1cs", 1, {{1, head}, {2, ""}, {id, ""}})), "c.r1cs");
    ASSERT_FALSE(parsed);
    EXPECT_NE(parsed.error().what.find("custom gates"), std::string::npos);
  }
}

TEST(R1cs, AWitnessOfTheWrongSizeOrOutsideTheFieldIsABadRequest) {
  const RandomCircuit circuit(CurveId::kBls12_381, 5, 4, {});
  const std::string file = circuit.file();
  const auto r1cs = R1cs::parse(bytes_of(file), "c.r1cs");
  ASSERT_TRUE(r1cs);
  std::string witness = circuit.witness();
  EXPECT_FALSE(first_violated(*r1cs, bytes_of(witness.substr(32))));
  EXPECT_FALSE(first_violated(*r1cs, {}));
  std::fill(witness.end() - 32, witness.end(), '\xff');
  const auto outside = first_violated(*r1cs, bytes_of(witness));
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().error_class, ErrorClass::kBadRequest);
}

}  // namespace
}  // namespace cuzk::test
