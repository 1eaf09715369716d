// Text for people: times, sizes, ages, and tables whose columns line up.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk::cli {

// Foreign text fit for one line of a terminal: control characters, escape sequences among them,
// become '?'.
std::string one_line(std::string_view text);

// "412 us", "41.2 ms", "1.23 s", "3 min 12 s", "2 h 5 min", "3 d 4 h".
std::string time_text(std::chrono::microseconds time);
// Whole numbers for ages: "5 s", "3 min", "2 h", "4 d".
std::string age_text(std::chrono::milliseconds age);
// At most `limit` characters, cut at the front: "...circom/merkle20.zkey".
std::string tail(std::string_view text, std::size_t limit);
// "0 B", "512 B", "1.5 KiB", "24.0 MiB", "3.2 GiB".
std::string size_text(std::uint64_t bytes);
// "43 %" of permille.
std::string percent_text(std::uint32_t permille);

// A table with a line of titles. Titles that end in '>' (which is not printed) align right.
class Table {
 public:
  explicit Table(std::vector<std::string> titles);
  // Cells become one line each; as many as there are titles.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.size() == 1; }
  void print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the titles first
  std::vector<bool> right_;
};

}  // namespace cuzk::cli
