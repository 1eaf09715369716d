// verification_key.json.
#include "common/formats/json.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace cuzk;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto key = vkey_from_json(fuzz::text_of(data, size), "verification_key.json");
  if (!key) {
    fuzz::require_refusal(key.error());
    return 0;
  }
  fuzz::require(key->bytes.size() == verifying_key_bytes(key->curve, key->n_public),
                "key bytes have their size");
  const std::string alphabeta(12 * coordinate_bytes(key->curve), '\0');
  const auto again = vkey_from_json(vkey_to_json(*key, alphabeta), "verification_key.json");
  fuzz::require(again && *again == *key, "a key that was written reads the same");
  return 0;
}
