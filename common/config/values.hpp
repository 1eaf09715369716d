// Text and TOML nodes to values: sizes, durations, counts, lists, each with its limits.
//
// A reader changes its target only when the node is right; otherwise it returns what is wrong,
// worded to follow the key's name ("must be ..., is ...").
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

namespace cuzk::config {

// Nothing when all is well.
using Problem = std::optional<std::string>;

// "5GiB", "512 MiB", "100": binary units KiB MiB GiB TiB, or bytes. Nothing when it is no size or
// overflows.
std::optional<std::uint64_t> parse_size(std::string_view text);
// "200ms", "30s", "5m", "12h", "7d"; whole numbers only.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

Problem read_text(const toml::node& node, std::string& target);
Problem read_choice(const toml::node& node, std::string& target,
                    std::span<const std::string_view> choices);
Problem read_path(const toml::node& node, std::filesystem::path& target);
Problem read_text_list(const toml::node& node, std::vector<std::string>& target);
// Like a list of text, but a device may be a number (a CUDA ordinal).
Problem read_devices(const toml::node& node, std::vector<std::string>& target);
Problem read_count(const toml::node& node, std::uint32_t& target, std::uint32_t least,
                   std::uint32_t most);
// A size as text or a number of bytes; `word` ("auto") stands for 0.
Problem read_size(const toml::node& node, std::uint64_t& target, std::string_view word = {});
Problem read_duration(const toml::node& node, std::chrono::milliseconds& target,
                      std::chrono::milliseconds least, std::chrono::milliseconds most);
// A duration as a number of milliseconds.
Problem read_milliseconds(const toml::node& node, std::chrono::milliseconds& target,
                          std::uint32_t most);

// How many insertions, deletions, replacements and swaps of neighbours turn one word into the
// other.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace cuzk::config
