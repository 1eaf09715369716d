#include "common/config/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cuzk::config {

namespace {

using std::chrono::milliseconds;

const char* type_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "a list";
    case toml::node_type::string: return "text";
    case toml::node_type::integer: return "a number";
    case toml::node_type::floating_point: return "a fraction";
    case toml::node_type::boolean: return "true or false";
    default: return "a date or time";
  }
}

// What a node holds, for messages; long text is cut.
std::string shown(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    return fmt::format("\"{}\"",
                       text->get().size() <= 60 ? text->get() : text->get().substr(0, 57) + "...");
  }
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  return type_of(node);
}

Problem must_be(std::string_view wanted, const toml::node& node) {
  return fmt::format("must be {}, is {}", wanted, shown(node));
}

// The number at the start of `text`, which loses it and the blanks behind it.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return number;
}

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// `number` of the unit called `name`, if there is such a unit and the product is at most `most`.
std::optional<std::uint64_t> in_units(std::uint64_t number, std::string_view name,
                                      std::span<const Unit> units, std::uint64_t most) {
  const auto unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == name; });
  if (unit == units.end() || number > most / unit->factor) return std::nullopt;
  return number * unit->factor;
}

std::string duration_text(milliseconds time) {
  constexpr std::array<Unit, 4> kUnits = {
      {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}}};
  const auto count = static_cast<std::uint64_t>(time.count());
  for (const Unit& unit : kUnits) {
    if (count != 0 && count % unit.factor == 0)
      return fmt::format("{}{}", count / unit.factor, unit.name);
  }
  return fmt::format("{}ms", count);
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  static constexpr std::array<Unit, 6> kUnits = {{{"", 1},
                                                  {"B", 1},
                                                  {"KiB", std::uint64_t{1} << 10},
                                                  {"MiB", std::uint64_t{1} << 20},
                                                  {"GiB", std::uint64_t{1} << 30},
                                                  {"TiB", std::uint64_t{1} << 40}}};
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  // Sizes stay within what a file offset can say.
  return in_units(*number, text, kUnits, std::numeric_limits<std::int64_t>::max());
}

std::optional<milliseconds> parse_duration(std::string_view text) {
  static constexpr std::array<Unit, 5> kUnits = {
      {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}}};
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  const auto count = in_units(*number, text, kUnits, std::uint64_t{86400000} * 36500);
  if (!count) return std::nullopt;
  return milliseconds(*count);
}

Problem read_text(const toml::node& node, std::string& target) {
  const auto* text = node.as_string();
  if (text == nullptr) return must_be("text", node);
  target = text->get();
  return {};
}

Problem read_choice(const toml::node& node, std::string& target,
                    std::span<const std::string_view> choices) {
  const auto* text = node.as_string();
  if (text == nullptr || std::find(choices.begin(), choices.end(), text->get()) == choices.end()) {
    return must_be(fmt::format("one of \"{}\"", fmt::join(choices, "\", \"")), node);
  }
  target = text->get();
  return {};
}

Problem read_path(const toml::node& node, std::filesystem::path& target) {
  const auto* text = node.as_string();
  if (text == nullptr || text->get().empty() || text->get().find('\0') != std::string::npos) {
    return must_be("a path", node);
  }
  target = text->get();
  return {};
}

Problem read_text_list(const toml::node& node, std::vector<std::string>& target) {
  const auto* list = node.as_array();
  if (list == nullptr) return must_be("a list of text", node);
  std::vector<std::string> values;
  for (const toml::node& entry : *list) {
    const auto* text = entry.as_string();
    if (text == nullptr)
      return must_be(fmt::format("a list of text; entry {}", values.size() + 1), entry);
    values.push_back(text->get());
  }
  target = std::move(values);
  return {};
}

Problem read_devices(const toml::node& node, std::vector<std::string>& target) {
  const auto* list = node.as_array();
  if (list == nullptr || list->empty()) {
    return fmt::format("must be a list of at least one device, is {}",
                       list == nullptr ? shown(node) : std::string("empty"));
  }
  std::vector<std::string> values;
  for (const toml::node& entry : *list) {
    const auto* text = entry.as_string();
    const auto* number = entry.as_integer();
    if (text != nullptr && !text->get().empty()) {
      values.push_back(text->get());
    } else if (number != nullptr && number->get() >= 0) {
      values.push_back(std::to_string(number->get()));
    } else {
      return must_be(fmt::format("a list of devices (\"cpu\"); entry {}", values.size() + 1),
                     entry);
    }
  }
  target = std::move(values);
  return {};
}

Problem read_count(const toml::node& node, std::uint32_t& target, std::uint32_t least,
                   std::uint32_t most) {
  const auto* number = node.as_integer();
  if (number == nullptr || number->get() < least || number->get() > most) {
    return must_be(fmt::format("a number from {} to {}", least, most), node);
  }
  target = static_cast<std::uint32_t>(number->get());
  return {};
}

Problem read_size(const toml::node& node, std::uint64_t& target, std::string_view word) {
  std::optional<std::uint64_t> size;
  if (const auto* text = node.as_string()) {
    size = !word.empty() && text->get() == word ? std::uint64_t{0} : parse_size(text->get());
  } else if (const auto* number = node.as_integer(); number != nullptr && number->get() >= 0) {
    size = static_cast<std::uint64_t>(number->get());
  }
  if (!size) {
    const std::string or_word = word.empty() ? "" : fmt::format(" or \"{}\"", word);
    return must_be(fmt::format("a size such as \"5GiB\" or \"512MiB\"{}", or_word), node);
  }
  target = *size;
  return {};
}

Problem read_duration(const toml::node& node, milliseconds& target, milliseconds least,
                      milliseconds most) {
  std::optional<milliseconds> time;
  if (const auto* text = node.as_string()) time = parse_duration(text->get());
  if (!time || *time < least || *time > most) {
    return must_be(fmt::format("a time from \"{}\" to \"{}\" (units ms, s, m, h, d)",
                               duration_text(least), duration_text(most)),
                   node);
  }
  target = *time;
  return {};
}

Problem read_milliseconds(const toml::node& node, milliseconds& target, std::uint32_t most) {
  std::uint32_t count = 0;
  Problem problem = read_count(node, count, 0, most);
  if (!problem) target = milliseconds(count);
  return problem;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of prefixes: row i holds the distances from a[0..i) to every b[0..j).
  std::vector<std::size_t> before, previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    before = previous;
    previous = current;
  }
  return previous[b.size()];
}

}  // namespace cuzk::config
