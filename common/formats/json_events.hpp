// JSON text as a stream of events that keep the literals of numbers.
//
// A JSON library's number is a double or a 64-bit integer, and a circuit's is neither, so the
// readers of this folder see the digits themselves. Events also let a large input.json go straight
// into field elements without a tree in between. nlohmann's lexer does the reading; only
// json_events.cpp knows it.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/result.hpp"

namespace cuzk {

// Deeper nesting is refused. circom's arrays and buses nest a few levels.
inline constexpr std::size_t kMaxJsonDepth = 64;

enum class JsonScalar { kNull, kBoolean, kInteger, kFraction, kString };

// The receiver of events. Each may end the reading by returning an error, which read_json passes
// on.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  // `text` is the digits of a number, the characters of a string, "true", "false" or "null". A
  // kFraction was written with a decimal point or an exponent.
  virtual Status scalar(JsonScalar kind, std::string_view text) = 0;
  virtual Status begin_object() = 0;
  virtual Status key(std::string_view text) = 0;
  virtual Status end_object() = 0;
  virtual Status begin_array() = 0;
  virtual Status end_array() = 0;
};

// Exactly one JSON value, in valid UTF-8. `name` stands for the file in errors, which are
// kBadRequest and give line, column and offset, but nothing of the text, which may be secret.
Status read_json(std::string_view text, std::string_view name, JsonEvents& events);

}  // namespace cuzk
