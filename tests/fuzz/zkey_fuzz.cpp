// Proving keys, and with them the container that all binary files share.
#include "common/formats/zkey.hpp"

#include "common/groth16/encoding.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace cuzk;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto key = Zkey::parse(fuzz::bytes_of(data, size), "k.zkey");
  if (!key) {
    fuzz::require_refusal(key.error());
    return 0;
  }
  const ZkeyHeader& header = key->header();
  const std::size_t g1 = g1_bytes(header.curve);
  fuzz::require(key->ic().size() == (header.n_public + std::size_t{1}) * g1, "IC has its size");
  fuzz::require(key->a().size() == header.n_variables * g1, "A has its size");
  fuzz::require(key->b1().size() == header.n_variables * g1, "B1 has its size");
  fuzz::require(key->b2().size() == header.n_variables * 2 * g1, "B2 has its size");
  fuzz::require(key->c().size() == (header.n_variables - header.n_public - std::size_t{1}) * g1,
                "C has its size");
  fuzz::require(key->h().size() == header.domain_size * g1, "H has its size");
  unsigned sum = 0;
  for (const auto part :
       {header.alpha1, header.beta1, header.delta1, header.beta2, header.gamma2, header.delta2,
        key->ic(), key->a(), key->b1(), key->b2(), key->c(), key->h()}) {
    for (const std::byte byte : part) sum += static_cast<unsigned>(byte);
  }
  for (std::size_t i = 0; i < key->coefficients().size(); ++i) {
    const ZkeyCoefficient entry = key->coefficients()[i];
    fuzz::require(entry.matrix <= 1 && entry.constraint < header.domain_size &&
                      entry.signal < header.n_variables &&
                      is_below(entry.value.data(), scalar_modulus(header.curve)),
                  "coefficients are in range");
  }
  // Keeps the reads above alive.
  fuzz::require(sum != 1, "sums of whole keys are not one");
  return 0;
}
