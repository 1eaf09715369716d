// Witnesses from circom's WebAssembly equal those of circom's own JavaScript, byte for byte, and inputs
// that do not fit are refused by name.
#include "synth_worker/circom/calculator.hpp"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synth_worker/circom/calculator_cache.hpp"
#include "tests/support/manifest.hpp"
#include "tests/synth_worker/circom/compiled_circuit.hpp"

namespace cuzk::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct KnownWitness {
  std::string folder;  // below the data
  std::string circuit;
  CurveId curve{};
};
void PrintTo(const KnownWitness& known, std::ostream* out) { *out << known.folder; }

std::vector<KnownWitness> circom_circuits() {
  std::vector<KnownWitness> known;
  for (const CurveId curve : {CurveId::kBn254, CurveId::kBls12_381}) {
    for (const auto& entry : fs::directory_iterator(data_path("circom/") + name_of(curve))) {
      known.push_back({entry.path().string(), entry.path().filename().string(), curve});
    }
  }
  return known;
}

void expect_same_witness(const fs::path& wasm, const fs::path& input, const fs::path& wtns,
                         CurveId curve) {
  const CompiledCircuit circuit(wasm);
  ASSERT_TRUE(circuit);
  const Witness expected = wtns_values(wtns);
  const auto witness = circuit.calculate(read_bytes(input), curve, expected.size() / 32);
  ASSERT_TRUE(witness.ok()) << witness.error().message();
  EXPECT_TRUE(*witness == expected);
}

class CircomCircuit : public testing::TestWithParam<KnownWitness> {};

TEST_P(CircomCircuit, HasTheWitnessOfCircomsJavaScript) {
  const fs::path folder = GetParam().folder;
  const std::string& name = GetParam().circuit;
  if (name.ends_with("_ceremony")) {
    const std::string plain = name.substr(0, name.find("_ceremony"));
    ASSERT_EQ(read_bytes(folder / (name + ".wasm")),
              read_bytes(folder.parent_path() / plain / (plain + ".wasm")))
        << "the circuit is another one and must be calculated too";
    return;
  }
  expect_same_witness(folder / (name + ".wasm"), folder / "input.json", folder / (name + ".wtns"),
                      GetParam().curve);
}

INSTANTIATE_TEST_SUITE_P(Data, CircomCircuit, testing::ValuesIn(circom_circuits()),
                         [](const auto& instance) {
                           return std::string(name_of(instance.param.curve)) + "_" + instance.param.circuit;
                         });

TEST(Calculator, MakesTheWitnessOfMerkle20) {
  const fs::path folder = CUZK_SHARED_DIR "/data/circom/bn128/merkle20";
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  expect_same_witness(folder / "merkle20.wasm", folder / "input.json", folder / "merkle20.wtns",
                      CurveId::kBn254);
}

TEST(Calculator, TakesInputsOfEveryShape) {
  for (const CurveId curve : {CurveId::kBn254, CurveId::kBls12_381}) {
    const std::string name = std::string("synth_worker/shapes_") + name_of(curve);
    expect_same_witness(data_path(name + ".wasm"), data_path("synth_worker/shapes.input.json"),
                        data_path(name + ".wtns"), curve);
  }
}

TEST(Calculator, TakesBuses) {
  expect_same_witness(data_path("synth_worker/bus.wasm"), data_path("synth_worker/bus.input.json"),
                      data_path("synth_worker/bus.wtns"), CurveId::kBn254);
}

TEST(Calculator, CalculatesACircuitWithoutInputs) {
  expect_same_witness(data_path("synth_worker/constant.wasm"),
                      data_path("synth_worker/constant.input.json"),
                      data_path("synth_worker/constant.wtns"), CurveId::kBn254);
}

// One compiled circuit for all tests of a suite.
class Shapes : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    circuit_ = std::make_unique<CompiledCircuit>(data_path("synth_worker/shapes_bn128.wasm"));
    expected_ = wtns_values(data_path("synth_worker/shapes_bn128.wtns"));
  }
  static void TearDownTestSuite() { circuit_.reset(); }
  void SetUp() override { ASSERT_TRUE(*circuit_); }

  static Result<Witness> calculate(std::string_view input) {
    return circuit_->calculate(input, CurveId::kBn254, expected_.size() / 32);
  }
  static Error refusal(std::string_view input) {
    const auto witness = calculate(input);
    EXPECT_FALSE(witness.ok());
    return witness ? Error{} : witness.error();
  }

  static inline std::unique_ptr<CompiledCircuit> circuit_;
  static inline Witness expected_;
};

