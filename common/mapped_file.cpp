#include "common/mapped_file.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cuzk {

namespace fs = std::filesystem;

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      name_(std::move(other.name_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(name_, other.name_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

Result<UniqueFd> open_for_reading(const fs::path& path) {
  // O_NONBLOCK keeps open() from waiting for the writer of a FIFO; it means nothing for files.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return system_error(ErrorClass::kBadRequest, "open", path.string());
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return system_error(ErrorClass::kBadRequest, "fstat", path.string());
  }
  if (!S_ISREG(info.st_mode)) return bad_request("is not a regular file", path.string());
  return fd;
}

Result<MappedFile> MappedFile::open(const fs::path& path) {
  CUZK_TRY(fd, open_for_reading(path));
  return map(fd, path.string());
}

Result<MappedFile> MappedFile::map(const UniqueFd& fd, std::string name) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return system_error(ErrorClass::kBadRequest, "fstat", std::move(name));
  }
  MappedFile file;
  file.name_ = std::move(name);
  file.size_ = static_cast<std::size_t>(info.st_size);
  if (file.size_ == 0) return file;
  void* address = ::mmap(nullptr, file.size_, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) {
    file.size_ = 0;
    return system_error(ErrorClass::kRetryHere, "mmap", file.name_);
  }
  file.data_ = static_cast<const std::byte*>(address);
  return file;
}

Result<std::string> read_file(const fs::path& path, std::size_t limit) {
  CUZK_TRY(fd, open_for_reading(path));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return system_error(ErrorClass::kBadRequest, "fstat", path.string());
  }
  if (static_cast<std::uint64_t>(info.st_size) > limit) {
    return bad_request(fmt::format("is {} bytes, more than the {} allowed", info.st_size, limit),
                       path.string());
  }
  std::string content(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t got = ::read(fd.get(), content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(ErrorClass::kRetryHere, "read", path.string());
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  content.resize(done);
  return content;
}

namespace {

Status write_all(int fd, std::span<const std::byte> content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error(ErrorClass::kRetryHere, "write", path.string());
    content = content.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Status sync_folder(const fs::path& folder) {
  UniqueFd fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) {
    return system_error(ErrorClass::kRetryHere, "fsync of the folder", folder.string());
  }
  return {};
}

}  // namespace

Status write_file_atomically(const fs::path& path, std::span<const std::byte> content) {
  static std::atomic<unsigned> counter{0};
  const fs::path temporary =
      fmt::format("{}.{}.{}.tmp", path.string(), ::getpid(), counter.fetch_add(1));
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
  if (!fd) return system_error(ErrorClass::kBadRequest, "create", temporary.string());
  Status written = write_all(fd.get(), content, temporary);
  if (written && ::fsync(fd.get()) != 0) {
    written = system_error(ErrorClass::kRetryHere, "fsync", temporary.string());
  }
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = system_error(ErrorClass::kBadRequest, "rename", path.string());
  }
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  return sync_folder(path.parent_path());
}

Status write_file_atomically(const fs::path& path, std::string_view content) {
  return write_file_atomically(path, std::as_bytes(std::span(content.data(), content.size())));
}

}  // namespace cuzk
