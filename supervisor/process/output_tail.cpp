#include "supervisor/process/output_tail.hpp"

namespace cuzk::supervisor {

std::vector<std::string> OutputTail::append(std::string_view bytes) {
  std::vector<std::string> complete;
  for (const char byte : bytes) {
    const bool ends = byte == '\n' || unfinished_.size() >= kMaxLine;
    if (ends) {
      complete.push_back(unfinished_);
      lines_.push_back(std::move(unfinished_));
      unfinished_.clear();
      if (lines_.size() > kMaxLines) lines_.pop_front();
      if (byte == '\n') continue;
    }
    const auto value = static_cast<unsigned char>(byte);
    // Escape sequences could rewrite what an operator sees; UTF-8 stays.
    unfinished_ += (value < 0x20 && byte != '\t') || value == 0x7f ? '?' : byte;
  }
  return complete;
}

std::vector<std::string> OutputTail::lines() const {
  std::vector<std::string> all(lines_.begin(), lines_.end());
  if (!unfinished_.empty()) all.push_back(unfinished_);
  return all;
}

void OutputTail::clear() {
  lines_.clear();
  unfinished_.clear();
}

}  // namespace cuzk::supervisor
