// From the five sums of a proof to its three points.
//
//   A  = alpha1 + sum_a  + r delta1
//   B  = beta2  + sum_b2 + s delta2
//   B1 = beta1  + sum_b1 + s delta1
//   C  = sum_l + sum_h + s A + r B1 - r s delta1
//      = sum_l + sum_h + s (alpha1 + sum_a) + r (beta1 + sum_b1) + r s delta1
//
// Every engine ends here. Some scalar multiplications: about a millisecond of one CPU thread, which a
// device does not have to wait for.
#pragma once

#include "common/curve/curves.hpp"
#include "common/curve/points.hpp"
#include "common/groth16/prepared_key_view.hpp"
#include "common/groth16/proof.hpp"
#include "gpu_worker/blinding.hpp"

namespace cuzk {

// The results of the MSMs. They depend on the witness: secret.
template <class Curve>
struct ProofSums {
  Jacobian<G1Of<Curve>> h, l, a, b1;
  Jacobian<G2Of<Curve>> b2;
};

// The points of a key that every proof contains.
template <class Curve>
struct ProofConstants {
  Affine<G1Of<Curve>> alpha1, beta1, delta1;
  Affine<G2Of<Curve>> beta2, delta2;

  explicit ProofConstants(const PreparedKeyView<Curve>& key)
      : alpha1(key.alpha1),
        beta1(key.beta1),
        delta1(key.delta1),
        beta2(key.beta2),
        delta2(key.delta2) {}
};

template <class Curve>
Proof<Curve> assemble_proof(const ProofConstants<Curve>& constants, const ProofSums<Curve>& sums,
                            const Blinding& blinding);

}  // namespace cuzk
