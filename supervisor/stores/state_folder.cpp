#include "supervisor/stores/state_folder.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <spdlog/spdlog.h>

namespace cuzk::supervisor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDiskMargin = std::uint64_t{64} << 20;

Status make_folder(const fs::path& path) {
  std::error_code error;
  const bool made = fs::create_directories(path, error);
  if (error) {
    return Error{ErrorClass::kOperator, "cannot make the folder: " + error.message(), path.string(),
                 "check the parent's owner and mode, or choose another with --state-dir"};
  }
  if (made) fs::permissions(path, fs::perms::owner_all, error);
  return {};
}

std::string read_pid(int fd) {
  std::array<char, 32> text{};
  const auto got = ::pread(fd, text.data(), text.size() - 1, 0);
  std::string pid(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  pid.resize(std::min(pid.find_first_not_of("0123456789"), pid.size()));
  return pid.empty() ? "unknown" : pid;
}

Result<UniqueFd> take_lock(const fs::path& path) {
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return system_error(ErrorClass::kOperator, "open", path.string());
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error(ErrorClass::kOperator, "flock", path.string());
    return Error{ErrorClass::kOperator,
                 fmt::format("the state folder is in use by the supervisor with pid {}",
                             read_pid(lock.get())),
                 path.parent_path().string(),
                 "stop that one, or choose another folder with --state-dir"};
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock.get(), 0) != 0 ||
      ::pwrite(lock.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return system_error(ErrorClass::kOperator, "write", path.string());
  }
  return lock;
}

// A living writer of a key holds a lock on its file; the cache may be shared with other
// supervisors.
bool is_abandoned(const fs::path& path) {
  if (path.extension() != ".tmp") return false;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

// Removes the entries of `folder` for which `goes` holds.
template <class Predicate>
std::size_t remove_if(const fs::path& folder, Predicate goes) {
  std::size_t removed = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!goes(entry->path())) continue;
    std::error_code ignored;
    fs::remove_all(entry->path(), ignored);
    if (ignored) {
      spdlog::warn("cannot remove {}: {}", entry->path().string(), ignored.message());
    } else {
      ++removed;
    }
  }
  return removed;
}

}  // namespace

Result<StateFolder> StateFolder::open(const fs::path& root, const fs::path& key_cache) {
  CUZK_CHECK(make_folder(root));
  CUZK_TRY(lock, take_lock(root / "lock"));
  StateFolder folder(root, key_cache, std::move(lock));
  for (const auto& path : {folder.keys(), folder.spool(), folder.circuits()}) {
    CUZK_CHECK(make_folder(path));
  }
  return folder;
}

std::size_t StateFolder::clean_up(const std::set<std::string>& inputs,
                                  const std::set<std::string>& circuits) const {
  std::size_t removed = remove_if(keys_, is_abandoned);
  const auto unnamed = [](const std::set<std::string>& named) {
    return [&named](const fs::path& path) { return !named.contains(path.filename().string()); };
  };
  removed += remove_if(spool(), unnamed(inputs));
  removed += remove_if(this->circuits(), unnamed(circuits));
  return removed;
}

void StateFolder::remove_input(const std::string& name) const {
  if (name.empty()) return;
  remove_if(spool(), [&name](const fs::path& path) {
    const std::string entry = path.filename().string();
    return entry == name || entry.starts_with(name + ".");
  });
}

bool StateFolder::has_room_for(std::uint64_t bytes) const {
  struct statvfs disk {};
  if (::statvfs(root_.c_str(), &disk) != 0) return true;  // the write itself will tell
  const std::uint64_t free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  return free > kDiskMargin && free - kDiskMargin >= bytes;
}

}  // namespace cuzk::supervisor
