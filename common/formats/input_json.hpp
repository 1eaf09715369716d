// input.json: the inputs of a circom circuit.
//
// The meaning follows circom's own witness calculators: nested arrays are flattened depth first;
// the members of a bus have qualified names, "a.b" and "a[0].b"; values are taken modulo r,
// negative ones too. Where those calculators guess, this reader refuses: numbers that a double
// cannot hold exactly (their digits were lost before they were written, or would be by the next
// program), fractions, null, true and false, and names that are given twice. Which signals a
// circuit has, and how many values each takes, is known only to the circuit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/formats/modulus.hpp"
#include "common/result.hpp"
#include "common/types.hpp"

namespace cuzk {

struct InputSignal {
  std::string name;                   // qualified
  std::vector<ScalarInteger> values;  // canonical, flattened; may be empty
};

// More signals, or longer names, are refused; values are limited only by the text.
inline constexpr std::size_t kMaxInputSignals = std::size_t{1} << 20;
inline constexpr std::size_t kMaxInputNameBytes = 1024;

// The signals in the order in which the text names them. `name` stands for the file in errors,
// which are kBadRequest and name the signal and the position of a value in it, never a value.
Result<std::vector<InputSignal>> parse_input(std::string_view text, CurveId curve,
                                             std::string_view name);

}  // namespace cuzk
