// Text from untrusted files, made fit for one line of an error message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace cuzk {

// Control characters, quotes and bytes beyond ASCII become \xNN; what is too long is cut with
// "...".
inline std::string printable(std::string_view text, std::size_t limit = 64) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == limit) return result + "...";
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte > 0x7e || byte == '"' || byte == '\\') {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace cuzk
