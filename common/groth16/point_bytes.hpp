// Canonical bytes of single points; see common/groth16/encoding.hpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "common/curve/points.hpp"
#include "common/field/fp.hpp"
#include "common/field/fp2.hpp"

namespace cuzk {

static_assert(std::endian::native == std::endian::little, "limbs are written as they lie in memory");

template <class Params>
constexpr std::size_t field_bytes(const Fp<Params>*) {
  return sizeof(typename Fp<Params>::Integer);
}
template <class Base>
constexpr std::size_t field_bytes(const Fp2<Base>*) {
  return 2 * field_bytes(static_cast<const Base*>(nullptr));
}
// Bytes of an affine point of `Group`.
template <class Group>
inline constexpr std::size_t kPointBytes =
    2 * field_bytes(static_cast<const typename Group::Field*>(nullptr));

template <class Params>
void append_canonical(std::string& bytes, const Fp<Params>& value) {
  const typename Fp<Params>::Integer integer = value.to_integer();
  bytes.append(reinterpret_cast<const char*>(&integer), sizeof integer);
}
template <class Base>
void append_canonical(std::string& bytes, const Fp2<Base>& value) {
  append_canonical(bytes, value.c0);
  append_canonical(bytes, value.c1);
}
template <class Group>
void append_canonical(std::string& bytes, const Affine<Group>& point) {
  append_canonical(bytes, point.x);
  append_canonical(bytes, point.y);
}

// Reads field_bytes() bytes; false when a coordinate is not below the modulus.
template <class Params>
bool read_canonical(std::span<const std::byte> bytes, Fp<Params>& value) {
  typename Fp<Params>::Integer integer;
  std::memcpy(&integer, bytes.data(), sizeof integer);
  if (!Fp<Params>::is_canonical(integer)) return false;
  value = Fp<Params>::from_integer(integer);
  return true;
}
template <class Base>
bool read_canonical(std::span<const std::byte> bytes, Fp2<Base>& value) {
  const std::size_t half = bytes.size() / 2;
  return read_canonical(bytes.first(half), value.c0) &&
         read_canonical(bytes.subspan(half), value.c1);
}

// What is wrong with the kPointBytes<Group> bytes of a point, or nullptr after a success. Does not look
// at subgroups.
template <class Group>
const char* read_canonical_point(std::span<const std::byte> bytes, Affine<Group>& point) {
  const std::size_t half = bytes.size() / 2;
  if (!read_canonical(bytes.first(half), point.x) ||
      !read_canonical(bytes.subspan(half), point.y)) {
    return "a coordinate is not below the modulus of the base field";
  }
  if (!is_on_curve(point)) return "the point is not on the curve";
  return nullptr;
}

}  // namespace cuzk
