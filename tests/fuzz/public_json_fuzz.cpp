// public.json for both curves.
#include "common/formats/json.hpp"
#include "common/formats/modulus.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace cuzk;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const CurveId curve : {CurveId::kBn254, CurveId::kBls12_381}) {
    const auto bytes = publics_from_json(fuzz::text_of(data, size), curve, "public.json");
    if (!bytes) {
      fuzz::require_refusal(bytes.error());
      continue;
    }
    fuzz::require(bytes->size() % kScalarBytes == 0, "publics are whole numbers of scalars");
    const std::string_view all = *bytes;
    const std::string outside(kScalarBytes, '\xff');
    for (std::size_t i = 0; i < all.size(); i += kScalarBytes) {
      const std::string_view one = all.substr(i, kScalarBytes);
      fuzz::require(one == outside || is_below(std::as_bytes(std::span(one.data(), one.size())),
                                               scalar_modulus(curve)),
                    "a public is canonical or no scalar at all");
    }
    const auto again = publics_from_json(publics_to_json(*bytes), curve, "public.json");
    fuzz::require(again && *again == *bytes, "publics that were written read the same");
  }
  return 0;
}
