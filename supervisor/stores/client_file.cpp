#include "supervisor/stores/client_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

namespace cuzk::supervisor {
namespace {

constexpr std::size_t kMaxName = 256;
constexpr int kNanosecondsPerSecond = 1'000'000'000;

std::int64_t nanoseconds(const statx_timestamp& time) {
  return time.tv_sec * kNanosecondsPerSecond + time.tv_nsec;
}

// DONT_SYNC: a file system that lives in a client's process, or far away, is not asked.
bool attributes(int fd, struct statx& result) {
  return ::statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &result) == 0;
}

FileIdentity identity_from(const struct statx& attributes) {
  return {::makedev(attributes.stx_dev_major, attributes.stx_dev_minor), attributes.stx_ino,
          attributes.stx_size, nanoseconds(attributes.stx_mtime),
          nanoseconds(attributes.stx_ctime)};
}

}  // namespace

std::string clean_name(std::string name) {
  if (name.size() > kMaxName) name.resize(kMaxName);
  for (char& byte : name) {
    const auto value = static_cast<unsigned char>(byte);
    if (value < 0x20 || value == 0x7f || byte == '"' || byte == '\\') byte = '?';
  }
  return name;
}

Result<FileIdentity> identity_of(const UniqueFd& fd) {
  struct statx found {};
  if (!attributes(fd.get(), found))
    return system_error(ErrorClass::kBadRequest, "statx", "descriptor");
  return identity_from(found);
}

Result<ClientFile> check_client_file(UniqueFd fd, std::string name) {
  name = clean_name(std::move(name));
  const std::string where = name.empty() ? "attached file" : name;
  struct statx found {};
  if (!attributes(fd.get(), found)) return system_error(ErrorClass::kBadRequest, "statx", where);
  if (!S_ISREG(found.stx_mode)) {
    return bad_request("this is not a regular file", where,
                       "pass a file, not a pipe, socket or device");
  }
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY || (flags & O_PATH) != 0) {
    return bad_request("the file is not open for reading", where);
  }
  // Files without a name in a memory file system are memfds, for all that matters here.
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals >= 0 && found.stx_nlink == 0 && (seals & F_SEAL_SHRINK) == 0) {
    return bad_request("the memfd may still shrink", where, "seal it with F_SEAL_SHRINK");
  }
  return ClientFile{std::move(fd), std::move(name), identity_from(found)};
}

std::optional<std::string> read_if_in_memory(const ClientFile& file, std::uint64_t limit) {
  if (file.identity.size > limit) return std::nullopt;
  // Memory files do not know RWF_NOWAIT everywhere, and do not need it.
  const bool in_memory = ::fcntl(file.fd.get(), F_GET_SEALS) >= 0;
  std::string content(file.identity.size + 1, '\0');  // one more: a file that grew is not taken
  std::size_t filled = 0;
  while (filled < content.size()) {
    const iovec part{content.data() + filled, content.size() - filled};
    const auto got =
        ::preadv2(file.fd.get(), &part, 1, static_cast<off_t>(filled), in_memory ? 0 : RWF_NOWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  if (filled != file.identity.size) return std::nullopt;
  content.resize(filled);
  return content;
}

}  // namespace cuzk::supervisor
