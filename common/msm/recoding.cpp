// How the bits of a scalar are shared out to windows.
//
// Kept apart from the reading of digits because it runs once per multiplication.
#include "common/msm/recoding.hpp"

namespace cuzk::msm_detail {

std::vector<Window> cut_windows(unsigned scalar_bits, unsigned count) {
  // One bit more than the scalar has: a signed digit spends one on its sign, and the highest, which
  // is unsigned, has as many buckets as a signed one that is a bit wider.
  const unsigned total = scalar_bits + 1;
  std::vector<Window> windows(count);
  unsigned offset = 0;
  for (unsigned i = 0; i < count; ++i) {
    // The wider windows come first, so that the highest never is one of them unless all are.
    const unsigned bits = total / count + (i < total % count ? 1 : 0);
    windows[i] = {offset, bits, i + 1 == count};
    offset += bits;
  }
  return windows;
}

Recoder::Recoder(const std::vector<Window>& windows) {
  for (const Window& window : windows) {
    if (window.highest) continue;
    const unsigned bit = window.offset + window.bits - 1;
    constant_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
}

}  // namespace cuzk::msm_detail
