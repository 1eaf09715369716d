#include "common/groth16/proof.hpp"

#include "common/curve/subgroup.hpp"
#include "common/curve/subgroup.hpp"
#include "common/groth16/point_bytes.hpp"

namespace cuzk {

template <class Curve>
std::string encode_proof(const Proof<Curve>& proof) {
  std::string bytes;
  bytes.reserve(proof_bytes(Curve::kId));
  append_canonical(bytes, proof.a);
  append_canonical(bytes, proof.b);
  append_canonical(bytes, proof.c);
  return bytes;
}

template <class Curve>
Result<Proof<Curve>> decode_proof(std::span<const std::byte> bytes) {
  if (bytes.size() != proof_bytes(Curve::kId)) {
    return bad_request(fmt::format("a {} proof is {} bytes long, not {}", name_of(Curve::kId),
                                   proof_bytes(Curve::kId), bytes.size()),
                       "proof");
  }
  constexpr std::size_t kG1 = kPointBytes<G1Of<Curve>>;
  constexpr std::size_t kG2 = kPointBytes<G2Of<Curve>>;
  Proof<Curve> proof;
  if (const char* fault = read_canonical_point(bytes.first(kG1), proof.a)) {
    return bad_request(fault, "proof, A");
  }
  if (const char* fault = read_canonical_point(bytes.subspan(kG1, kG2), proof.b)) {
    return bad_request(fault, "proof, B");
  }
  if (const char* fault = read_canonical_point(bytes.subspan(kG1 + kG2), proof.c)) {
    return bad_request(fault, "proof, C");
  }
  return proof;
}

template <class Curve>
bool in_subgroups(const Proof<Curve>& proof) {
  return is_in_subgroup(proof.a) && is_in_subgroup(proof.b) && is_in_subgroup(proof.c);
}

#define CUZK_INSTANTIATE_PROOF(Curve)                                             \
  template struct Proof<Curve>;                                                   \
  template std::string encode_proof<Curve>(const Proof<Curve>&);                  \
  template Result<Proof<Curve>> decode_proof<Curve>(std::span<const std::byte>);  \
  template bool in_subgroups<Curve>(const Proof<Curve>&);
CUZK_INSTANTIATE_PROOF(Bn254)
CUZK_INSTANTIATE_PROOF(Bls12_381)
#undef CUZK_INSTANTIATE_PROOF

}  // namespace cuzk
