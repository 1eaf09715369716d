// Verification of Groth16 proofs.
//
// A proof (A, B, C) of the public values x[1..n] is valid for a key when
//   e(A, B) = e(alpha1, beta2) * e(IC[0] + sum x[i] IC[i], gamma2) * e(C, delta2).
// All four pairings share one Miller loop and one final exponentiation. Everything a foreign proof may get
// wrong is checked: canonical numbers, curve, subgroup, and public values below r, because x + r would be
// a second name of the same statement.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "common/groth16/encoding.hpp"
#include "common/groth16/proof.hpp"
#include "common/groth16/verifying_key.hpp"
#include "common/result.hpp"

namespace cuzk {

// Converts to whether the proof is valid; `reason` says for people why it is not.
struct Verdict {
  bool valid = false;
  std::string reason;
  operator bool() const { return valid; }  // NOLINT: a verdict is its answer
};

// `publics`: canonical little-endian integers of 32 bytes, as many as the key has public signals, without
// the constant one. Fails with kBadRequest when their number is wrong.
template <class Curve>
Result<Verdict> verify(const VerifyingKey<Curve>& key, const Proof<Curve>& proof,
                       std::span<const std::byte> publics);

// The same for a curve known at run time. A malformed key or a wrong length is kBadRequest; a proof with
// points or numbers that cannot be valid is an invalid proof.
Result<Verdict> verify_bytes(const VerifyingKeyBytes& key, std::span<const std::byte> proof,
                             std::span<const std::byte> publics);

}  // namespace cuzk
