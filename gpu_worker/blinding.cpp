#include "gpu_worker/blinding.hpp"

#include <cerrno>
#include <cstddef>
#include <span>
#include <string.h>
#include <sys/random.h>

#include "common/curve/curves.hpp"

namespace cuzk {
namespace {

Status fill_randomly(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(ErrorClass::kRetryElsewhere, "getrandom", "blinding factors");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

// Both orders are above 2^253 and below 2^255: cut to `bits`, a draw is below the order at least every
// other time.
template <class Fr>
Status draw_scalar(Blinding::Scalar& scalar, unsigned bits) {
  do {
    CUZK_CHECK(fill_randomly(std::as_writable_bytes(std::span(&scalar, 1))));
    scalar[3] &= (std::uint64_t{1} << (bits - 192)) - 1;
  } while (!Fr::is_canonical(scalar));
  return {};
}

}  // namespace

Blinding::~Blinding() {
  ::explicit_bzero(&r, sizeof r);
  ::explicit_bzero(&s, sizeof s);
}

Result<Blinding> draw_blinding(CurveId curve) {
  Blinding blinding;
  for (Blinding::Scalar* scalar : {&blinding.r, &blinding.s}) {
    CUZK_CHECK(curve == CurveId::kBn254 ? draw_scalar<Bn254::Fr>(*scalar, 254)
                                        : draw_scalar<Bls12_381::Fr>(*scalar, 255));
  }
  return blinding;
}

}  // namespace cuzk
