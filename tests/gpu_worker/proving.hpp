// What the tests of the device process share: a key, a witness and a proof in a few lines.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/formats/wtns.hpp"
#include "common/groth16/prepared_key_view.hpp"
#include "common/groth16/verify.hpp"
#include "gpu_worker/blinding.hpp"
#include "gpu_worker/cpu/cpu_engine.hpp"
#include "synth_worker/keys/convert_zkey.hpp"
#include "tests/support/groth16_files.hpp"

namespace cuzk::test {

// A prepared key in a folder of its own.
class PreparedCircuit {
 public:
  PreparedCircuit(const std::string& zkey, const std::string& wtns) {
    auto info = prepare_key(bytes_of(zkey), "k.zkey", cache_.path(), 2);
    if (!info) throw std::runtime_error(info.error().message());
    info_ = *info;
    auto key = PreparedKey::open(info_.path, KeyCheck::kFull);
    if (!key) throw std::runtime_error(key.error().message());
    key_.emplace(*std::move(key));
    const auto witness = parse_wtns(bytes_of(wtns), "w.wtns");
    if (!witness) throw std::runtime_error(witness.error().message());
    witness_.resize(witness->values.size() / sizeof(std::uint64_t));
    std::copy(witness->values.begin(), witness->values.end(),
              std::as_writable_bytes(std::span(witness_)).begin());
  }
  explicit PreparedCircuit(const CircuitFiles& files)
      : PreparedCircuit(files.zkey(), files.wtns()) {}

  const PreparedKey& key() const { return *key_; }
  const KeyInfo& info() const { return info_; }
  std::span<const std::byte> payload() const { return std::as_bytes(std::span(witness_)); }
  std::vector<std::uint64_t>& witness() { return witness_; }
  Assignment assignment() const { return {AssignmentLayout::kDense, payload()}; }
  std::span<const std::byte> publics() const {
    return payload().subspan(kScalarBytes, info_.n_public * kScalarBytes);
  }
  VerifyingKeyBytes verifying_key() const {
    return key_->curve() == CurveId::kBn254
               ? encode_verifying_key(view_of<Bn254>(*key_).verifying_key())
               : encode_verifying_key(view_of<Bls12_381>(*key_).verifying_key());
  }
  bool accepts(const std::string& proof) const {
    const auto verdict = verify_bytes(verifying_key(), bytes_of(proof), publics());
    if (!verdict) throw std::runtime_error(verdict.error().message());
    return verdict->valid;
  }

 private:
  TemporaryFolder cache_;
  KeyInfo info_;
  std::optional<PreparedKey> key_;
  std::vector<std::uint64_t> witness_;
};

inline Result<std::string> prove(Engine& engine, const PreparedCircuit& circuit,
                                 const Blinding& blinding) {
  StepMonitor monitor;
  CUZK_TRY(started, engine.start(circuit.key(), circuit.assignment(), monitor));
  return started->finish(blinding, monitor);
}

inline Result<std::string> prove(Engine& engine, const PreparedCircuit& circuit) {
  CUZK_TRY(blinding, draw_blinding(circuit.key().curve()));
  return prove(engine, circuit, blinding);
}

}  // namespace cuzk::test
