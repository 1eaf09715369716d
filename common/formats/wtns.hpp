// The .wtns witness file of circom and snarkjs.
//
// Section 1 names the field and the number of values, section 2 holds the values: canonical 32-byte
// little-endian integers, the first of them the constant one, then public outputs, public inputs,
// and everything that stays secret. Errors name indices and offsets, never values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/result.hpp"
#include "common/types.hpp"

namespace cuzk {

struct Wtns {
  CurveId curve{};
  std::uint32_t count = 0;            // values, with the constant one
  std::span<const std::byte> values;  // count x 32 bytes, a view into the file
  std::uint64_t values_offset = 0;    // where they start in the file
};

// Checks everything but the values themselves: container, field, sizes. Copies nothing; `name`
// stands for the file in errors, which are kBadRequest.
Result<Wtns> parse_wtns(std::span<const std::byte> bytes, std::string_view name);

// Whether a witness belongs to a key of `curve` with `n_variables` variables (with the constant
// one).
Status check_wtns_fits(const Wtns& wtns, CurveId curve, std::uint64_t n_variables,
                       std::string_view name);

// Checks the values themselves: a multiple of 32 bytes, each below r, the first one equal to 1.
// Runs at the speed of memory. `offset` is where the values start in the file `name`, for the
// error.
Status check_witness(std::span<const std::byte> values, CurveId curve, std::string_view name,
                     std::uint64_t offset = 0);

}  // namespace cuzk
