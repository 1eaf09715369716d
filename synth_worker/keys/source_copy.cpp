#include "synth_worker/keys/source_copy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/hash.hpp"

namespace cuzk {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

Result<std::uint64_t> size_of(const UniqueFd& source, const std::string& name) {
  struct stat info {};
  if (::fstat(source.get(), &info) != 0) {
    return system_error(ErrorClass::kBadRequest, "fstat", name);
  }
  if (!S_ISREG(info.st_mode)) return bad_request("is not a regular file", name);
  return static_cast<std::uint64_t>(info.st_size);
}

// Calls sink(chunk) -> Status for all bytes of `source` in order.
template <class Sink>
Status read_all(const UniqueFd& source, const std::string& name, const ByteProgress& progress,
                Sink&& sink) {
  CUZK_TRY(total, size_of(source, name));
  std::vector<std::byte> buffer(std::min<std::uint64_t>(total, kChunk));
  std::uint64_t done = 0;
  while (done < total) {
    const std::size_t want = std::min<std::uint64_t>(total - done, buffer.size());
    const ssize_t got = ::pread(source.get(), buffer.data(), want, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(ErrorClass::kRetryHere, "read", name);
    if (got == 0) {
      return bad_request("the file became shorter while it was read", name);
    }
    CUZK_CHECK(sink(std::span<const std::byte>(buffer.data(), static_cast<std::size_t>(got))));
    done += static_cast<std::uint64_t>(got);
    if (progress && !progress(done, total)) {
      return Error{ErrorClass::kOperator, "stopped on request", name, {}};
    }
  }
  return {};
}

Result<UniqueFd> unnamed_file(const std::filesystem::path& folder, std::uint64_t bytes) {
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  // Not every file system has unnamed files; memory has.
  if (!fd) fd.reset(::memfd_create("key source", MFD_CLOEXEC));
  if (!fd) return system_error(ErrorClass::kRetryHere, "create a file in", folder.string());
  const int failure =
      bytes == 0 ? 0 : ::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes));
  if (failure != 0) {
    errno = failure;
    return system_error(ErrorClass::kRetryHere, fmt::format("reserve {} bytes", bytes).c_str(),
                        folder.string());
  }
  return fd;
}

Status append(const UniqueFd& fd, std::span<const std::byte> bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error(ErrorClass::kRetryHere, "copy", name);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

}  // namespace

Result<Digest> digest_of(const UniqueFd& source, const std::string& name,
                         const ByteProgress& progress) {
  Sha256 hash;
  CUZK_CHECK(read_all(source, name, progress, [&](std::span<const std::byte> bytes) -> Status {
    hash.update(bytes);
    return {};
  }));
  return hash.finish();
}

Result<SourceCopy> copy_source(const UniqueFd& source, const std::string& name,
                               const std::filesystem::path& folder,
                               const ByteProgress& progress) {
  CUZK_TRY(total, size_of(source, name));
  CUZK_TRY(copy, unnamed_file(folder, total));
  Sha256 hash;
  CUZK_CHECK(read_all(source, name, progress, [&](std::span<const std::byte> bytes) -> Status {
    hash.update(bytes);
    return append(copy, bytes, name);
  }));
  CUZK_TRY(file, MappedFile::map(copy, name));
  return SourceCopy{std::move(file), hash.finish()};
}

}  // namespace cuzk
