// proof.json, public.json and verification_key.json, as snarkjs writes them and as others do.
//
// Writing reproduces snarkjs byte for byte: decimal strings, one space of indent a level, no final
// newline. Reading is strict where two texts could mean the same point or number modulo a prime,
// and lenient otherwise: a proof without "curve" (rapidsnark's) is fine, keys that mean nothing
// here are ignored, numbers may be decimal or 0x strings or exact JSON integers. Whether points lie
// on their curve and in its subgroup is the verifier's question (common/groth16). All errors are
// kBadRequest.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/groth16/encoding.hpp"
#include "common/result.hpp"
#include "common/types.hpp"

namespace cuzk {

// The curve that a spelling of its name means, whatever the case and punctuation: bn128, BN254,
// alt_bn128; bls12381, bls12-381, BLS12_381.
std::optional<CurveId> curve_from_name(std::string_view name);

// `bytes` are proof bytes (common/groth16/encoding.hpp), proof_bytes(curve) of them.
std::string proof_to_json(CurveId curve, std::string_view bytes);
// The proof bytes of a proof.json. Coordinates are below q; z is 1, or the point is infinity;
// "curve" and "protocol", where present, agree with `expected` and Groth16.
Result<std::string> proof_from_json(std::string_view text, CurveId expected, std::string_view name);

// `bytes` are canonical 32-byte little-endian integers; what is left over is ignored.
std::string publics_to_json(std::string_view bytes);
// 32 bytes for each public signal. A number outside [0, r) is no fault of the file but makes the
// statement false: it becomes 32 bytes of 0xff, which is the canonical form of nothing, so that
// every verifier that is strict about publics answers "false" to it.
Result<std::string> publics_from_json(std::string_view text, CurveId curve, std::string_view name);

// `alphabeta` is e(alpha, beta) in the order of snarkjs' vk_alphabeta_12: 2 x 3 x 2 canonical
// little-endian integers of coordinate_bytes(curve) each.
std::string vkey_to_json(const VerifyingKeyBytes& key, std::string_view alphabeta);
// vk_alphabeta_12 is not read: it follows from alpha and beta.
Result<VerifyingKeyBytes> vkey_from_json(std::string_view text, std::string_view name);

}  // namespace cuzk
