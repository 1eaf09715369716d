// Files that travel with a request.
//
// cuzkctl opens them, so that the daemon reads with the user's rights and needs none of its own,
// and hands the descriptors over. Small inputs go into the message itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "common/unique_fd.hpp"

namespace cuzk::cli {

inline constexpr std::size_t kInlineBytes = std::size_t{256} << 10;

// Descriptors in the order in which the message announces them.
class Attachments {
 public:
  Status add(const std::filesystem::path& file);
  std::vector<int> fds() const;

 private:
  std::vector<UniqueFd> files_;
};

// How an input goes: its whole content, or attached.
struct Input {
  bool attached = false;
  std::string content;
};
Result<Input> take_input(const std::filesystem::path& file, Attachments& attachments);

}  // namespace cuzk::cli
