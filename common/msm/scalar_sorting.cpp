// Two passes over the scalars: the first counts per stretch of points, the second writes the lists.
//
// Each stretch knows after the counting where its points belong, so that threads never meet.
#include "common/msm/scalar_sorting.hpp"

#include <array>
#include <bit>

namespace cuzk::msm_detail {
namespace {

enum Kind : std::size_t { kOne, kNarrow, kWide, kZero, kKinds };

// Points a thread takes at a time: 256 KiB of scalars.
constexpr std::size_t kStretch = 8192;

Kind kind_of(const Scalar& scalar) {
  const std::uint64_t high = scalar[1] | scalar[2] | scalar[3];
  if (high != 0) return kWide;
  if (scalar[0] > 1) return kNarrow;
  return scalar[0] == 1 ? kOne : kZero;
}

struct Stretch {
  std::array<std::size_t, kKinds> count{};
  std::uint64_t narrow_union = 0;
  Scalar wide_union{};
};

unsigned bit_length(const Scalar& scalar) {
  for (std::size_t i = kScalarLimbs; i-- > 0;) {
    if (scalar[i] != 0)
      return static_cast<unsigned>(64 * i) + static_cast<unsigned>(std::bit_width(scalar[i]));
  }
  return 0;
}

}  // namespace

SortedPoints sort_by_scalar(std::size_t points, std::span<const Scalar> scalars,
                            std::span<const std::uint32_t> indices, ThreadPool& pool) {
  const auto scalar_of = [&](std::size_t i) -> const Scalar& {
    return scalars[indices.empty() ? i : indices[i]];
  };
  std::vector<Stretch> stretches((points + kStretch - 1) / kStretch);
  pool.parallel_for(0, points, kStretch, [&](std::size_t first, std::size_t last) {
    Stretch stretch;
    for (std::size_t i = first; i < last; ++i) {
      const Scalar& scalar = scalar_of(i);
      const Kind kind = kind_of(scalar);
      ++stretch.count[kind];
      if (kind == kNarrow) stretch.narrow_union |= scalar[0];
      if (kind == kWide) {
        for (std::size_t limb = 0; limb < kScalarLimbs; ++limb)
          stretch.wide_union[limb] |= scalar[limb];
      }
    }
    stretches[first / kStretch] = stretch;
  });

  std::array<std::size_t, kKinds> total{};
  Stretch all;
  for (const Stretch& stretch : stretches) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) total[kind] += stretch.count[kind];
    all.narrow_union |= stretch.narrow_union;
    for (std::size_t limb = 0; limb < kScalarLimbs; ++limb)
      all.wide_union[limb] |= stretch.wide_union[limb];
  }
  // From counts to places.
  std::array<std::size_t, kKinds> next{0, total[kOne], total[kOne] + total[kNarrow], 0};
  for (Stretch& stretch : stretches) {
    for (std::size_t kind = 0; kind < kZero; ++kind) {
      const std::size_t count = stretch.count[kind];
      stretch.count[kind] = next[kind];
      next[kind] += count;
    }
  }
  SortedPoints sorted;
  sorted.order.resize(total[kOne] + total[kNarrow] + total[kWide]);
  pool.parallel_for(0, points, kStretch, [&](std::size_t first, std::size_t last) {
    std::array<std::size_t, kKinds> place = stretches[first / kStretch].count;
    for (std::size_t i = first; i < last; ++i) {
      const Kind kind = kind_of(scalar_of(i));
      if (kind != kZero) sorted.order[place[kind]++] = static_cast<std::uint32_t>(i);
    }
  });
  sorted.ones = total[kOne];
  sorted.narrow = total[kNarrow];
  sorted.wide = total[kWide];
  sorted.narrow_bits = static_cast<unsigned>(std::bit_width(all.narrow_union));
  sorted.wide_bits = bit_length(all.wide_union);
  return sorted;
}

}  // namespace cuzk::msm_detail
