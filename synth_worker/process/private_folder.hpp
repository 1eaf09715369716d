// A folder with a random name that only this user can enter, and that disappears with its owner.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "common/result.hpp"

namespace cuzk {

class PrivateFolder {
 public:
  // Creates `<parent>/<prefix>XXXXXX`, mode 0700. Errors: kRetryHere.
  static Result<PrivateFolder> create(const std::filesystem::path& parent, std::string prefix);

  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  // Removes the folder with all it holds.
  ~PrivateFolder();

  const std::filesystem::path& path() const { return path_; }
  // Makes it a permanent folder by renaming it to `target`; what was there before is removed. The files in
  // it are on disk when their writers flushed them; the rename is flushed here.
  Status keep_as(const std::filesystem::path& target);

 private:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// Removes folders `<parent>/<prefix>...` that a process which died before its clean-up left behind:
// those that nobody has changed for `age_seconds`.
void remove_abandoned_folders(const std::filesystem::path& parent, const std::string& prefix,
                              long age_seconds);

}  // namespace cuzk
