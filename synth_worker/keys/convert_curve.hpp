// The part of a conversion that depends on the curve: from a parsed zkey to a prepared key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "common/formats/zkey.hpp"
#include "common/result.hpp"
#include "common/thread_pool.hpp"
#include "common/types.hpp"
#include "synth_worker/keys/conversion_meter.hpp"

namespace cuzk {

struct Conversion {
  const Zkey& zkey;
  std::span<const std::byte> source;  // the bytes that zkey was parsed from
  const std::string& name;
  Digest digest{};
  std::filesystem::path target;
  ThreadPool& pool;
  ConversionMeter& meter;
};

// Writes the prepared key; the curve of the zkey is `Curve`. Returns the size of the file. Explicit
// instantiations are in convert_bn254.cpp and convert_bls12_381.cpp.
template <class Curve>
Result<std::uint64_t> convert_zkey(const Conversion& conversion);

}  // namespace cuzk
