#include "shm/memfd.hpp"

#include <cerrno>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/interprocess/exceptions.hpp>

namespace cuzk::shm {

namespace {

namespace ipc = boost::interprocess;

// Lets mapped_region map a descriptor that Boost did not open.
class BorrowedHandle {
 public:
  explicit BorrowedHandle(int fd) : fd_(fd) {}
  ipc::mapping_handle_t get_mapping_handle() const {
    return ipc::ipcdetail::mapping_handle_from_file_handle(fd_);
  }

 private:
  int fd_;
};

}  // namespace

bool round_up_to_pages(std::uint64_t bytes, std::uint64_t& rounded) {
  if (bytes > std::numeric_limits<std::int64_t>::max() - kPageBytes) return false;
  rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  return true;
}

Result<UniqueFd> create_memfd(const char* name, std::uint64_t bytes) {
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) {
    return bug(fmt::format("a shared file of {} bytes is too large", bytes), name);
  }
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error(ErrorClass::kRetryHere, "memfd_create", name);
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return system_error(ErrorClass::kRetryHere, "ftruncate", name);
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return system_error(ErrorClass::kRetryHere, "fcntl(F_ADD_SEALS)", name);
  }
  return fd;
}

Status populate(const UniqueFd& memfd, std::uint64_t bytes) {
  while (::fallocate(memfd.get(), 0, 0, static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    return system_error(ErrorClass::kRetryHere, "fallocate", "memfd");
  }
  return {};
}

Result<UniqueFd> reopen_read_only(const UniqueFd& memfd) {
  if (::fchmod(memfd.get(), 0400) != 0) {
    return system_error(ErrorClass::kRetryHere, "fchmod", "memfd");
  }
  const std::string path = fmt::format("/proc/self/fd/{}", memfd.get());
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return system_error(ErrorClass::kRetryHere, "open", path);
  return fd;
}

Result<std::uint64_t> sealed_size(const UniqueFd& memfd) {
  const int seals = ::fcntl(memfd.get(), F_GET_SEALS);
  if (seals < 0) return system_error(ErrorClass::kBug, "fcntl(F_GET_SEALS)", "memfd");
  if ((seals & F_SEAL_SHRINK) == 0) return bug("the size of a shared file is not sealed", "memfd");
  struct stat info {};
  if (::fstat(memfd.get(), &info) != 0) return system_error(ErrorClass::kBug, "fstat", "memfd");
  return static_cast<std::uint64_t>(info.st_size);
}

Status punch(int memfd, std::uint64_t offset, std::uint64_t bytes) {
  while (::fallocate(memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                     static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    return system_error(ErrorClass::kRetryHere, "fallocate(FALLOC_FL_PUNCH_HOLE)", "memfd");
  }
  return {};
}

Result<Mapping> Mapping::map(const UniqueFd& memfd, Access access, std::uint64_t offset,
                             std::size_t bytes, Prefault prefault) {
  const auto mode = access == Access::kRead ? ipc::read_only : ipc::read_write;
  const ipc::map_options_t options =
      prefault == Prefault::kYes ? MAP_POPULATE : ipc::default_map_options;
  try {
    return Mapping(ipc::mapped_region(BorrowedHandle(memfd.get()), mode,
                                      static_cast<ipc::offset_t>(offset), bytes, nullptr, options));
  } catch (const ipc::interprocess_exception& exception) {
    return Error{ErrorClass::kRetryHere, fmt::format("mmap: {}", exception.what()),
                 fmt::format("{} bytes of a memfd", bytes), {}};
  }
}

Result<UniqueFd> create_eventfd() {
  UniqueFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) return system_error(ErrorClass::kRetryHere, "eventfd", "channel");
  return fd;
}

void signal_eventfd(int eventfd) {
  const std::uint64_t one = 1;
  // EAGAIN means that the counter is at its maximum: the peer is as awake as it gets.
  while (::write(eventfd, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void drain_eventfd(int eventfd) {
  std::uint64_t count = 0;
  while (::read(eventfd, &count, sizeof count) < 0 && errno == EINTR) {
  }
}

}  // namespace cuzk::shm
