#include "common/groth16/verify.hpp"

#include <array>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "common/curve/pairing.hpp"
#include "common/msm/msm.hpp"

namespace cuzk {
namespace {

template <class Curve>
using Scalar = typename Curve::Fr::Integer;

// IC[0] + sum values[i] IC[i + 1].
template <class Curve>
Jacobian<G1Of<Curve>> sum_inputs(const VerifyingKey<Curve>& key,
                                 const std::vector<Scalar<Curve>>& values) {
  using G1 = G1Of<Curve>;
  constexpr std::size_t kFewValues = 8;  // up to here setting up an MSM costs more than it saves
  const auto points = std::span(key.ic).subspan(1);
  if (values.size() > kFewValues) {
    ThreadPool inline_pool(1);
    return add_mixed(msm<G1>({points, values, {}}, inline_pool), key.ic[0]);
  }
  auto sum = Jacobian<G1>::from(key.ic[0]);
  for (std::size_t i = 0; i < values.size(); ++i) sum = add(sum, mul(points[i], values[i]));
  return sum;
}

template <class Curve>
Result<Verdict> verify_typed(const VerifyingKeyBytes& key_bytes, std::span<const std::byte> proof,
                             std::span<const std::byte> publics) {
  CUZK_TRY(key, decode_verifying_key<Curve>(key_bytes));
  if (proof.size() != proof_bytes(Curve::kId)) {
    return bad_request(fmt::format("a {} proof is {} bytes long, not {}", name_of(Curve::kId),
                                   proof_bytes(Curve::kId), proof.size()),
                       "proof");
  }
  auto decoded = decode_proof<Curve>(proof);
  if (!decoded) return Verdict{false, decoded.error().message()};
  return verify(key, *decoded, publics);
}

}  // namespace

template <class Curve>
Result<Verdict> verify(const VerifyingKey<Curve>& key, const Proof<Curve>& proof,
                       std::span<const std::byte> publics) {
  using G1 = G1Of<Curve>;
  using G2 = G2Of<Curve>;
  const std::size_t n_public = key.ic.size() - 1;
  if (publics.size() % kScalarBytes != 0 || publics.size() / kScalarBytes != n_public) {
    return bad_request(fmt::format("the key wants {} public values, these are {} bytes, not {}",
                                   n_public, publics.size(), n_public * kScalarBytes),
                       "public values");
  }
  if (!in_subgroups(proof)) {
    return Verdict{false, "a point of the proof is not in the subgroup of prime order"};
  }
  std::vector<Scalar<Curve>> values(n_public);
  if (n_public != 0) std::memcpy(values.data(), publics.data(), publics.size());
  for (std::size_t i = 0; i < n_public; ++i) {
    if (!Curve::Fr::is_canonical(values[i])) {
      return Verdict{false, fmt::format("public value {} is not below the order of the field", i)};
    }
  }
  const Affine<G1> inputs = to_affine(sum_inputs<Curve>(key, values));
  // The three right-hand pairings move to the left with a negated point of G1.
  const std::array<std::pair<Affine<G1>, Affine<G2>>, 4> pairs = {{
      {proof.a, proof.b},
      {neg(key.alpha1), key.beta2},
      {neg(inputs), key.gamma2},
      {neg(proof.c), key.delta2},
  }};
  if (!pairing_product_is_one<Curve>(pairs)) return Verdict{false, "the pairing check fails"};
  return Verdict{true, {}};
}

Result<Verdict> verify_bytes(const VerifyingKeyBytes& key, std::span<const std::byte> proof,
                             std::span<const std::byte> publics) {
  return key.curve == CurveId::kBn254 ? verify_typed<Bn254>(key, proof, publics)
                                      : verify_typed<Bls12_381>(key, proof, publics);
}

template Result<Verdict> verify<Bn254>(const VerifyingKey<Bn254>&, const Proof<Bn254>&,
                                       std::span<const std::byte>);
template Result<Verdict> verify<Bls12_381>(const VerifyingKey<Bls12_381>&,
                                           const Proof<Bls12_381>&, std::span<const std::byte>);

}  // namespace cuzk
