// The step `quotient`: from constraint values to the scalars of the H points.
//
// snarkjs' convention. Let A, B, C be the polynomials with the values a, b, c on the n powers of w. The
// H points are Lagrange points, divided by delta, of the odd powers of W, the primitive 2n-th root whose
// square is w. A B - C has degree below 2n - 1 and vanishes on all powers of w, that is on the even powers of
// W, so its values on the odd powers determine it, and the sum of these values times the H points is
// h(tau) Z(tau) / delta. Nothing is divided by Z. Each of a, b, c is interpolated and evaluated on the
// coset W <w>.
#pragma once

#include <bit>
#include <cstddef>
#include <span>

#include "common/groth16/prepared_key_format.hpp"
#include "common/ntt/ntt.hpp"
#include "common/thread_pool.hpp"

namespace cuzk {

// The shift W of the coset. Where the field has no 2n-th root of unity left, snarkjs takes 25, the square
// of its non-residue, and the H points are those of that coset.
template <class Fr>
Fr quotient_shift(unsigned log_n) {
  const Fr non_residue = Fr::from_u64(5);
  return log_n < two_adicity<Fr>() ? root_of_unity<Fr>(log_n + 1, non_residue)
                                   : non_residue.square();
}

// The domain and coset that a key of this convention and size was made for.
template <class Fr>
NttDomain<Fr> quotient_domain(QuotientConvention convention, unsigned log_n, ThreadPool& pool) {
  switch (convention) {
    case QuotientConvention::kSnarkjsOddCoset:
      break;
  }
  return NttDomain<Fr>(log_n, root_of_unity<Fr>(log_n, Fr::from_u64(5)), quotient_shift<Fr>(log_n),
                       pool);
}

// Replaces a by a * b - c on the coset, as canonical integers in the memory of a: what an MSM wants. b and
// c are used up. All have domain.size() elements in Montgomery form.
template <class Fr>
void quotient(const NttDomain<Fr>& domain, std::span<Fr> a, std::span<Fr> b, std::span<Fr> c,
              ThreadPool& pool) {
  constexpr std::size_t kGrain = 4096;
  domain.to_coset(a, pool);
  domain.to_coset(b, pool);
  domain.to_coset(c, pool);
  pool.parallel_for(0, a.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      a[i] = Fr::from_raw((a[i] * b[i] - c[i]).to_integer());
    }
  });
}

}  // namespace cuzk
