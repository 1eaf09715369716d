// Multi-scalar multiplication in BLS12-381's G1.
//
// One file a group, so that the templates are compiled once and in parallel.
#include "common/msm/msm_impl.hpp"

namespace cuzk {

template <>
constexpr msm_detail::UnitCosts msm_detail::unit_costs<G1Of<Bls12_381>>() {
  return {.inversion = 6, .plain_add = 1.25, .plain_bucket = 3, .read_digit = 0.03};
}
template Jacobian<G1Of<Bls12_381>> msm<G1Of<Bls12_381>>(const MsmInput<G1Of<Bls12_381>>& input,
                                                        ThreadPool& pool);
template std::size_t msm_scratch_bytes<G1Of<Bls12_381>>(std::size_t points, unsigned threads);

}  // namespace cuzk
