// A prepared key, mapped read-only.
//
// Opening one costs no copy: the arrays are the file's pages, shared with every other process that maps
// it. How much of the file is checked is the caller's choice, because the cache is ours: whoever decides
// to re-use a cached key verifies all of it once, whoever proves with it makes sure that no index can
// lead outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "common/groth16/prepared_key_format.hpp"
#include "common/mapped_file.hpp"
#include "common/result.hpp"
#include "common/types.hpp"

namespace cuzk {

enum class KeyCheck {
  kHeader,   // the header's checksum, and every size against every other
  kIndices,  // and every index in the matrices and variable lists against its bound
  kFull,     // and the checksum of every section
};

// What an engine must know of a circuit to plan its memory.
struct KeyShape {
  CurveId curve{};
  QuotientConvention quotient{};
  std::uint64_t n_variables = 0;  // with the constant one
  std::uint64_t n_public = 0;     // without it
  std::uint64_t domain_size = 0;
  std::uint64_t n_rows = 0;
  std::uint64_t n_a = 0;  // points
  std::uint64_t n_b = 0;
  std::uint64_t n_l = 0;
  std::uint64_t n_terms = 0;  // of both matrices
};

class PreparedKey {
 public:
  // Fails with kBadRequest when there is no file at `path`, and with kRetryElsewhere when it is not a
  // sound prepared key of this version: it can be made again from its source, but not here.
  static Result<PreparedKey> open(const std::filesystem::path& path, KeyCheck check);

  const PreparedKeyHeader& header() const { return header_; }
  CurveId curve() const { return static_cast<CurveId>(header_.curve); }
  const Digest& digest() const { return header_.source_digest; }
  KeyShape shape() const;
  std::size_t file_bytes() const { return file_.bytes().size(); }

  // The bytes of a section that the format requires: always there once the key is open.
  std::span<const std::byte> section(KeySection id) const;
  template <class T>
  std::span<const T> array(KeySection id) const {
    const std::span<const std::byte> bytes = section(id);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  PreparedKey(MappedFile file, const PreparedKeyHeader& header)
      : file_(std::move(file)), header_(header) {}

  const PreparedKeySection* find(KeySection id) const;
  Error damaged(std::string what) const;
  Status check_header() const;
  Status check_sections() const;
  Status check_indices() const;
  Status check_checksums() const;

  MappedFile file_;
  PreparedKeyHeader header_;  // a copy: what was checked is what is used
};

}  // namespace cuzk
