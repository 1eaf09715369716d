// Multi-scalar multiplication in BLS12-381's G2.
//
// One file a group, so that the templates are compiled once and in parallel.
#include "common/msm/msm_impl.hpp"

namespace cuzk {

template <>
constexpr msm_detail::UnitCosts msm_detail::unit_costs<G2Of<Bls12_381>>() {
  return {.inversion = 2, .plain_add = 1.2, .plain_bucket = 3.1, .read_digit = 0.01};
}
template Jacobian<G2Of<Bls12_381>> msm<G2Of<Bls12_381>>(const MsmInput<G2Of<Bls12_381>>& input,
                                                        ThreadPool& pool);
template std::size_t msm_scratch_bytes<G2Of<Bls12_381>>(std::size_t points, unsigned threads);

}  // namespace cuzk
