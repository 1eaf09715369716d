// Reads little-endian integers and pieces from bytes that nobody vouches for.
//
// Every parser of this folder takes its bytes through one of these, so that there is one place
// where a length from a file is compared with what is really there. Nothing is copied but the
// integers.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace cuzk {

static_assert(std::endian::native == std::endian::little,
              "the formats' integers are little-endian");

// A cursor over a span. A read that would pass the end fails and moves nothing.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <std::unsigned_integral Integer>
  [[nodiscard]] bool read(Integer& value) {
    if (remaining() < sizeof value) return false;
    std::memcpy(&value, bytes_.data() + position_, sizeof value);
    position_ += sizeof value;
    return true;
  }

  [[nodiscard]] bool take(std::uint64_t size, std::span<const std::byte>& piece) {
    if (size > remaining()) return false;
    piece = bytes_.subspan(position_, static_cast<std::size_t>(size));
    position_ += static_cast<std::size_t>(size);
    return true;
  }

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

// An unaligned little-endian integer; the caller has checked that it lies inside its array.
template <std::unsigned_integral Integer>
Integer load_le(const std::byte* bytes) {
  Integer value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace cuzk
