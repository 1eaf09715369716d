// How far a conversion is, counted in work rather than in bytes.
//
// Checking a G2 point costs several times a G1 point, and both cost far more than anything else, so
// progress is the share of this work that is done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.hpp"
#include "synth_worker/keys/convert_zkey.hpp"

namespace cuzk {

class ConversionMeter {
 public:
  explicit ConversionMeter(const KeyProgress& progress) : progress_(progress) {}

  void set_total(std::uint64_t units) { total_ = units; }

  // Fails with kOperator when the receiver wants the conversion stopped.
  Status advance(std::string_view step, std::uint64_t units) {
    done_ += units;
    const std::uint64_t permille = total_ == 0 ? 0 : done_ * 1000 / total_;
    if (!progress_ || progress_(step, static_cast<std::uint32_t>(permille))) return {};
    return Error{ErrorClass::kOperator, "stopped on request", std::string(step), {}};
  }

 private:
  const KeyProgress& progress_;
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace cuzk
