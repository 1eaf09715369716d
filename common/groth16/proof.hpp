// A Groth16 proof as three points, and as bytes.
//
// Proof bytes are what workers, the journal and clients exchange; common/groth16/encoding.hpp gives their
// layout. Decoding refuses what is not canonical, so equal points have equal bytes. Groth16 proofs are
// malleable all the same: (-A, -B, C) verifies as well, so the bytes never serve as an identity.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "common/curve/curves.hpp"
#include "common/curve/points.hpp"
#include "common/groth16/encoding.hpp"
#include "common/result.hpp"

namespace cuzk {

template <class Curve>
struct Proof {
  Affine<G1Of<Curve>> a;
  Affine<G2Of<Curve>> b;
  Affine<G1Of<Curve>> c;
};

// proof_bytes(Curve::kId) bytes.
template <class Curve>
std::string encode_proof(const Proof<Curve>& proof);

// Fails with kBadRequest, naming the point, when the length is wrong, a coordinate is not below the
// modulus, or a point is not on its curve. Subgroups are left to `in_subgroups`. Infinity is accepted.
template <class Curve>
Result<Proof<Curve>> decode_proof(std::span<const std::byte> bytes);

// Whether all three points lie in the groups of prime order.
template <class Curve>
bool in_subgroups(const Proof<Curve>& proof);

extern template struct Proof<Bn254>;
extern template struct Proof<Bls12_381>;

}  // namespace cuzk
