// Text of any length, of which the beginning and the end are kept.
//
// A compiler says what is wrong first, a crashing program last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace cuzk {

class BoundedText {
 public:
  static constexpr std::size_t kEachEnd = 2048;

  void append(std::string_view text) {
    const std::size_t to_head = std::min(text.size(), kEachEnd - head_.size());
    head_.append(text.substr(0, to_head));
    text.remove_prefix(to_head);
    tail_.append(text);
    if (tail_.size() > kEachEnd) {
      tail_.erase(0, tail_.size() - kEachEnd);
      cut_ = true;
    }
  }
  std::string str() const { return cut_ ? head_ + " ... " + tail_ : head_ + tail_; }

 private:
  std::string head_, tail_;
  bool cut_ = false;
};

}  // namespace cuzk
