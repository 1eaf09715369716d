// What the fuzz targets share.
//
// A target passes its bytes to one parser, and then holds the parser to its promises: what was
// accepted must be in range, and must read the same after it was written. A broken promise aborts,
// which libFuzzer reports with the input that caused it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>

#include "common/result.hpp"

namespace cuzk::fuzz {

// Aborts unless `holds`; stays in builds without assertions.
inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

// A refusal must blame the input and say where it is wrong.
inline void require_refusal(const Error& error) {
  require(error.error_class == ErrorClass::kBadRequest, "a refusal is a bad request");
  require(!error.what.empty() && !error.where.empty(), "a refusal says what is wrong, and where");
  require(error.message().find('\n') == std::string::npos, "a refusal is one line");
}

inline std::span<const std::byte> bytes_of(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}
inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace cuzk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
