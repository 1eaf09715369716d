// The definitions behind ntt.hpp, included by the one file per curve that instantiates them.
//
// A transform over several threads has the shape of layers.hpp: columns in parallel, then rows in
// parallel. What happens between the splitting and the joining half (the powers of a shift) is done
// row by row while the row is in cache, so to_coset reads and writes the array three times in all.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "common/ntt/layers.hpp"
#include "common/ntt/ntt.hpp"

namespace cuzk {
namespace ntt {

// Below 2^kSerialLog elements waking another thread costs more than it saves (bench_transform,
// ntt).
inline constexpr unsigned kSerialLog = 9;
// Positions are split into high bits, one power each per row, and this many low bits, from a table.
inline constexpr unsigned kShiftTableLog = 10;
inline constexpr std::size_t kPointwiseGrain = 4096;

// The low `bits` bits of `value` in opposite order.
constexpr std::size_t reverse_bits(std::size_t value, unsigned bits) {
  if (bits == 0) return 0;
  std::uint64_t v = value;
  v = ((v >> 1) & 0x5555555555555555) | ((v & 0x5555555555555555) << 1);
  v = ((v >> 2) & 0x3333333333333333) | ((v & 0x3333333333333333) << 2);
  v = ((v >> 4) & 0x0f0f0f0f0f0f0f0f) | ((v & 0x0f0f0f0f0f0f0f0f) << 4);
  return static_cast<std::size_t>(__builtin_bswap64(v) >> (64 - bits));
}

template <class Fr>
Fr power(const Fr& base, std::uint64_t exponent) {
  return base.pow(std::span<const std::uint64_t>(&exponent, 1));
}

// How a transform of 2^log_n elements is cut: into 2^top rows, enough of them for all threads.
inline unsigned top_layers(unsigned log_n, unsigned threads) {
  unsigned top = log_n > kCacheLog ? log_n - kCacheLog : 0;
  if (threads > 1 && log_n >= kSerialLog) {
    const unsigned wanted = static_cast<unsigned>(std::bit_width(4 * threads - 1));
    top = std::max(top, std::min(wanted, log_n / 2));
  }
  return std::min(top, kMaxColumnLayers);
}

// What a transform does: with which halves, and `middle(row, first, count)` between them, where
// `first` is the row's position in the array.
template <bool kSplit, bool kJoin, class Fr, class SplitLayers, class JoinLayers, class Middle>
void transform(std::span<Fr> values, unsigned log_n, const SplitLayers& splitter,
               const JoinLayers& joiner, ThreadPool& pool, const Middle& middle) {
  Fr* const data = values.data();
  const unsigned top = top_layers(log_n, pool.threads());
  const unsigned log_row = log_n - top;
  const std::size_t columns = std::size_t{1} << log_row;
  // Pieces are whole groups of columns, and at most a few per thread.
  const std::size_t pieces = std::size_t{8} * pool.threads();
  const std::size_t grain = std::max(kColumnWidth, columns / pieces / kColumnWidth * kColumnWidth);
  if (kSplit && top > 0) {
    pool.parallel_for(0, columns, grain, [&](std::size_t first, std::size_t last) {
      splitter.split_columns(data, log_n, top, 0, first, last);
    });
  }
  pool.parallel_for(0, std::size_t{1} << top, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t row = first; row < last; ++row) {
      Fr* const begin = data + row * columns;
      if (kSplit) splitter.split(begin, log_row, row);
      middle(begin, row * columns, columns);
      if (kJoin) joiner.join(begin, log_row, row);
    }
  });
  if (kJoin && top > 0) {
    pool.parallel_for(0, columns, grain, [&](std::size_t first, std::size_t last) {
      joiner.join_columns(data, log_n, top, 0, first, last);
    });
  }
}

}  // namespace ntt

template <class Fr>
unsigned two_adicity() {
  const auto minus_one = (-Fr::one()).to_integer();
  unsigned bits = 0;
  while (((minus_one[bits / 64] >> (bits % 64)) & 1) == 0) ++bits;
  return bits;
}

template <class Fr>
Fr root_of_unity(unsigned log_n, const Fr& non_residue) {
  const unsigned s = two_adicity<Fr>();
  auto t = (-Fr::one()).to_integer();
  for (unsigned shift = 0; shift < s; ++shift) {
    for (std::size_t i = 0; i < t.size(); ++i) {
      t[i] = (t[i] >> 1) | (i + 1 < t.size() ? t[i + 1] << 63 : 0);
    }
  }
  Fr root = non_residue.pow(std::span<const std::uint64_t>(t.data(), t.size()));
  for (unsigned i = log_n; i < s; ++i) root = root.square();
  return root;
}

template <class Fr>
NttDomain<Fr>::NttDomain(unsigned log_n, const Fr& root, const Fr& shift, ThreadPool& pool)
    : log_n_(log_n),
      root_(root),
      shift_(shift),
      inverse_size_(Fr::from_u64(std::uint64_t{1} << log_n).inverse()),
      twiddles_(std::max<std::size_t>(size() / 2, 1), Fr::one()),
      forward_shift_(shift_powers(shift)),
      inverse_shift_(shift_powers(shift.inverse())) {
  // Bit t of a position stands for w^(n / 2^(t+2)): each power doubles what is filled.
  for (std::size_t filled = 1; filled < twiddles_.size(); filled *= 2) {
    const Fr step = ntt::power(root, size() / (4 * filled));
    pool.parallel_for(0, filled, ntt::kPointwiseGrain, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) twiddles_[filled + i] = twiddles_[i] * step;
    });
  }
}

