// The transforms over the scalar field of Bn254.
//
// One file a curve, so that the templates are compiled once and in parallel.
#include "common/ntt/ntt_impl.hpp"

namespace cuzk {

template unsigned two_adicity<Bn254::Fr>();
template Bn254::Fr root_of_unity<Bn254::Fr>(unsigned log_n, const Bn254::Fr& non_residue);
template class NttDomain<Bn254::Fr>;

}  // namespace cuzk
