// Witness files.
#include "common/formats/wtns.hpp"

#include <cstring>

#include "common/formats/modulus.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace cuzk;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto wtns = parse_wtns(fuzz::bytes_of(data, size), "w.wtns");
  if (!wtns) {
    fuzz::require_refusal(wtns.error());
    return 0;
  }
  fuzz::require(wtns->values.size() == std::size_t{wtns->count} * 32, "the values have their size");
  const Status status = check_witness(wtns->values, wtns->curve, "w.wtns", wtns->values_offset);
  if (!status) fuzz::require_refusal(status.error());
  // The slow way.
  bool sound = wtns->values[0] == std::byte{1};
  for (std::size_t i = 1; i < 32; ++i) sound &= wtns->values[i] == std::byte{0};
  for (std::size_t i = 0; i < wtns->count; ++i) {
    sound &= is_below(wtns->values.subspan(32 * i, 32), scalar_modulus(wtns->curve));
  }
  fuzz::require(sound == status.ok(), "exactly canonical witnesses that start with one pass");
  return 0;
}
