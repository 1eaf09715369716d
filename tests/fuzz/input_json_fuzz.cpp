// input.json.
#include "common/formats/input_json.hpp"

#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/fuzz/fuzz.hpp"

using namespace cuzk;

namespace {

std::size_t count_scalars(const nlohmann::json& value) {
  if (!value.is_structured()) return 1;
  std::size_t n = 0;
  for (const auto& item : value) n += count_scalars(item);
  return n;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const auto signals = parse_input(text, CurveId::kBls12_381, "input.json");
  if (!signals) {
    fuzz::require_refusal(signals.error());
    return 0;
  }
  std::set<std::string> names;
  std::size_t n_values = 0;
  for (const InputSignal& signal : *signals) {
    fuzz::require(names.insert(signal.name).second, "every signal is there once");
    fuzz::require(signal.name.size() <= kMaxInputNameBytes, "names are bounded");
    n_values += signal.values.size();
    for (const ScalarInteger& value : signal.values) {
      fuzz::require(is_below(value.data(), scalar_modulus(CurveId::kBls12_381)),
                    "values are canonical");
    }
  }
  const auto document = nlohmann::json::parse(text, nullptr, false);
  fuzz::require(document.is_object(), "what is accepted is a JSON object");
  fuzz::require(count_scalars(document) == n_values, "no value is lost or doubled");
  return 0;
}