TEST_F(Shapes, GivesTheSameAnswerHoweverTheNumbersAreWritten) {
  for (const char* input :
       {R"({"a": 3, "b": [[1, 2, 3], [4, 5, -6]], "c": [16, "52435875175126190479447740508185965837690552500527637822603658699938581184520"]})",
        R"({"c": [["0x10"], ["52435875175126190479447740508185965837690552500527637822603658699938581184520"]], "b": [1, "0x02", "3", "4", "5", "-6"], "a": ["0x3"]})"}) {
    const auto witness = calculate(input);
    ASSERT_TRUE(witness.ok()) << witness.error().message();
    EXPECT_TRUE(*witness == expected_) << input;
  }
}

TEST_F(Shapes, StartsEveryCalculationAfresh) {
  const std::string good = read_bytes(data_path("synth_worker/shapes.input.json"));
  const auto other = calculate(R"({"a": 1, "b": [0,0,0,0,0,0], "c": [0,0]})");
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(*other == expected_);
  EXPECT_FALSE(calculate(R"({"a": 7, "b": [0,0,0,0,0,0], "c": [0,0]})").ok());
  for (int i = 0; i < 3; ++i) {
    const auto witness = calculate(good);
    ASSERT_TRUE(witness.ok());
    EXPECT_TRUE(*witness == expected_);
  }
}

TEST_F(Shapes, NamesEverythingThatIsWrongWithTheInputs) {
  const Error error = refusal(R"({"b": [1, 2, 3], "c": [1, 2, 3], "zz": 1, "y\"y": [1, 2]})");
  EXPECT_EQ(error.error_class, ErrorClass::kBadRequest);
  EXPECT_EQ(error.where, "input.json");
  EXPECT_THAT(error.what,
              AllOf(HasSubstr(R"(signal "b" takes 6 values and has 3: too few)"),
                    HasSubstr(R"(signal "c" takes 2 values and has 3: too many)"),
                    HasSubstr(R"(the circuit has no input signal "zz")"),
                    HasSubstr(R"(the circuit has no input signal "y\x22y")"),
                    HasSubstr("signals with 1 of the circuit's 9 input values are missing")));
}

TEST_F(Shapes, SaysHowManyValuesAreMissing) {
  EXPECT_THAT(refusal("{}").what, HasSubstr("9 of the circuit's 9 input values are missing"));
  EXPECT_THAT(refusal(R"({"a": [], "b": [1,2,3,4,5,6], "c": [1, 2]})").what,
              AllOf(HasSubstr(R"(signal "a" takes 1 value and has 0: too few)"),
                    Not(HasSubstr("missing"))));
}

TEST_F(Shapes, BoundsTheListOfProblems) {
  std::string input = "{";
  for (int i = 0; i < 1000; ++i) input += fmt::format("\"s{}\": 1, ", i);
  const Error error = refusal(input + "\"a\": 1}");
  EXPECT_LT(error.what.size(), 2000U);
  EXPECT_THAT(error.what, HasSubstr("and 981 more problems"));
}

TEST_F(Shapes, QuotesAFailedAssertionButNoValueOfALog) {
  const Error error = refusal(R"({"a": 7, "b": [1,2,3,4,5,6], "c": [1, 2]})");
  EXPECT_EQ(error.error_class, ErrorClass::kBadRequest);
  EXPECT_THAT(error.what, AllOf(HasSubstr("assertion"), HasSubstr("circom's error 4"),
                                HasSubstr("Square"), HasSubstr("line: 9"), HasSubstr("Shapes")));
  const Error logged = refusal(R"({"a": 7, "b": [1,2,3,4,5,6], "c": [1, 2]})");
  EXPECT_THAT(logged.what, Not(HasSubstr("a is 7")));
}

TEST_F(Shapes, MustFitTheKey) {
  const std::uint64_t n = expected_.size() / 32;
  EXPECT_TRUE((*circuit_)->check_fits(CurveId::kBn254, n, {}).ok());
  const Status other_curve = (*circuit_)->check_fits(CurveId::kBls12_381, n, {});
  ASSERT_FALSE(other_curve.ok());
  EXPECT_EQ(other_curve.error().error_class, ErrorClass::kBadRequest);
  EXPECT_THAT(other_curve.error().message(),
              AllOf(HasSubstr("compiled for bn128, the key is for bls12381"),
                    HasSubstr("--prime bls12381")));
  const Status other_size = (*circuit_)->check_fits(CurveId::kBn254, n + 1, {});
  ASSERT_FALSE(other_size.ok());
  EXPECT_THAT(other_size.error().message(),
              HasSubstr(fmt::format("has {} variables, the key has {}", n, n + 1)));
}

