// A small JSON tree for proofs, publics and verifying keys: number literals kept, doubled keys
// refused.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/formats/json_events.hpp"
#include "common/result.hpp"

namespace cuzk {

struct JsonNode {
  enum class Kind { kScalar, kArray, kObject };
  Kind kind = Kind::kScalar;
  JsonScalar scalar = JsonScalar::kNull;
  std::string text;               // of a scalar
  std::vector<JsonNode> items;    // of an array, or the values of an object ...
  std::vector<std::string> keys;  // ... beside its keys

  // The value of an object's key, or nullptr.
  const JsonNode* find(std::string_view key) const;
};

// More values than this are refused: a node takes far more memory than its text.
inline constexpr std::size_t kMaxJsonNodes = std::size_t{1} << 22;

Result<JsonNode> parse_json(std::string_view text, std::string_view name);

}  // namespace cuzk