template <class Fr>
NttDomain<Fr> NttDomain<Fr>::snarkjs(unsigned log_n, ThreadPool& pool) {
  const Fr shift = root_of_unity<Fr>(log_n + 1, Fr::from_u64(5));
  return NttDomain(log_n, shift.square(), shift, pool);
}

template <class Fr>
std::size_t NttDomain<Fr>::table_size(unsigned log_n) {
  const std::size_t n = std::size_t{1} << log_n;
  return std::max<std::size_t>(n / 2, 1) +
         2 * (std::size_t{1} << std::min(log_n, ntt::kShiftTableLog));
}

template <class Fr>
typename NttDomain<Fr>::ShiftPowers NttDomain<Fr>::shift_powers(const Fr& base) const {
  const unsigned bits = std::min(log_n_, ntt::kShiftTableLog);
  ShiftPowers powers{base, std::vector<Fr>(std::size_t{1} << bits, Fr::one())};
  for (std::size_t filled = 1; filled < powers.low.size(); filled *= 2) {
    const Fr step = ntt::power(base, size() / (2 * filled));
    for (std::size_t i = 0; i < filled; ++i) powers.low[filled + i] = powers.low[i] * step;
  }
  return powers;
}

template <class Fr>
void NttDomain<Fr>::scale(Fr* data, std::size_t first, std::size_t count, const ShiftPowers& powers,
                          const Fr& constant) const {
  const std::size_t low_size = powers.low.size();
  const unsigned low_bits = static_cast<unsigned>(std::countr_zero(low_size));
  for (std::size_t done = 0; done < count;) {
    const std::size_t position = first + done;
    const std::size_t low = position & (low_size - 1);
    const std::size_t piece = std::min(count - done, low_size - low);
    const std::size_t high = ntt::reverse_bits(position >> low_bits, log_n_ - low_bits);
    const Fr factor = constant * ntt::power(powers.base, high);
    for (std::size_t i = 0; i < piece; ++i) {
      data[done + i] = data[done + i] * (powers.low[low + i] * factor);
    }
    done += piece;
  }
}

template <class Fr>
void NttDomain<Fr>::reverse_order(std::span<Fr> values, ThreadPool& pool) const {
  pool.parallel_for(0, size(), ntt::kPointwiseGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t j = ntt::reverse_bits(i, log_n_);
      if (i < j) std::swap(values[i], values[j]);
    }
  });
}

template <class Fr>
void NttDomain<Fr>::forward(std::span<Fr> values, ThreadPool& pool) const {
  const ntt::Layers<Fr, ntt::Root::kForward> layers(twiddles_.data());
  reverse_order(values, pool);
  ntt::transform<false, true>(values, log_n_, layers, layers, pool,
                              [](Fr*, std::size_t, std::size_t) {});
}

template <class Fr>
void NttDomain<Fr>::inverse(std::span<Fr> values, ThreadPool& pool) const {
  const ntt::Layers<Fr, ntt::Root::kInverse> layers(twiddles_.data());
  ntt::transform<true, false>(values, log_n_, layers, layers, pool,
                              [&](Fr* row, std::size_t, std::size_t count) {
                                for (std::size_t i = 0; i < count; ++i)
                                  row[i] = row[i] * inverse_size_;
                              });
  reverse_order(values, pool);
}

template <class Fr>
void NttDomain<Fr>::forward_coset(std::span<Fr> values, ThreadPool& pool) const {
  const ntt::Layers<Fr, ntt::Root::kForward> layers(twiddles_.data());
  reverse_order(values, pool);
  ntt::transform<false, true>(values, log_n_, layers, layers, pool,
                              [&](Fr* row, std::size_t first, std::size_t count) {
                                scale(row, first, count, forward_shift_, Fr::one());
                              });
}

template <class Fr>
void NttDomain<Fr>::inverse_coset(std::span<Fr> values, ThreadPool& pool) const {
  const ntt::Layers<Fr, ntt::Root::kInverse> layers(twiddles_.data());
  ntt::transform<true, false>(values, log_n_, layers, layers, pool,
                              [&](Fr* row, std::size_t first, std::size_t count) {
                                scale(row, first, count, inverse_shift_, inverse_size_);
                              });
  reverse_order(values, pool);
}

template <class Fr>
void NttDomain<Fr>::to_coset(std::span<Fr> values, ThreadPool& pool) const {
  const ntt::Layers<Fr, ntt::Root::kInverse> splitter(twiddles_.data());
  const ntt::Layers<Fr, ntt::Root::kForward> joiner(twiddles_.data());
  ntt::transform<true, true>(values, log_n_, splitter, joiner, pool,
                             [&](Fr* row, std::size_t first, std::size_t count) {
                               scale(row, first, count, forward_shift_, inverse_size_);
                             });
}

}  // namespace cuzk
