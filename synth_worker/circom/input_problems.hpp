// Collects everything that is wrong with a circuit's inputs, so that a user corrects all of it at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/formats/printable.hpp"
#include "common/result.hpp"

namespace cuzk {

class InputProblems {
 public:
  void unknown_signal(std::string_view name) {
    add(fmt::format("the circuit has no input signal \"{}\"", printable(name)));
  }
  void wrong_count(std::string_view name, std::uint64_t expected, std::uint64_t given) {
    add(fmt::format("signal \"{}\" takes {} value{} and has {}: too {}", printable(name), expected,
                    expected == 1 ? "" : "s", given, given < expected ? "few" : "many"));
  }
  void missing(std::string text) { add(std::move(text)); }

  bool any() const { return count_ != 0; }
  Error error(std::string_view where) const {
    std::string text = text_;
    if (count_ > kShown) text += fmt::format("; and {} more problems", count_ - kShown);
    return bad_request(std::move(text), std::string(where));
  }

 private:
  static constexpr std::size_t kShown = 20;

  void add(std::string problem) {
    if (count_++ >= kShown) return;
    if (!text_.empty()) text_ += "; ";
    text_ += problem;
  }

  std::string text_;
  std::size_t count_ = 0;
};

}  // namespace cuzk
