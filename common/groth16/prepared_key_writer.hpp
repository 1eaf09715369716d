// Writes a prepared key so that it is in the cache whole or not at all.
//
// The file is made without a name where the file system can do that (O_TMPFILE), filled through a
// mapping, flushed to disk, and only then linked and renamed into place: a process that dies in between
// leaves nothing that somebody has to clean up, and a reader sees the old key or the new one. Where the
// file system cannot, the file has a temporary name and a lock; leftovers that nobody locks are removed by
// the next writer of the same key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "common/groth16/prepared_key_format.hpp"
#include "common/result.hpp"
#include "common/unique_fd.hpp"

namespace cuzk {

struct SectionPlan {
  KeySection id{};
  std::uint32_t element_bytes = 0;
  std::uint64_t count = 0;
};

class PreparedKeyWriter {
 public:
  // Reserves the disk space for all sections. `header` brings everything but the sizes, sections and
  // checksums. Fails with kRetryHere when the disk is full.
  static Result<PreparedKeyWriter> create(std::filesystem::path path,
                                          const PreparedKeyHeader& header,
                                          std::span<const SectionPlan> sections);
  PreparedKeyWriter(PreparedKeyWriter&& other) noexcept;
  PreparedKeyWriter& operator=(PreparedKeyWriter&&) = delete;
  ~PreparedKeyWriter();

  // The array to fill, zeros at first; empty for an id that is not in the plan.
  template <class T>
  std::span<T> array(KeySection id) {
    const std::span<std::byte> bytes = section(id);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  // Computes the checksums and puts the file in place. Call once; returns the size of the file.
  Result<std::uint64_t> commit();

 private:
  PreparedKeyWriter() = default;

  std::span<std::byte> section(KeySection id);
  Status open_file();
  Status map_file(std::uint64_t bytes);
  Status put_in_place();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty while the file has no name
  UniqueFd fd_;
  std::byte* data_ = nullptr;
  PreparedKeyHeader header_;
};

}  // namespace cuzk
