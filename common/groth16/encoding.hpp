// Byte layouts of proofs and verifying keys whose curve is known only at run time.
//
// Messages between processes, the journal and the JSON writers carry proofs as bytes, so that only the
// code that computes on points has to know their types. All coordinates here are canonical integers
// (normal form, below the modulus), little-endian; an extension field element is c0, c1; the point at
// infinity is all zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/types.hpp"

namespace cuzk {

// A scalar is 32 bytes on both curves.
inline constexpr std::size_t kScalarBytes = 32;

// Bytes of one base field element (snarkjs' n8q).
constexpr std::size_t coordinate_bytes(CurveId curve) {
  return curve == CurveId::kBn254 ? 32 : 48;
}
constexpr std::size_t g1_bytes(CurveId curve) { return 2 * coordinate_bytes(curve); }
constexpr std::size_t g2_bytes(CurveId curve) { return 4 * coordinate_bytes(curve); }

// A.x A.y B.x.c0 B.x.c1 B.y.c0 B.y.c1 C.x C.y
constexpr std::size_t proof_bytes(CurveId curve) { return 2 * g1_bytes(curve) + g2_bytes(curve); }

// alpha1 beta2 gamma2 delta2 IC[0] ... IC[n_public]
constexpr std::size_t verifying_key_bytes(CurveId curve, std::size_t n_public) {
  return g1_bytes(curve) + 3 * g2_bytes(curve) + (n_public + 1) * g1_bytes(curve);
}

// A verifying key of either curve; `bytes` holds verifying_key_bytes(curve, n_public) bytes.
struct VerifyingKeyBytes {
  CurveId curve = CurveId::kBn254;
  std::size_t n_public = 0;  // without the constant one
  std::string bytes;

  bool operator==(const VerifyingKeyBytes&) const = default;
};

}  // namespace cuzk
