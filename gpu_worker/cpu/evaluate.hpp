// The step `evaluate`: the constraint values a = A w, b = B w and c = a * b, row by row.
//
// Coefficients lie in the key as v * R^2 and the witness is canonical, so one Montgomery multiplication
// gives v * w in Montgomery form, with no conversion of the witness. Most coefficients are 1 or -1: their
// variables are only added, and one multiplication by R^2 converts the sum of a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/groth16/prepared_key_view.hpp"
#include "common/thread_pool.hpp"

namespace cuzk {

// Evaluates rows of one matrix. `witness` holds canonical integers, one a variable.
template <class Fr>
class RowEvaluator {
 public:
  RowEvaluator(const MatrixView<Fr>& matrix, std::span<const typename Fr::Integer> witness)
      : matrix_(matrix), witness_(witness) {
    const Fr minus_r_squared = -r_squared_;
    for (std::size_t i = 0; i < matrix.coefficients.size(); ++i) {
      if (matrix.coefficients[i] == r_squared_) one_ = static_cast<std::uint32_t>(i);
      if (matrix.coefficients[i] == minus_r_squared) minus_one_ = static_cast<std::uint32_t>(i);
    }
  }

  Fr operator()(std::size_t row) const {
    Fr sum = Fr::zero();
    Fr plain = Fr::zero();  // the terms with coefficient 1 or -1, canonical
    for (std::size_t t = matrix_.row_start[row]; t < matrix_.row_start[row + 1]; ++t) {
      const Fr w = Fr::from_raw(witness_[matrix_.term_variables[t]]);
      const std::uint32_t coefficient = matrix_.term_coefficients[t];
      if (coefficient == one_) {
        plain = plain + w;
      } else if (coefficient == minus_one_) {
        plain = plain - w;
      } else {
        sum = sum + matrix_.coefficients[coefficient] * w;
      }
    }
    return plain.is_zero() ? sum : sum + plain * r_squared_;
  }

 private:
  static constexpr std::uint32_t kAbsent = UINT32_MAX;

  MatrixView<Fr> matrix_;
  std::span<const typename Fr::Integer> witness_;
  // R^2 as it lies in memory: the Montgomery form of R, whose integer is the memory of one.
  Fr r_squared_ = Fr::from_integer(Fr::one().raw());
  std::uint32_t one_ = kAbsent;
  std::uint32_t minus_one_ = kAbsent;
};

// Fills the first n_rows elements of a, b and c, in Montgomery form; the rest stays as it is.
template <class Fr>
void evaluate(const MatrixView<Fr>& matrix_a, const MatrixView<Fr>& matrix_b,
              std::span<const typename Fr::Integer> witness, std::span<Fr> a, std::span<Fr> b,
              std::span<Fr> c, ThreadPool& pool) {
  constexpr std::size_t kGrain = 1024;  // rows; some ten microseconds
  const RowEvaluator<Fr> row_of_a(matrix_a, witness);
  const RowEvaluator<Fr> row_of_b(matrix_b, witness);
  pool.parallel_for(0, matrix_a.n_rows(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      a[row] = row_of_a(row);
      b[row] = row_of_b(row);
      c[row] = a[row] * b[row];
    }
  });
}

}  // namespace cuzk
