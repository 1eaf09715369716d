// The blinding factors r and s of a proof.
//
// They are what makes a proof zero-knowledge: uniform below the order r of the scalar field, fresh for
// every proof, never logged, never kept. Two proofs with the same factors, or one whose factors are known,
// give the witness away, so nothing but the system's generator makes them here; tests inject their own.
#pragma once

#include "common/field/limbs.hpp"
#include "common/result.hpp"
#include "common/types.hpp"

namespace cuzk {

struct Blinding {
  using Scalar = BigInt<4>;  // canonical

  Scalar r{};
  Scalar s{};

  Blinding() = default;
  Blinding(const Scalar& r_value, const Scalar& s_value) : r(r_value), s(s_value) {}
  Blinding(Blinding&&) = default;
  Blinding& operator=(Blinding&&) = default;
  Blinding(const Blinding&) = delete;
  Blinding& operator=(const Blinding&) = delete;
  ~Blinding();  // wipes both
};

// Two factors for `curve` from getrandom(2), by rejection: every value is equally likely. Fails with
// kRetryElsewhere when the system has no randomness to give.
Result<Blinding> draw_blinding(CurveId curve);

}  // namespace cuzk
