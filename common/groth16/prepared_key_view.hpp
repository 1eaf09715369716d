// The arrays of a prepared key with their types.
//
// The reader of the file (prepared_key.hpp) does not know points or field elements; this is where its
// bytes get their types back. Views point into the mapping: they live no longer than their PreparedKey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "common/curve/curves.hpp"
#include "common/curve/points.hpp"
#include "common/groth16/prepared_key.hpp"
#include "common/groth16/verifying_key.hpp"

namespace cuzk {

// A sparse matrix row by row. Row i is the sum over t in [row_start[i], row_start[i+1]) of
// coefficients[term_coefficients[t]] * w[term_variables[t]]. Rows from n_rows on are empty.
template <class Fr>
struct MatrixView {
  std::span<const std::uint32_t> row_start;
  std::span<const std::uint32_t> term_variables;
  std::span<const std::uint32_t> term_coefficients;
  std::span<const Fr> coefficients;  // v * R^2: see KeySection::kCoefficients

  std::size_t n_rows() const { return row_start.size() - 1; }
};

template <class Curve>
struct PreparedKeyView {
  using Fr = typename Curve::Fr;
  using G1 = Affine<G1Of<Curve>>;
  using G2 = Affine<G2Of<Curve>>;
  static_assert(std::is_trivially_copyable_v<G1> && std::is_trivially_copyable_v<G2>);
  static_assert(sizeof(G1) == g1_bytes(Curve::kId) && sizeof(G2) == g2_bytes(Curve::kId));
  static_assert(sizeof(Fr) == kScalarBytes && std::is_trivially_copyable_v<Fr>);

  KeyShape shape;
  G1 alpha1, beta1, delta1;
  G2 beta2, gamma2, delta2;
  std::span<const G1> ic;
  std::span<const G1> a;
  std::span<const std::uint32_t> a_variables;
  std::span<const G1> b1;
  std::span<const G2> b2;
  std::span<const std::uint32_t> b_variables;  // of b1 and b2
  std::span<const G1> l;
  std::span<const std::uint32_t> l_variables;
  std::span<const G1> h;
  MatrixView<Fr> matrix_a;
  MatrixView<Fr> matrix_b;

  VerifyingKey<Curve> verifying_key() const {
    return {alpha1, beta2, gamma2, delta2, {ic.begin(), ic.end()}};
  }
};

// `key.curve()` must be Curve::kId.
template <class Curve>
PreparedKeyView<Curve> view_of(const PreparedKey& key) {
  using View = PreparedKeyView<Curve>;
  using Fr = typename Curve::Fr;
  const auto indices = [&key](KeySection id) { return key.array<std::uint32_t>(id); };
  const auto g1 = [&key](KeySection id) { return key.array<typename View::G1>(id); };
  View view;
  view.shape = key.shape();
  const auto fixed_g1 = g1(KeySection::kFixedG1);
  view.alpha1 = fixed_g1[0];
  view.beta1 = fixed_g1[1];
  view.delta1 = fixed_g1[2];
  const auto fixed_g2 = key.array<typename View::G2>(KeySection::kFixedG2);
  view.beta2 = fixed_g2[0];
  view.gamma2 = fixed_g2[1];
  view.delta2 = fixed_g2[2];
  view.ic = g1(KeySection::kIc);
  view.a = g1(KeySection::kA);
  view.a_variables = indices(KeySection::kAVariables);
  view.b1 = g1(KeySection::kB1);
  view.b2 = key.array<typename View::G2>(KeySection::kB2);
  view.b_variables = indices(KeySection::kBVariables);
  view.l = g1(KeySection::kL);
  view.l_variables = indices(KeySection::kLVariables);
  view.h = g1(KeySection::kH);
  const auto coefficients = key.array<Fr>(KeySection::kCoefficients);
  view.matrix_a = {indices(KeySection::kARowStart), indices(KeySection::kATermVariables),
                   indices(KeySection::kATermCoefficients), coefficients};
  view.matrix_b = {indices(KeySection::kBRowStart), indices(KeySection::kBTermVariables),
                   indices(KeySection::kBTermCoefficients), coefficients};
  return view;
}

}  // namespace cuzk
