// The last lines that a worker wrote, kept for the message about its death.
//
// Pure: bytes go in, whole lines come out for the log. A line that never ends, or bytes that are
// not text, cannot grow memory or disturb a terminal.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk::supervisor {

class OutputTail {
 public:
  static constexpr std::size_t kMaxLine = 4096;
  static constexpr std::size_t kMaxLines = 40;

  // Takes bytes and returns the lines that they completed.
  std::vector<std::string> append(std::string_view bytes);
  // The lines kept, oldest first, with the unfinished one.
  std::vector<std::string> lines() const;
  void clear();

 private:
  std::deque<std::string> lines_;
  std::string unfinished_;
};

}  // namespace cuzk::supervisor
