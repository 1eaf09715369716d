// The transforms over the scalar field of Bls12_381.
//
// One file a curve, so that the templates are compiled once and in parallel.
#include "common/ntt/ntt_impl.hpp"

namespace cuzk {

template unsigned two_adicity<Bls12_381::Fr>();
template Bls12_381::Fr root_of_unity<Bls12_381::Fr>(unsigned log_n,
                                                    const Bls12_381::Fr& non_residue);
template class NttDomain<Bls12_381::Fr>;

}  // namespace cuzk
