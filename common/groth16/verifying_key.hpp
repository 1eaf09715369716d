// The part of a Groth16 key that verifies proofs.
//
// A VerifyingKey is a promise: whoever makes one from foreign bytes has checked every point. The
// functions here do, so that `verify` only has to look at the proof.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/curve/curves.hpp"
#include "common/curve/points.hpp"
#include "common/groth16/encoding.hpp"
#include "common/result.hpp"

namespace cuzk {

template <class Curve>
struct VerifyingKey {
  Affine<G1Of<Curve>> alpha1;
  Affine<G2Of<Curve>> beta2;
  Affine<G2Of<Curve>> gamma2;
  Affine<G2Of<Curve>> delta2;
  std::vector<Affine<G1Of<Curve>>> ic;  // n_public + 1
};

template <class Curve>
VerifyingKeyBytes encode_verifying_key(const VerifyingKey<Curve>& key);

// Fails with kBadRequest, naming the point, when the length is wrong, a coordinate is not below the
// modulus, a point is not on its curve or not in its subgroup, or one of the four single points is
// infinity. `bytes.curve` must be Curve::kId.
template <class Curve>
Result<VerifyingKey<Curve>> decode_verifying_key(const VerifyingKeyBytes& bytes);

// The points of a verifying key as they lie in a zkey: affine, Montgomery form, little-endian.
struct MontgomeryVerifyingKey {
  std::span<const std::byte> alpha1;
  std::span<const std::byte> beta2;
  std::span<const std::byte> gamma2;
  std::span<const std::byte> delta2;
  std::span<const std::byte> ic;  // n_public + 1 points
};

// Checks like decode_verifying_key and converts to canonical bytes; `name` stands in errors.
Result<VerifyingKeyBytes> import_verifying_key(CurveId curve, const MontgomeryVerifyingKey& points,
                                               std::string_view name);

// e(alpha1, beta2) as snarkjs computes it, which verification_key.json repeats as vk_alphabeta_12: the 12
// canonical coordinates in tower order, 2 x 3 x 2. Fails as decode_verifying_key does.
Result<std::string> alphabeta_bytes(const VerifyingKeyBytes& key);

}  // namespace cuzk