TEST_F(Shapes, IsLoadedAgainWhenItsFileIsAnother) {
  const TemporaryFolder folder;
  const fs::path path = folder / "circuit.so";
  fs::copy_file(circuit_->object(), path);
  CalculatorCache cache(2);
  const auto first = cache.get(path);
  ASSERT_TRUE(first.ok());
  const CircuitCalculator* const before = *first;
  ASSERT_EQ(*cache.get(path), before);
  fs::copy_file(circuit_->object(), folder / "new.so");
  fs::rename(folder / "new.so", path);
  ASSERT_TRUE(cache.get(path).ok());
  fs::remove(path);
  EXPECT_FALSE(cache.get(path).ok());
}

TEST(Calculator, DoesNotLoadWhatIsNotACompiledCircuit) {
  const TemporaryFolder folder;
  write_bytes(folder / "garbage.so", "garbage");
  const auto garbage = CircuitCalculator::load(folder / "garbage.so", "garbage");
  ASSERT_FALSE(garbage.ok());
  EXPECT_EQ(garbage.error().error_class, ErrorClass::kOperator);
  EXPECT_THAT(garbage.error().message(), HasSubstr("add it again"));

  write_bytes(folder / "other.c", "const unsigned cuzk_circuit = 999;");
  ChildCommand command;
  command.program = *find_program("cc", "gcc");
  command.arguments = {"cc", "-shared", "-o", (folder / "other.so").string(),
                       (folder / "other.c").string()};
  command.environment = plain_environment();
  ASSERT_TRUE(run_child(command)->succeeded());
  const auto other = CircuitCalculator::load(folder / "other.so", "other");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message(), HasSubstr("another version"));
}

TEST(SignalNameHash, IsFnv1a) {
  // From http://www.isthe.com/chongo/tech/comp/fnv/, FNV-1a, 64 bits.
  EXPECT_EQ(signal_name_hash(""), 0xcbf29ce484222325U);
  EXPECT_EQ(signal_name_hash("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(signal_name_hash("foobar"), 0x85944171f73967e8U);
}

// The manifest's inputs, from text to witness.
class MalformedInput : public testing::TestWithParam<ManifestRow> {
 protected:
  static CompiledCircuit& mult2(CurveId curve) {
    static std::map<CurveId, std::unique_ptr<CompiledCircuit>> circuits;
    auto& circuit = circuits[curve];
    if (circuit == nullptr) {
      circuit = std::make_unique<CompiledCircuit>(data_path("circom/") + name_of(curve) +
                                                  "/mult2/mult2.wasm");
    }
    return *circuit;
  }
};

TEST_P(MalformedInput, GetsWhatTheManifestSays) {
  const ManifestRow& row = GetParam();
  CompiledCircuit& circuit = mult2(row.curve);
  ASSERT_TRUE(circuit);
  const auto witness = circuit.calculate(read_bytes(row.path()), row.curve, 4);
  if (row.outcome == Outcome::kReject) {
    ASSERT_FALSE(witness.ok());
    EXPECT_EQ(witness.error().error_class, ErrorClass::kBadRequest);
    EXPECT_THAT(witness.error().message(), HasSubstr("input.json"));
    const std::map<std::string, std::string> reasons = {
        {"i02", "\"zz\""}, {"i03", "\"a\" takes 1 value and has 2"}, {"i13", "2 of the circuit's 2"}};
    if (const auto reason = reasons.find(row.id); reason != reasons.end()) {
      EXPECT_THAT(witness.error().what, HasSubstr(reason->second));
    }
    return;
  }
  ASSERT_EQ(row.outcome, Outcome::kAccept);
  ASSERT_TRUE(witness.ok()) << witness.error().message();
  std::string name = row.file.substr(row.file.find('/') + 1);
  name.erase(name.find(".input.json"));
  EXPECT_TRUE(*witness == wtns_values(data_path("synth_worker/mult2_") + name_of(row.curve) + "_" +
                                      name + ".wtns"));
}

std::vector<ManifestRow> input_rows() {
  std::vector<ManifestRow> rows = read_manifest();
  std::erase_if(rows, [](const ManifestRow& row) { return row.kind != "input"; });
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Manifest, MalformedInput, testing::ValuesIn(input_rows()),
                         [](const auto& instance) { return test_name(instance.param); });

}  // namespace
}  // namespace cuzk::test
