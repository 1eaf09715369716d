// Multi-scalar multiplication in BN254's G1.
//
// One file a group, so that the templates are compiled once and in parallel.
#include "common/msm/msm_impl.hpp"

namespace cuzk {

template <>
constexpr msm_detail::UnitCosts msm_detail::unit_costs<G1Of<Bn254>>() {
  return {.inversion = 8, .plain_add = 1.25, .plain_bucket = 3, .read_digit = 0.05};
}
template Jacobian<G1Of<Bn254>> msm<G1Of<Bn254>>(const MsmInput<G1Of<Bn254>>& input,
                                                ThreadPool& pool);
template std::size_t msm_scratch_bytes<G1Of<Bn254>>(std::size_t points, unsigned threads);

}  // namespace cuzk
