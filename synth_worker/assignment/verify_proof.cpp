#include "synth_worker/assignment/verify_proof.hpp"

#include <chrono>
#include <span>
#include <string>

#include <spdlog/spdlog.h>

#include "common/curve/curves.hpp"
#include "common/groth16/prepared_key.hpp"
#include "common/groth16/prepared_key_view.hpp"
#include "common/groth16/verify.hpp"
#include "shm/slot.hpp"

namespace cuzk {
namespace {

template <class Curve>
Result<Verdict> verify_with(const PreparedKey& key, std::span<const std::byte> proof_bytes,
                            std::span<const std::byte> publics) {
  // Bytes that are no proof at all are an invalid proof: the device that sent them is to blame.
  auto proof = decode_proof<Curve>(proof_bytes);
  if (!proof) return Verdict{false, proof.error().message()};
  return verify(view_of<Curve>(key).verifying_key(), *proof, publics);
}

}  // namespace

Result<VerifyResult> verify_proof(const VerifyCommand& command, const UniqueFd& slot,
                                  const shm::SlotWord& word) {
  const auto start = std::chrono::steady_clock::now();
  CUZK_TRY(key, PreparedKey::open(command.key_path, KeyCheck::kHeader));
  shm::SlotExpectation expected;
  expected.work = command.work;
  expected.circuit = key.digest();
  expected.generation = word.generation;
  expected.layout = command.layout;
  expected.payload_bytes = command.payload_bytes;
  CUZK_TRY(reader, shm::SlotReader::open(slot, expected));
  const std::uint64_t n_public = key.shape().n_public;
  if (reader.payload().size() / kScalarBytes < n_public + 1) {
    return bug("the assignment has fewer variables than the key has public signals", "verify command");
  }
  const auto publics = reader.payload().subspan(
      kScalarBytes, static_cast<std::size_t>(n_public) * kScalarBytes);
  const auto proof = std::as_bytes(std::span(command.proof.data(), command.proof.size()));
  CUZK_TRY(verdict, key.curve() == CurveId::kBn254 ? verify_with<Bn254>(key, proof, publics)
                                                   : verify_with<Bls12_381>(key, proof, publics));
  if (!verdict.valid) {
    spdlog::warn("job {}: the proof is invalid: {}", command.work.job.value, verdict.reason);
  }
  return VerifyResult{
      verdict.valid, std::string(reinterpret_cast<const char*>(publics.data()), publics.size()),
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::steady_clock::now() - start)
                                     .count())};
}

}  // namespace cuzk
