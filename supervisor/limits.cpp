#include "supervisor/limits.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/resource.h>

#include <spdlog/spdlog.h>

namespace cuzk::supervisor {

void raise_descriptor_limit() {
  constexpr rlim_t kWanted = 65536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kWanted) return;
  limit.rlim_cur = std::min(kWanted, limit.rlim_max);
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    spdlog::warn("cannot raise the limit on open files: {}", std::strerror(errno));
  }
}

}  // namespace cuzk::supervisor
