#include "common/unique_fd.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace cuzk {

Error system_error(ErrorClass error_class, const char* call, std::string where) {
  const int saved = errno;
  return {error_class, fmt::format("{}: {}", call, std::strerror(saved)), std::move(where), {}};
}

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Result<UniqueFd> UniqueFd::duplicate() const {
  const int copy = ::fcntl(fd_, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return system_error(ErrorClass::kRetryHere, "fcntl(F_DUPFD_CLOEXEC)", "descriptor");
  return UniqueFd(copy);
}

}  // namespace cuzk
