#include "gpu_worker/assembly.hpp"

namespace cuzk {

template <class Curve>
Proof<Curve> assemble_proof(const ProofConstants<Curve>& constants, const ProofSums<Curve>& sums,
                            const Blinding& blinding) {
  using Fr = typename Curve::Fr;
  using G1 = Jacobian<G1Of<Curve>>;
  using G2 = Jacobian<G2Of<Curve>>;
  const typename Fr::Integer rs =
      (Fr::from_integer(blinding.r) * Fr::from_integer(blinding.s)).to_integer();
  const G1 a = add_mixed(sums.a, constants.alpha1);
  const G1 b1 = add_mixed(sums.b1, constants.beta1);
  const G2 b = add(add_mixed(sums.b2, constants.beta2), mul(constants.delta2, blinding.s));
  G1 c = add(sums.l, sums.h);
  c = add(c, mul(a, blinding.s));
  c = add(c, mul(b1, blinding.r));
  c = add(c, mul(constants.delta1, rs));
  return {to_affine(add(a, mul(constants.delta1, blinding.r))), to_affine(b), to_affine(c)};
}

template Proof<Bn254> assemble_proof<Bn254>(const ProofConstants<Bn254>&, const ProofSums<Bn254>&,
                                            const Blinding&);
template Proof<Bls12_381> assemble_proof<Bls12_381>(const ProofConstants<Bls12_381>&,
                                                    const ProofSums<Bls12_381>&, const Blinding&);

}  // namespace cuzk
