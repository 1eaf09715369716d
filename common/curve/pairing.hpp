// The optimal ate pairing e: G1 x G2 -> GT on BN254 and BLS12-381.
//
// What Groth16 asks is whether a product of pairings is one; that takes one Miller loop over all pairs
// and one final exponentiation. Points must lie on their curves and in their subgroups; a pair with a
// point at infinity contributes one.
#pragma once

#include <span>
#include <utility>

#include "common/curve/points.hpp"

namespace cuzk {

template <class Curve>
using PairingInput = std::pair<Affine<G1Of<Curve>>, Affine<G2Of<Curve>>>;

// The product of the Miller functions of all pairs, before the final exponentiation.
template <class Curve>
typename Curve::Fq12 miller_loop(std::span<const PairingInput<Curve>> pairs);

// f^(k (q^12 - 1) / r) with k = 3 on BLS12-381 and k = 2x (6x^2 + 3x + 1) on BN254. These multiples are
// cheaper than k = 1 and, prime to r, as good for every comparison; they are also what snarkjs and
// noble-curves compute, so values can be compared.
template <class Curve>
typename Curve::Fq12 final_exponentiation(const typename Curve::Fq12& f);

template <class Curve>
typename Curve::Fq12 pairing(const Affine<G1Of<Curve>>& p, const Affine<G2Of<Curve>>& q);

template <class Curve>
bool pairing_product_is_one(std::span<const PairingInput<Curve>> pairs);

}  // namespace cuzk
