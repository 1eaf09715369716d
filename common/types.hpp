// Small types that the whole project speaks: curves, ids, digests.
//
// A device index is not a slot index and neither is an epoch; as types of their own they cannot be
// mixed up, in code or on the wire.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cuzk {

// The values are part of the prepared-key format and of the protocols.
enum class CurveId : std::uint8_t { kBn254 = 1, kBls12_381 = 2 };

// snarkjs' names, as they stand in proof.json and verification_key.json.
constexpr const char* name_of(CurveId curve) {
  return curve == CurveId::kBn254 ? "bn128" : "bls12381";
}

// A strongly typed integer; `Tag` only tells the types apart.
template <class Tag, class Integer>
struct StrongId {
  Integer value = 0;
  constexpr auto operator<=>(const StrongId&) const = default;
};
using JobId = StrongId<struct JobIdTag, std::uint64_t>;
using SlotIndex = StrongId<struct SlotIndexTag, std::uint16_t>;
using WorkerIndex = StrongId<struct WorkerIndexTag, std::uint16_t>;
using Epoch = StrongId<struct EpochTag, std::uint32_t>;            // 24 bits are used
using Generation = StrongId<struct GenerationTag, std::uint32_t>;  // 24 bits are used
using TaskId = StrongId<struct TaskIdTag, std::uint64_t>;          // never 0

// SHA-256, for example of a key file: names a circuit wherever one is needed.
using Digest = std::array<std::uint8_t, 32>;

std::string to_hex(const Digest& digest);
std::optional<Digest> digest_from_hex(std::string_view hex);

}  // namespace cuzk
