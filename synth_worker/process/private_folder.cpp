#include "synth_worker/process/private_folder.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "common/unique_fd.hpp"

namespace cuzk {

namespace fs = std::filesystem;

Result<PrivateFolder> PrivateFolder::create(const fs::path& parent, std::string prefix) {
  std::string path = (parent / (prefix + "XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr) {
    return system_error(ErrorClass::kRetryHere, "mkdtemp", path);
  }
  return PrivateFolder(fs::path(path));
}

PrivateFolder::~PrivateFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Status PrivateFolder::keep_as(const fs::path& target) {
  const UniqueFd self(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!self || ::fsync(self.get()) != 0) {
    return system_error(ErrorClass::kRetryHere, "fsync of the folder", path_.string());
  }
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) {
    path_.clear();
  } else if (errno != EEXIST ||
             ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) != 0) {
    return system_error(ErrorClass::kRetryHere, "rename", target.string());
  }
  // After an exchange path_ is the former target, which goes with this object.
  const UniqueFd parent(::open(target.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent || ::fsync(parent.get()) != 0) {
    return system_error(ErrorClass::kRetryHere, "fsync of the folder",
                        target.parent_path().string());
  }
  return {};
}

void remove_abandoned_folders(const fs::path& parent, const std::string& prefix, long age_seconds) {
  std::error_code error;
  const auto oldest = fs::file_time_type::clock::now() - std::chrono::seconds(age_seconds);
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    const auto changed = fs::last_write_time(entry.path(), error);
    if (!error && changed < oldest) fs::remove_all(entry.path(), error);
  }
}

}  // namespace cuzk
