// The parts that know nothing of curves: windows, digits, sorting by scalar, the plan.
#include <random>

#include <gtest/gtest.h>

#include "common/msm/recoding.hpp"
#include "common/msm/scalar_sorting.hpp"
#include "common/msm/window_plan.hpp"

namespace cuzk::msm_detail {
namespace {

// sum_w digit_w 2^offset_w modulo 2^256.
Scalar recomposed(const Recoder& recoder, const std::vector<Window>& windows,
                  const Scalar& scalar) {
  Scalar sum{};
  for (const Window& window : windows) {
    const std::int32_t digit = recoder.digit(scalar, window);
    EXPECT_LE(static_cast<std::size_t>(digit < 0 ? -digit : digit), window.buckets());
    Scalar term{};
    const std::uint64_t magnitude =
        static_cast<std::uint64_t>(digit < 0 ? -std::int64_t{digit} : digit);
    const unsigned limb = window.offset / 64;
    const unsigned shift = window.offset % 64;
    term[limb] = magnitude << shift;
    if (shift > 0 && limb + 1 < kScalarLimbs) term[limb + 1] = magnitude >> (64 - shift);
    if (digit < 0) {
      subtract(sum, sum, term);
    } else {
      add(sum, sum, term);
    }
  }
  return sum;
}

TEST(Recoder, DigitsAddUpToTheScalarForEveryCutOfEveryLength) {
  const std::uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  for (unsigned bits = 1; bits <= kMaxScalarBits; ++bits) {
    std::vector<Scalar> scalars(6);
    for (std::size_t i = 0; i < kScalarLimbs; ++i) {
      const unsigned in_limb =
          bits > 64 * i ? std::min(64u, bits - static_cast<unsigned>(64 * i)) : 0;
      const std::uint64_t mask = in_limb == 0 ? 0 : UINT64_MAX >> (64 - in_limb);
      scalars[0][i] = mask;  // the largest
      for (std::size_t s = 2; s < scalars.size(); ++s) scalars[s][i] = random() & mask;
    }
    scalars[1][(bits - 1) / 64] = std::uint64_t{1} << ((bits - 1) % 64);
    for (unsigned count = 1; count <= bits; ++count) {
      if ((bits + count) / count > 24) continue;
      const std::vector<Window> windows = cut_windows(bits, count);
      unsigned offset = 0;
      for (const Window& window : windows) {
        ASSERT_EQ(window.offset, offset);
        offset += window.bits;
      }
      ASSERT_EQ(offset, bits + 1);
      const Recoder recoder(windows);
      for (const Scalar& scalar : scalars) {
        ASSERT_EQ(recomposed(recoder, windows, scalar), scalar)
            << bits << " bits, " << count << " windows";
      }
    }
  }
}

TEST(WindowPlan, CoversTheScalarWithinTheLimits) {
  const UnitCosts costs{.inversion = 8, .plain_add = 1.25, .plain_bucket = 3, .read_digit = 0.05};
  for (const unsigned threads : {1u, 2u, 3u, 16u, 96u}) {
    for (const unsigned bits : {1u, 2u, 8u, 64u, 254u, 255u}) {
      for (std::size_t points = 1; points < std::size_t{1} << 28; points = points * 3 + 1) {
        for (const std::size_t max_buckets :
             {std::size_t{2}, std::size_t{1} << 13, std::size_t{1} << 20}) {
          const WindowPlan plan =
              plan_windows(points, bits, threads, costs, {64, max_buckets, 512});
          ASSERT_FALSE(plan.windows.empty());
          ASSERT_EQ(plan.windows, cut_windows(bits, static_cast<unsigned>(plan.windows.size())));
          ASSERT_LE(plan.buckets(), max_buckets);
          ASSERT_LE(plan.batch, 512u);
          ASSERT_GE(plan.parts, 1u);
          ASSERT_LE(plan.parts, threads);
          ASSERT_LE(plan.split, plan.windows.size());
        }
      }
    }
  }
}

// With 2^17 wide scalars all threads are worth their number, but for the buckets of more parts.
TEST(WindowPlan, LeavesNoThreadIdle) {
  const UnitCosts costs{.inversion = 8, .plain_add = 1.25, .plain_bucket = 3, .read_digit = 0.05};
  const PlanLimits limits{64, 16384, 512};
  const double alone = plan_windows(1 << 17, 254, 1, costs, limits).cost;
  for (const unsigned threads : {2u, 3u, 4u, 8u, 16u}) {
    const double cost = plan_windows(1 << 17, 254, threads, costs, limits).cost;
    EXPECT_LT(cost, 1.15 * alone / threads) << threads;
  }
}

TEST(ScalarSorting, SortsLikeTheDefinitionInTheOrderOfThePoints) {
  const std::uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  for (const unsigned threads : {1u, 3u}) {
    ThreadPool pool(threads);
    for (const std::size_t count : {0, 1, 100, 8192, 8193, 50000}) {
      std::vector<Scalar> scalars(count + 5);
      for (Scalar& scalar : scalars) {
        scalar = {};
        switch (random() % 4) {
          case 0:
            break;
          case 1:
            scalar[0] = 1;
            break;
          case 2:
            scalar[0] = (random() >> 20) + 2;
            break;
          default:
            scalar[1 + random() % 2] = random() | 1;
        }
      }
      for (const bool indexed : {false, true}) {
        std::vector<std::uint32_t> indices;
        for (std::size_t i = 0; indexed && i < count; ++i) {
          indices.push_back(static_cast<std::uint32_t>(random() % scalars.size()));
        }
        std::vector<std::uint32_t> ones, narrow, wide;
        for (std::uint32_t i = 0; i < count; ++i) {
          const Scalar& s = scalars[indexed ? indices[i] : i];
          if ((s[1] | s[2] | s[3]) != 0) {
            wide.push_back(i);
          } else if (s[0] > 1) {
            narrow.push_back(i);
          } else if (s[0] == 1) {
            ones.push_back(i);
          }
        }
        const SortedPoints sorted = sort_by_scalar(count, scalars, indices, pool);
        const auto list = [](std::span<const std::uint32_t> span) {
          return std::vector<std::uint32_t>(span.begin(), span.end());
        };
        EXPECT_EQ(list(sorted.one_points()), ones);
        EXPECT_EQ(list(sorted.narrow_points()), narrow);
        EXPECT_EQ(list(sorted.wide_points()), wide);
        EXPECT_LE(sorted.narrow_bits, 45u);
        EXPECT_LE(sorted.wide_bits, 192u);
        if (wide.size() > 100) {
          EXPECT_GE(sorted.wide_bits, 185u);
        }
      }
    }
  }
}

}  // namespace
}  // namespace cuzk::msm_detail
