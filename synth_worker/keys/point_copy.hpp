// Copies points from a key into a prepared key and checks each on the way.
//
// This is the only place where the points of a key are checked, and every one passes here: coordinates
// below the modulus, on the curve, in the subgroup of prime order. Points keep their Montgomery form.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/curve/points.hpp"
#include "common/curve/subgroup.hpp"
#include "common/curve/subgroup.hpp"
#include "common/formats/zkey.hpp"
#include "common/groth16/point_bytes.hpp"
#include "common/result.hpp"
#include "common/thread_pool.hpp"
#include "synth_worker/keys/conversion_meter.hpp"

namespace cuzk {

// Raw points of a zkey: affine, Montgomery form, all zeros for infinity, at any alignment.
struct RawPoints {
  const Zkey& zkey;
  ZkeySection section;
  std::span<const std::byte> bytes;
};

// The weight of one point's checks in ConversionMeter units.
template <class Group>
inline constexpr std::uint64_t kPointWork = kPointBytes<Group> > 96 ? 4 : 1;

template <class Params>
bool read_montgomery(const std::byte* bytes, Fp<Params>& value) {
  typename Fp<Params>::Integer raw;
  std::memcpy(&raw, bytes, sizeof raw);
  if (!Fp<Params>::is_canonical(raw)) return false;
  value = Fp<Params>::from_raw(raw);
  return true;
}
template <class Base>
bool read_montgomery(const std::byte* bytes, Fp2<Base>& value) {
  return read_montgomery(bytes, value.c0) &&
         read_montgomery(bytes + field_bytes(static_cast<const Base*>(nullptr)), value.c1);
}

// What is wrong with a raw point, or nullptr after a success.
template <class Group>
const char* read_checked_point(const std::byte* bytes, Affine<Group>& point) {
  if (!read_montgomery(bytes, point.x) ||
      !read_montgomery(bytes + kPointBytes<Group> / 2, point.y)) {
    return "a coordinate is not below the modulus of the base field";
  }
  if (point.is_infinity()) return nullptr;
  if (!is_on_curve(point)) return "the point is not on the curve";
  if (!is_in_subgroup(point)) return "the point is not in the subgroup of prime order";
  return nullptr;
}

inline Error point_error(const RawPoints& points, std::span<const std::byte> point,
                         std::string_view title, std::string what) {
  return bad_request(std::move(what), points.zkey.where(points.section, point, title),
                     "make or download the key again");
}

// out[i] = point number indices[i] of `points`; in blocks, so that progress is told and a stop is heard.
// Fails with kBadRequest for the faulty point that comes first in its block.
template <class Group>
Status copy_points(const RawPoints& points, std::span<const std::uint32_t> indices,
                   std::span<Affine<Group>> out, ThreadPool& pool, ConversionMeter& meter) {
  constexpr std::size_t kBlock = 16384;
  constexpr std::size_t kGrain = 256;
  constexpr std::size_t kSize = kPointBytes<Group>;
  const auto raw = [&](std::size_t i) {
    return points.bytes.data() + std::size_t{indices[i]} * kSize;
  };
  for (std::size_t begin = 0; begin < indices.size(); begin += kBlock) {
    const std::size_t end = std::min(indices.size(), begin + kBlock);
    std::atomic<std::size_t> first_fault = end;
    pool.parallel_for(begin, end, kGrain, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        if (read_checked_point(raw(i), out[i]) == nullptr) continue;
        std::size_t known = first_fault.load(std::memory_order_relaxed);
        while (i < known &&
               !first_fault.compare_exchange_weak(known, i, std::memory_order_relaxed)) {
        }
        return;
      }
    });
    if (const std::size_t fault = first_fault.load(std::memory_order_relaxed); fault != end) {
      return point_error(points, points.bytes.subspan(indices[fault] * kSize, kSize),
                         fmt::format("point {}", indices[fault]),
                         read_checked_point(raw(fault), out[fault]));
    }
    CUZK_CHECK(meter.advance("checking points", (end - begin) * kPointWork<Group>));
  }
  return {};
}

// One point that must not be infinity.
template <class Group>
Status copy_fixed_point(const RawPoints& points, std::string_view title, Affine<Group>& out) {
  const char* fault = read_checked_point(points.bytes.data(), out);
  if (fault == nullptr && out.is_infinity()) fault = "the point is infinity";
  if (fault != nullptr) return point_error(points, points.bytes, title, fault);
  return {};
}

// Whether all bytes of one raw point are zero.
template <class Group>
bool is_infinity_at(std::span<const std::byte> points, std::size_t index) {
  const auto point = points.subspan(index * kPointBytes<Group>, kPointBytes<Group>);
  return std::all_of(point.begin(), point.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace cuzk
