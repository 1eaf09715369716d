// Number-theoretic transforms over the scalar field: evaluations on a domain to coefficients and
// back.
//
// A Groth16 quotient needs six of them per proof, always in pairs: evaluations on the domain to
// evaluations on a coset of it. `to_coset` does such a pair in one go and never reorders: the
// inverse half runs from natural to bit-reversed order, the powers of the shift are multiplied in
// where the coefficients lie, and the forward half runs back to natural order. Everything works in
// place, gives the same bits for every number of threads, and shares one table of n/2 powers of the
// root.
//
// w is the domain's root, g the coset's shift, n the size; f is the polynomial sum_j c_j X^j.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/curve/curves.hpp"
#include "common/thread_pool.hpp"

namespace cuzk {

// s of r - 1 = t * 2^s, t odd: 28 for BN254, 32 for BLS12-381.
template <class Fr>
unsigned two_adicity();

// The primitive 2^log_n-th root of unity (z^t)^(2^(s - log_n)). snarkjs takes z = 5 for both
// curves, bellperson z = 7 for BLS12-381. Preconditions: log_n <= two_adicity<Fr>(), z is not a
// square.
template <class Fr>
Fr root_of_unity(unsigned log_n, const Fr& non_residue);

template <class Fr>
class NttDomain {
 public:
  // `root` must be a primitive 2^log_n-th root of unity and `shift` not zero. Costs n/2
  // multiplications and allocates table_size(log_n) elements.
  NttDomain(unsigned log_n, const Fr& root, const Fr& shift, ThreadPool& pool);

  // snarkjs' domain: the root from 5, and as shift the primitive 2n-th root whose square is w, so
  // that the coset holds the odd powers of it. Precondition: log_n < two_adicity<Fr>().
  static NttDomain snarkjs(unsigned log_n, ThreadPool& pool);

  unsigned log_size() const { return log_n_; }
  std::size_t size() const { return std::size_t{1} << log_n_; }
  const Fr& root() const { return root_; }
  const Fr& shift() const { return shift_; }

  // Field elements that a domain of this size holds: n/2 for the roots, at most 2048 for the shift.
  static std::size_t table_size(unsigned log_n);

  // In all of these `values` has size() elements, in natural order before and after.
  void forward(std::span<Fr> values, ThreadPool& pool) const;        // c_j -> f(w^k)
  void inverse(std::span<Fr> values, ThreadPool& pool) const;        // f(w^k) -> c_j
  void forward_coset(std::span<Fr> values, ThreadPool& pool) const;  // c_j -> f(g w^k)
  void inverse_coset(std::span<Fr> values, ThreadPool& pool) const;  // f(g w^k) -> c_j
  void to_coset(std::span<Fr> values, ThreadPool& pool) const;       // f(w^k) -> f(g w^k)

 private:
  // base^(position reversed) for the low bits of a position: all that scale() needs of a shift.
  struct ShiftPowers {
    Fr base;
    std::vector<Fr> low;
  };
  ShiftPowers shift_powers(const Fr& base) const;
  // data[i] *= base^(reversed position of first + i) * constant
  void scale(Fr* data, std::size_t first, std::size_t count, const ShiftPowers& powers,
             const Fr& constant) const;
  void reverse_order(std::span<Fr> values, ThreadPool& pool) const;

  unsigned log_n_;
  Fr root_;
  Fr shift_;
  Fr inverse_size_;
  std::vector<Fr> twiddles_;  // twiddles_[b] = w^(b with its log_n - 1 bits reversed)
  ShiftPowers forward_shift_;
  ShiftPowers inverse_shift_;
};

extern template class NttDomain<Bn254::Fr>;
extern template class NttDomain<Bls12_381::Fr>;

}  // namespace cuzk
