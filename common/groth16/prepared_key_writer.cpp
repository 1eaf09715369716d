#include "common/groth16/prepared_key_writer.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/hash.hpp"

namespace cuzk {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTemporarySuffix = ".tmp";

// A name beside `path` that no other process and no other writer of this process uses.
fs::path temporary_name(const fs::path& path) {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}.{}.{}{}", path.string(), ::getpid(), counter.fetch_add(1),
                     kTemporarySuffix);
}

// Removes what writers of `path` left behind when they were killed. A living writer holds a lock on
// its file, so what can be locked is nobody's.
void remove_leftovers(const fs::path& path) {
  const std::string prefix = path.filename().string() + ".";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(kTemporarySuffix)) continue;
    UniqueFd fd(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
  }
}

Status sync_folder(const fs::path& folder) {
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) {
    return system_error(ErrorClass::kRetryHere, "fsync of the folder", folder.string());
  }
  return {};
}

}  // namespace

Result<PreparedKeyWriter> PreparedKeyWriter::create(fs::path path, const PreparedKeyHeader& header,
                                                    std::span<const SectionPlan> sections) {
  if (sections.size() > kPreparedKeyMaxSections) return bug("a prepared key has too many sections");
  PreparedKeyWriter writer;
  writer.path_ = fs::absolute(path);
  writer.header_ = header;
  std::uint64_t offset = kPreparedKeyPage;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const SectionPlan& plan = sections[i];
    writer.header_.sections[i] = {static_cast<std::uint32_t>(plan.id), plan.element_bytes,
                                  plan.count, offset, 0};
    offset += whole_pages(plan.count * plan.element_bytes);
  }
  writer.header_.magic = kPreparedKeyMagic;
  writer.header_.version = kPreparedKeyVersion;
  writer.header_.header_bytes = kPreparedKeyPage;
  writer.header_.n_sections = static_cast<std::uint32_t>(sections.size());
  writer.header_.file_bytes = offset;
  remove_leftovers(writer.path_);
  CUZK_CHECK(writer.open_file());
  CUZK_CHECK(writer.map_file(offset));
  return writer;
}

PreparedKeyWriter::PreparedKeyWriter(PreparedKeyWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      header_(other.header_) {}

PreparedKeyWriter::~PreparedKeyWriter() {
  if (data_ != nullptr) ::munmap(data_, header_.file_bytes);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status PreparedKeyWriter::open_file() {
  const fs::path folder = path_.parent_path();
  fd_.reset(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0640));
  if (!fd_ && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    const fs::path name = temporary_name(path_);
    fd_.reset(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
    if (fd_) temporary_ = name;
  }
  if (!fd_) return system_error(ErrorClass::kRetryHere, "create a file in", folder.string());
  // Another writer may come by before the lock is held and take the name for a leftover; then commit()
  // finds no file to rename and the task is tried again.
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    return system_error(ErrorClass::kRetryHere, "lock a new file in", folder.string());
  }
  return {};
}

Status PreparedKeyWriter::map_file(std::uint64_t bytes) {
  // Reserved now: a full disk is an error here instead of a SIGBUS while the pages are filled.
  const int failure = ::posix_fallocate(fd_.get(), 0, static_cast<off_t>(bytes));
  if (failure != 0) {
    errno = failure;
    return system_error(ErrorClass::kRetryHere, fmt::format("reserve {} bytes", bytes).c_str(),
                        path_.string());
  }
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (address == MAP_FAILED) {
    return system_error(ErrorClass::kRetryHere, "mmap", path_.string());
  }
  data_ = static_cast<std::byte*>(address);
  return {};
}

std::span<std::byte> PreparedKeyWriter::section(KeySection id) {
  for (std::size_t i = 0; i < header_.n_sections; ++i) {
    const PreparedKeySection& entry = header_.sections[i];
    if (entry.id == static_cast<std::uint32_t>(id)) {
      return {data_ + entry.offset, entry.count * entry.element_bytes};
    }
  }
  return {};
}

Result<std::uint64_t> PreparedKeyWriter::commit() {
  for (std::size_t i = 0; i < header_.n_sections; ++i) {
    PreparedKeySection& entry = header_.sections[i];
    entry.checksum = xxh3_64({data_ + entry.offset, whole_pages(entry.count * entry.element_bytes)});
  }
  const auto header_bytes = std::as_bytes(std::span(&header_, 1));
  header_.checksum = xxh3_64(header_bytes.first(offsetof(PreparedKeyHeader, checksum)));
  std::memcpy(data_, &header_, sizeof header_);
  if (::msync(data_, header_.file_bytes, MS_SYNC) != 0 || ::fsync(fd_.get()) != 0) {
    return system_error(ErrorClass::kRetryHere, "flush to disk", path_.string());
  }
  CUZK_CHECK(put_in_place());
  return header_.file_bytes;
}

Status PreparedKeyWriter::put_in_place() {
  if (temporary_.empty()) {
    // linkat does not replace an existing file, rename does: the name in between lives for an instant.
    const fs::path name = temporary_name(path_);
    const std::string self = fmt::format("/proc/self/fd/{}", fd_.get());
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return system_error(ErrorClass::kRetryHere, "link", name.string());
    }
    temporary_ = name;
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return system_error(ErrorClass::kRetryHere, "rename", path_.string());
  }
  temporary_.clear();
  return sync_folder(path_.parent_path());
}

}  // namespace cuzk
