// The layers of a transform, arranged so that a pass over memory does as many of them as fit in
// cache.
//
// One layer cuts every block of 2h elements into its two halves and needs one power of the root for
// the whole block. With the powers stored in bit-reversed order, block b of any layer uses entry b,
// so a layer of 2^k blocks reads the first 2^k entries in sequence, whatever the size of the
// transform:
//
//   split, natural to bit-reversed order (Cooley-Tukey):    (a, b) -> (a + t b, a - t b)
//   join, bit-reversed to natural order (Gentleman-Sande):  (a, b) -> (a + b, (a - b) t)
//
// With t_b = w^rev(b), split computes the transform with root w, and so does join. The transform
// with 1/w needs 1/t_b, which is -t_b' where b' mirrors b inside its power-of-two group (1 | 2 3 |
// 4 5 6 7 | ...): negating rev(b) modulo a power of two keeps its lowest set bit and flips the bits
// above, and reversed these are the bits below b's highest. So the inverse reads the same table
// backwards.
//
// A large transform is a matrix of 2^k rows: its first k layers act on columns, copied to a small
// buffer some columns at a time, because rows lie a power of two apart and would fight for the same
// cache sets. The rest are transforms of the rows. A row of up to 2^kCacheLog elements is done
// where it lies.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace cuzk::ntt {

// 2^12 elements are 128 KiB: a quarter of a Zen 3 core's L2. Chosen with bench_transform
// --benchmark_filter=ntt.
inline constexpr unsigned kCacheLog = 12;
// The buffer for columns: 2^7 rows of 8 elements (256 bytes, four cache lines each) are 32 KiB.
inline constexpr unsigned kMaxColumnLayers = 7;
inline constexpr std::size_t kColumnWidth = 8;

enum class Root { kForward, kInverse };

template <class Fr, Root kRoot>
class Layers {
 public:
  // `twiddles` must hold every power that the blocks below ask for.
  explicit Layers(const Fr* twiddles) : twiddles_(twiddles) {}

  // The first `layers` splitting layers of block `block`, `length` contiguous elements.
  void split_layers(Fr* data, std::size_t length, unsigned layers, std::size_t block) const {
    for (unsigned layer = 0; layer < layers; ++layer) {
      const std::size_t half = length >> (layer + 1);
      const std::size_t blocks = std::size_t{1} << layer;
      for (std::size_t b = 0; b < blocks; ++b) {
        split_block(data + 2 * half * b, half, block * blocks + b);
      }
    }
  }

  // The last `layers` joining layers of block `block`: undoes split_layers up to a factor of
  // 2^layers when the roots are inverse to each other.
  void join_layers(Fr* data, std::size_t length, unsigned layers, std::size_t block) const {
    for (unsigned layer = layers; layer-- > 0;) {
      const std::size_t half = length >> (layer + 1);
      const std::size_t blocks = std::size_t{1} << layer;
      for (std::size_t b = 0; b < blocks; ++b) {
        join_block(data + 2 * half * b, half, block * blocks + b);
      }
    }
  }

  // The same on columns [first, last) of the matrix of 2^layers rows that the 2^log_m elements
  // form.
  void split_columns(Fr* data, unsigned log_m, unsigned layers, std::size_t block,
                     std::size_t first, std::size_t last) const {
    on_columns(data, log_m, layers, first, last, [&](Fr* buffer, std::size_t length) {
      split_layers(buffer, length, layers, block);
    });
  }
  void join_columns(Fr* data, unsigned log_m, unsigned layers, std::size_t block, std::size_t first,
                    std::size_t last) const {
    on_columns(data, log_m, layers, first, last,
               [&](Fr* buffer, std::size_t length) { join_layers(buffer, length, layers, block); });
  }

  // All log_m layers of block `block`.
  void split(Fr* data, unsigned log_m, std::size_t block) const {
    if (log_m <= kCacheLog) return split_layers(data, std::size_t{1} << log_m, log_m, block);
    const unsigned top = std::min(log_m - kCacheLog, kMaxColumnLayers);
    const std::size_t columns = std::size_t{1} << (log_m - top);
    split_columns(data, log_m, top, block, 0, columns);
    for (std::size_t row = 0; row < std::size_t{1} << top; ++row) {
      split(data + row * columns, log_m - top, (block << top) + row);
    }
  }
  void join(Fr* data, unsigned log_m, std::size_t block) const {
    if (log_m <= kCacheLog) return join_layers(data, std::size_t{1} << log_m, log_m, block);
    const unsigned top = std::min(log_m - kCacheLog, kMaxColumnLayers);
    const std::size_t columns = std::size_t{1} << (log_m - top);
    for (std::size_t row = 0; row < std::size_t{1} << top; ++row) {
      join(data + row * columns, log_m - top, (block << top) + row);
    }
    join_columns(data, log_m, top, block, 0, columns);
  }

 private:
  // For kForward t_b; for kInverse minus the inverse of t_b (see above). Not for block 0, where t
  // is 1.
  const Fr& twiddle(std::size_t block) const {
    if constexpr (kRoot == Root::kForward) return twiddles_[block];
    return twiddles_[3 * std::bit_floor(block) - 1 - block];
  }

  void split_block(Fr* data, std::size_t half, std::size_t block) const {
    if (block == 0) return sum_and_difference(data, half);
    const Fr t = twiddle(block);
    for (std::size_t i = 0; i < half; ++i) {
      const Fr a = data[i];
      const Fr b = data[i + half] * t;
      data[i] = kRoot == Root::kForward ? a + b : a - b;
      data[i + half] = kRoot == Root::kForward ? a - b : a + b;
    }
  }

  void join_block(Fr* data, std::size_t half, std::size_t block) const {
    if (block == 0) return sum_and_difference(data, half);
    const Fr t = twiddle(block);
    for (std::size_t i = 0; i < half; ++i) {
      const Fr a = data[i];
      const Fr b = data[i + half];
      data[i] = a + b;
      data[i + half] = (kRoot == Root::kForward ? a - b : b - a) * t;
    }
  }

  static void sum_and_difference(Fr* data, std::size_t half) {
    for (std::size_t i = 0; i < half; ++i) {
      const Fr a = data[i];
      const Fr b = data[i + half];
      data[i] = a + b;
      data[i + half] = a - b;
    }
  }

  template <class Body>
  static void on_columns(Fr* data, unsigned log_m, unsigned layers, std::size_t first,
                         std::size_t last, const Body& body) {
    alignas(64) std::array<Fr, kColumnWidth << kMaxColumnLayers> buffer;
    const std::size_t rows = std::size_t{1} << layers;
    const std::size_t stride = std::size_t{1} << (log_m - layers);
    for (std::size_t column = first; column < last; column += kColumnWidth) {
      const std::size_t width = std::min(kColumnWidth, last - column);
      for (std::size_t row = 0; row < rows; ++row) {
        std::copy_n(data + row * stride + column, width, buffer.data() + row * width);
      }
      body(buffer.data(), rows * width);
      for (std::size_t row = 0; row < rows; ++row) {
        std::copy_n(buffer.data() + row * width, width, data + row * stride + column);
      }
    }
  }

  const Fr* twiddles_;
};

}  // namespace cuzk::ntt
