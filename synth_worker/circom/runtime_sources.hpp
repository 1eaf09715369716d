// The C files of circom/runtime/, carried inside the program: a worker compiles circuits wherever it is
// installed. The build generates the definition.
#pragma once

#include <span>
#include <string_view>

namespace cuzk {

struct EmbeddedFile {
  const char* name;
  std::string_view content;
};

std::span<const EmbeddedFile> runtime_sources();

}  // namespace cuzk
