// The two hashes of the project: SHA-256 names content, XXH3 finds accidents.
//
// SHA-256 (OpenSSL) identifies keys and inputs, where a collision would prove the wrong circuit. XXH3-64
// guards sections of our own files and slots against truncation and bit rot, at memory speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/types.hpp"

namespace cuzk {

Digest sha256(std::span<const std::byte> bytes);

// SHA-256 over pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void update(std::span<const std::byte> bytes);
  // Call once, last.
  Digest finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::uint64_t xxh3_64(std::span<const std::byte> bytes);

}  // namespace cuzk
