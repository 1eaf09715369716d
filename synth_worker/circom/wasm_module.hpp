// Looks at a WebAssembly module before anything is done with it: is it a circom witness calculator?
//
// The compiler behind it (wasm2c, then C) trusts names and signatures more than a stranger's file
// deserves: wasm2c 1.0.32 writes export names into C comments as they are, and the C code calls imports
// and exports with the types that circom gives them. So imports are an exact list, exports that are
// called have exact types, and every name is an identifier. Code and data are left to wasm2c, which
// validates them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "common/result.hpp"

namespace cuzk {

inline constexpr std::size_t kMaxWasmBytes = std::size_t{256} << 20;

// Errors: kBadRequest, with section and offset.
Status check_circom_module(std::span<const std::byte> bytes, std::string_view name);

}  // namespace cuzk
