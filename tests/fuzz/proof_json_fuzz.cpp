// proof.json for both curves.
#include "common/formats/json.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace cuzk;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const CurveId curve : {CurveId::kBn254, CurveId::kBls12_381}) {
    const auto bytes = proof_from_json(fuzz::text_of(data, size), curve, "proof.json");
    if (!bytes) {
      fuzz::require_refusal(bytes.error());
      continue;
    }
    fuzz::require(bytes->size() == proof_bytes(curve), "proof bytes have their size");
    const auto again = proof_from_json(proof_to_json(curve, *bytes), curve, "proof.json");
    fuzz::require(again && *again == *bytes, "a proof that was written reads the same");
  }
  return 0;
}
