// Inputs, against circom's own witness calculator.
#include "common/formats/input_json.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmpxx.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/formats/number_text.hpp"
#include "tests/common/formats/test_files.hpp"

namespace cuzk::test {
namespace {

using Signals = std::vector<std::pair<std::string, std::vector<std::string>>>;

// The signals with their values as decimals.
Signals parsed(std::string_view text, CurveId curve = CurveId::kBn254) {
  const auto signals = parse_input(text, curve, "input.json");
  EXPECT_TRUE(signals) << text << "\n" << (signals ? "" : signals.error().message());
  Signals result;
  if (!signals) return result;
  for (const InputSignal& signal : *signals) {
    result.push_back({signal.name, {}});
    for (const ScalarInteger& value : signal.values) {
      result.back().second.push_back(to_decimal(std::as_bytes(std::span(value))));
    }
  }
  return result;
}

std::string refusal(std::string_view text) {
  const auto signals = parse_input(text, CurveId::kBn254, "input.json");
  if (!signals) {
    EXPECT_EQ(signals.error().error_class, ErrorClass::kBadRequest);
  }
  return signals ? "accepted" : signals.error().message();
}

// The expected sides are what qualify_input and normalize of the witness_calculator.js that
// circom 2.2.3 generates make of the same texts.
TEST(Input, NamesAndFlattensLikeCircom) {
  EXPECT_EQ(parsed(R"({"a":{"b":"1","c":["2","3"]}})"),
            (Signals{{"a.b", {"1"}}, {"a.c", {"2", "3"}}}));
  EXPECT_EQ(parsed(R"({"a":[{"b":["1","2"]},{"b":["3","4"]}]})"),
            (Signals{{"a[0].b", {"1", "2"}}, {"a[1].b", {"3", "4"}}}));
  EXPECT_EQ(parsed(R"({"a":[[{"b":"1"},{"b":"2"}],[{"b":"3"}]]})"),
            (Signals{{"a[0][0].b", {"1"}}, {"a[0][1].b", {"2"}}, {"a[1][0].b", {"3"}}}));
  EXPECT_EQ(parsed(R"({"a":{"b":[{"c":{"d":"7"}}]},"e":"8"})"),
            (Signals{{"a.b[0].c.d", {"7"}}, {"e", {"8"}}}));
  EXPECT_EQ(parsed(R"({"a":[["1"],[["2",["3"]]]]})"), (Signals{{"a", {"1", "2", "3"}}}));
  EXPECT_EQ(parsed(R"({"a":[]})"), (Signals{{"a", {}}}));
  EXPECT_EQ(parsed(R"({"a":[[],[[]]]})"), (Signals{{"a", {}}}));
  EXPECT_EQ(parsed(R"({"a":[[],{"b":"1"}]})"), (Signals{{"a[1].b", {"1"}}}));
  EXPECT_EQ(parsed(R"({"a":{}})"), Signals{});
  EXPECT_EQ(parsed(R"({"a":[{}]})"), Signals{});
  EXPECT_EQ(parsed(R"({"a":{"b":{"c":"1"}},"a.b":{"d":"2"}})"),
            (Signals{{"a.b.c", {"1"}}, {"a.b.d", {"2"}}}));
  EXPECT_EQ(parsed("{}"), Signals{});
}

TEST(Input, TakesValuesModuloR) {
  EXPECT_EQ(
      parsed(R"({"a":"-1","b":"0x10","c":"+5","d":"007","e":-3,"f":0,"g":-0})"),
      (Signals{
          {"a", {"21888242871839275222246405745257275088548364400416034343698204186575808495616"}},
          {"b", {"16"}},
          {"c", {"5"}},
          {"d", {"7"}},
          {"e", {"21888242871839275222246405745257275088548364400416034343698204186575808495614"}},
          {"f", {"0"}},
          {"g", {"0"}}}));
  EXPECT_EQ(
      parsed(
          R"({"a":"21888242871839275222246405745257275088548364400416034343698204186575808495620"})"),
      (Signals{{"a", {"3"}}}));
}

TEST(Input, ReadsTheInputsOfTheCircomCircuits) {
  for (const CurveId curve : kCurves) {
    for (const std::string& circuit : kSmallCircuits) {
      const std::string text = slurp(circuit_file(curve, circuit, "input.json"));
      const auto reference = nlohmann::json::parse(text);
      const Signals signals = parsed(text, curve);
      EXPECT_EQ(signals.size(), reference.size());
      for (const auto& [name, values] : signals) {
        ASSERT_TRUE(reference.contains(name)) << name;
        const auto expected = reference[name].is_array() ? reference[name].flatten()
                                                         : nlohmann::json{{"", reference[name]}};
        ASSERT_EQ(values.size(), expected.size()) << name;
        std::size_t i = 0;
        if (reference[name].is_array()) {
          for (const auto& value : reference[name]) {
            EXPECT_EQ(values[i++], value.is_string() ? value.get<std::string>() : value.dump());
          }
        } else {
          const auto& value = reference[name];
          EXPECT_EQ(values[0], value.is_string() ? value.get<std::string>() : value.dump());
        }
      }
    }
  }
}

TEST(Input, NumbersAreAcceptedOnlyIfNoDigitWasLost) {
  EXPECT_EQ(parsed(R"({"a":[9007199254740992,9007199254740994,-9007199254740994]})")[0].second[1],
            "9007199254740994");
  EXPECT_EQ(parsed(R"({"a":18446744073709551616})")[0].second[0], "18446744073709551616");
  EXPECT_EQ(
      refusal(R"({"a":[1, 9007199254740993]})"),
      "input.json, signal \"a\", value 1: a number this large loses digits in JSON (write it as a "
      "string)");
  for (const char* number :
       {"-9007199254740993", "18446744073709551615", "12345678901234567890123"}) {
    EXPECT_NE(refusal(std::string("{\"a\":") + number + "}").find("loses digits"),
              std::string::npos);
  }
  EXPECT_EQ(parsed(R"({"a":"9007199254740993"})")[0].second[0], "9007199254740993");
}

TEST(Input, RefusesWhatIsNotAnInteger) {
  EXPECT_EQ(refusal(R"({"a":{"b":[1,[2,null]]}})"),
            "input.json, signal \"a.b\", value 2: null is not a number");
  for (const char* value : {"true", "false", "null", "3.5", "3.0", "1e3", "\"\"", "\" 1\"",
                            "\"1.5\"", "\"-0x10\"", "\"abc\"", "\"0b1\"", "\"1n\"", "\"0x\""}) {
    EXPECT_NE(refusal(std::string("{\"a\":") + value + "}").find("signal \"a\", value 0"),
              std::string::npos)
        << value;
  }
}

TEST(Input, NeverQuotesValues) {
  EXPECT_EQ(refusal(R"({"a":"secret12345"})").find("secret"), std::string::npos);
  EXPECT_EQ(refusal(R"({"a":"1", "b": secret})").find("secret"), std::string::npos);
}

TEST(Input, NamesThatAreGivenTwiceAreRefused) {
  EXPECT_EQ(refusal(R"({"a":1,"b":2,"a":3})"), "input.json: the signal \"a\" is given twice");
  EXPECT_EQ(refusal(R"({"a":{"b":1},"a.b":2})"), "input.json: the signal \"a.b\" is given twice");
  EXPECT_EQ(refusal(R"({"a":{"b":1},"a":{"c":2}})"), "input.json: the signal \"a\" is given twice");
  EXPECT_NE(refusal(R"({"":1})").find("empty name"), std::string::npos);
}

TEST(Input, ArraysThatMixValuesAndBusesAreRefused) {
  for (const char* text : {R"({"a":["1",{"b":"2"}]})", R"({"a":[{"b":"2"},"1"]})",
                           R"({"a":[["1"],{"b":"2"}]})", R"({"a":[[[{"b":"2"}]],[1]]})"}) {
    EXPECT_EQ(refusal(text), "input.json, signal \"a\": an array mixes values and objects");
  }
}

TEST(Input, MustBeOneObject) {
  for (const char* text : {"[]", "1", "\"a\"", "null", "[{\"a\":1}]"}) {
    EXPECT_NE(refusal(text).find("not a JSON object of signals"), std::string::npos) << text;
  }
  EXPECT_NE(refusal("{} {}").find("not valid JSON"), std::string::npos);
}

TEST(Input, NamesAndSignalsAreBounded) {
  const std::string longest(kMaxInputNameBytes, 'n');
  EXPECT_EQ(parsed("{\"" + longest + "\":1}")[0].first, longest);
  EXPECT_NE(refusal("{\"" + longest + "n\":1}").find("longer than 1024 bytes"), std::string::npos);
  EXPECT_NE(refusal("{\"" + longest + "\":{\"a\":1}}").find("longer than 1024 bytes"),
            std::string::npos);
  EXPECT_NE(refusal("{\"" + longest + "\":[{\"a\":1}]}").find("longer than 1024 bytes"),
            std::string::npos);
  std::string many = "{\"a\":[";
  for (std::size_t i = 0; i <= kMaxInputSignals; ++i) many += i == 0 ? "{\"b\":1}" : ",{\"b\":1}";
  EXPECT_NE(refusal(many + "]}").find("more than 1048576 signals"), std::string::npos);
}

}  // namespace
}  // namespace cuzk::test
