// The matrices A and B of a zkey, turned from a list of coefficients into rows.
//
// A zkey lists (matrix, constraint, signal, value) in an order that is usual but not promised. Engines
// want rows, so that a row is one sum that one thread computes; and they want few distinct values, so
// equal values are stored once and named by number. Values stay the bytes they are: no arithmetic here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cuzk {

class MatrixBuilder {
 public:
  using Value = std::array<std::uint64_t, 4>;

  // Bytes of one entry: u32 matrix, u32 constraint, u32 signal, 32 bytes of value.
  static constexpr std::size_t kEntryBytes = 44;

  // `entries`: a whole number of entries whose matrix is 0 or 1 and whose constraint is below 2^32 - 1;
  // they are read again by fill() and must stay. Needs 4 bytes an entry.
  explicit MatrixBuilder(std::span<const std::byte> entries);

  std::uint64_t n_rows() const { return n_rows_; }
  std::uint64_t n_terms(int matrix) const { return n_terms_[static_cast<std::size_t>(matrix)]; }
  std::span<const Value> coefficients() const { return coefficients_; }

  // Writes one matrix; the spans have n_rows() + 1, n_terms(matrix) and n_terms(matrix) elements.
  void fill(int matrix, std::span<std::uint32_t> row_start, std::span<std::uint32_t> variables,
            std::span<std::uint32_t> coefficients) const;

 private:
  std::span<const std::byte> entries_;
  std::uint64_t n_rows_ = 0;
  std::array<std::uint64_t, 2> n_terms_{};
  std::vector<Value> coefficients_;            // distinct, in order of appearance
  std::vector<std::uint32_t> entry_coefficient_;  // per entry, its value's index in coefficients_
};

}  // namespace cuzk
