// Anonymous shared files (memfd) of a fixed size, and mappings of them.
//
// A memfd has no name that could leak or be squatted: it lives exactly as long as somebody holds a
// descriptor. Its size is sealed at birth, so that a peer can neither truncate it under a reader (which
// would kill the reader with SIGBUS) nor let it grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <boost/interprocess/mapped_region.hpp>

#include "common/result.hpp"
#include "common/unique_fd.hpp"

namespace cuzk::shm {

inline constexpr std::uint64_t kPageBytes = 4096;

// `bytes` rounded up to whole pages; false when that overflows.
bool round_up_to_pages(std::uint64_t bytes, std::uint64_t& rounded);

// Creates an all-zero memfd of `bytes`, close-on-exec, sealed against shrinking, growing and further
// seals. No page is allocated yet. `name` shows up in /proc/PID/maps. Errors: kRetryHere.
Result<UniqueFd> create_memfd(const char* name, std::uint64_t bytes);

// Allocates every page now, so that running out of memory is an error here and no SIGBUS later.
Status populate(const UniqueFd& memfd, std::uint64_t bytes);

// A second open file of the same memory that can only be read and mapped read-only. The file's mode
// becomes 0400, so that a holder who is not root cannot re-open it for writing by accident.
Result<UniqueFd> reopen_read_only(const UniqueFd& memfd);

// The size of a memfd that cannot change any more; fails when shrinking is not sealed.
Result<std::uint64_t> sealed_size(const UniqueFd& memfd);

// Gives the pages of [offset, offset + bytes) back to the system; they read as zero afterwards.
// (MADV_DONTNEED would only drop this process's view.)
Status punch(int memfd, std::uint64_t offset, std::uint64_t bytes);

// A MAP_SHARED mapping of a part of a memfd. Unmaps when it goes. The address survives a move.
class Mapping {
 public:
  enum class Access { kRead, kReadWrite };
  enum class Prefault { kNo, kYes };  // kYes: page tables are filled at once (MAP_POPULATE)

  Mapping() = default;
  Mapping(Mapping&&) = default;
  Mapping& operator=(Mapping&&) = default;

  // `offset` is a multiple of the page size; the caller has checked offset + bytes against the size.
  static Result<Mapping> map(const UniqueFd& memfd, Access access, std::uint64_t offset,
                             std::size_t bytes, Prefault prefault = Prefault::kNo);

  std::byte* data() const { return static_cast<std::byte*>(region_.get_address()); }
  std::size_t size() const { return region_.get_size(); }

 private:
  explicit Mapping(boost::interprocess::mapped_region region) : region_(std::move(region)) {}
  boost::interprocess::mapped_region region_;
};

// Wake-ups. An eventfd counts, so a wake that comes before the wait is not lost. Both never block.
Result<UniqueFd> create_eventfd();
void signal_eventfd(int eventfd);
void drain_eventfd(int eventfd);

}  // namespace cuzk::shm
