// Multi-scalar multiplication in BN254's G2.
//
// One file a group, so that the templates are compiled once and in parallel.
#include "common/msm/msm_impl.hpp"

namespace cuzk {

template <>
constexpr msm_detail::UnitCosts msm_detail::unit_costs<G2Of<Bn254>>() {
  return {.inversion = 3, .plain_add = 1.25, .plain_bucket = 3.2, .read_digit = 0.02};
}
template Jacobian<G2Of<Bn254>> msm<G2Of<Bn254>>(const MsmInput<G2Of<Bn254>>& input,
                                                ThreadPool& pool);
template std::size_t msm_scratch_bytes<G2Of<Bn254>>(std::size_t points, unsigned threads);

}  // namespace cuzk
