// A file mapped read-only.
//
// Parsers of untrusted files take spans, so that the same code serves files, memfds and fuzzers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "common/result.hpp"
#include "common/unique_fd.hpp"

namespace cuzk {

// Owns a MAP_SHARED, PROT_READ mapping of a whole regular file. An empty file maps to an empty span.
// The mapping does not defend against a file that is truncated while it is read: files that belong to
// somebody else are copied, or read with read_file, before they are trusted with the process's life.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  static Result<MappedFile> open(const std::filesystem::path& path);
  // Maps an open descriptor (file or memfd); `name` is used in errors.
  static Result<MappedFile> map(const UniqueFd& fd, std::string name);

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& name() const { return name_; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::string name_;
};

// Opens for reading, close-on-exec; refuses what is not a regular file (a FIFO would block for ever).
Result<UniqueFd> open_for_reading(const std::filesystem::path& path);

// The whole content of a regular file of at most `limit` bytes.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit);

// Writes beside `path`, flushes to disk and renames: readers see the old file or the new one. A failure
// leaves nothing behind.
Status write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> content);
Status write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace cuzk
