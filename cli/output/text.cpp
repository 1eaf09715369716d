#include "cli/output/text.hpp"

#include <algorithm>
#include <array>
#include <ostream>

#include <fmt/format.h>

namespace cuzk::cli {

namespace {

// Columns that the text takes: bytes that begin a character.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string clean;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 =
        byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c1) ++i;
    clean += byte < 0x20 || byte == 0x7f || c1 ? '?' : text[i];
  }
  return clean;
}

std::string time_text(std::chrono::microseconds time) {
  const std::int64_t us = std::max<std::int64_t>(time.count(), 0);
  const double real = static_cast<double>(us);
  if (us < 1000) return fmt::format("{} us", us);
  if (us < 999'950) return fmt::format("{:.1f} ms", real / 1e3);
  if (us < 59'995'000) return fmt::format("{:.2f} s", real / 1e6);
  const std::int64_t seconds = (us + 500'000) / 1'000'000;
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  if (seconds < 86400) return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
  return fmt::format("{} d {} h", seconds / 86400, seconds % 86400 / 3600);
}

std::string age_text(std::chrono::milliseconds age) {
  const std::int64_t seconds = std::max<std::int64_t>(age.count(), 0) / 1000;
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min", seconds / 60);
  if (seconds < 86400) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} d", seconds / 86400);
}

std::string tail(std::string_view text, std::size_t limit) {
  std::size_t excess = width(text);
  if (excess <= limit) return std::string(text);
  constexpr std::string_view kDots = "...";
  excess -= limit - kDots.size();
  std::size_t at = 0;
  while (excess != 0) {
    // A character goes with the bytes that continue it.
    do ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
    --excess;
  }
  return std::string(kDots) + std::string(text.substr(at));
}

std::string size_text(std::uint64_t bytes) {
  static constexpr std::array<const char*, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.95 would be printed as 1024.0.
  while (size >= 1023.95 && unit + 1 < kUnits.size()) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string percent_text(std::uint32_t permille) {
  return fmt::format("{} %", std::min(permille, 1000u) / 10);
}

Table::Table(std::vector<std::string> titles) {
  for (std::string& title : titles) {
    right_.push_back(title.ends_with('>'));
    if (right_.back()) title.pop_back();
  }
  rows_.push_back(std::move(titles));
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(right_.size());
  for (std::string& cell : cells) cell = one_line(cell);
  rows_.push_back(std::move(cells));
}

void Table::print(std::ostream& out) const {
  std::vector<std::size_t> widths(right_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - width(row[i]), ' ');
      if (i != 0) line += "  ";
      line += right_[i] ? gap + row[i] : row[i] + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

}  // namespace cuzk::cli
