#include "synth_worker/files/copy_file.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cuzk {
namespace {

// Large enough for the kernel to work in, small enough for progress and cancelling.
constexpr std::uint64_t kChunk = std::uint64_t{8} << 20;

// Moves up to `bytes` from `offset` of `source` to the end of `target`: shares blocks or copies within the
// file system where possible, else goes through the page cache.
ssize_t move_bytes(int source, std::uint64_t offset, int target, std::size_t bytes, bool& same_kind) {
  auto from = static_cast<off_t>(offset);
  if (same_kind) {
    const ssize_t moved = ::copy_file_range(source, &from, target, nullptr, bytes, 0);
    if (moved >= 0 || errno == EINTR || errno == ENOSPC || errno == EIO || errno == EDQUOT) {
      return moved;
    }
    same_kind = false;  // for example from a memfd to a disk
  }
  return ::sendfile(target, source, &from, bytes);
}

Result<std::uint64_t> copy(int source, std::uint64_t size, int target, std::string_view name,
                           const std::filesystem::path& path, const CopySettings& settings,
                           const TaskMonitor& monitor) {
  std::uint64_t done = 0;
  bool same_kind = true;
  for (;;) {
    CUZK_CHECK(monitor.check());
    monitor.at(settings.step,
               size == 0 ? 0 : static_cast<std::uint32_t>(std::min(done, size) * 1000 / size));
    // One byte more than allowed is asked for, to see a file that grows.
    const std::uint64_t wanted = std::min(kChunk, settings.max_bytes - done + 1);
    const ssize_t moved =
        move_bytes(source, done, target, static_cast<std::size_t>(wanted), same_kind);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return system_error(ErrorClass::kRetryHere, "copy", path.string());
    if (moved == 0) return done;
    done += static_cast<std::uint64_t>(moved);
    if (done > settings.max_bytes) {
      return bad_request(fmt::format("grew beyond the {} bytes allowed while it was read",
                                     settings.max_bytes),
                         std::string(name));
    }
  }
}

}  // namespace

Result<std::uint64_t> copy_to_new_file(const UniqueFd& source, std::string_view name,
                                       const std::filesystem::path& target,
                                       const CopySettings& settings, const TaskMonitor& monitor) {
  struct stat info {};
  if (::fstat(source.get(), &info) != 0) {
    return system_error(ErrorClass::kBadRequest, "fstat", std::string(name));
  }
  if (!S_ISREG(info.st_mode)) return bad_request("is not a regular file", std::string(name));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > settings.max_bytes) {
    return bad_request(fmt::format("is {} bytes, more than the {} allowed", size, settings.max_bytes),
                       std::string(name));
  }
  UniqueFd file(::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, settings.mode));
  if (!file) return system_error(ErrorClass::kRetryHere, "create", target.string());
  auto copied = copy(source.get(), size, file.get(), name, target, settings, monitor);
  // The umask may have taken bits away that the file is meant to have.
  if (copied && (::fchmod(file.get(), settings.mode) != 0 || ::fsync(file.get()) != 0)) {
    copied = system_error(ErrorClass::kRetryHere, "fsync", target.string());
  }
  if (!copied) ::unlink(target.c_str());
  return copied;
}

}  // namespace cuzk
