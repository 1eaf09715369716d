// A private copy of somebody else's file, and its digest.
//
// The descriptor that a client hands over stays the client's: it may write to the file or truncate it
// while we read. Parsing a mapping of it could end in SIGBUS, and checking it first and using it later
// could file wrong content under a right digest. So the bytes are read once, into an unnamed file of our
// own, and the digest is computed from the very bytes that are kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "common/mapped_file.hpp"
#include "common/result.hpp"
#include "common/types.hpp"
#include "common/unique_fd.hpp"

namespace cuzk {

// Told the bytes done and the bytes in all; returns false to stop.
using ByteProgress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

// SHA-256 of a regular file or memfd from offset 0 to its end. Fails with kBadRequest when it is
// neither or shrinks meanwhile, with kOperator when `progress` says stop.
Result<Digest> digest_of(const UniqueFd& source, const std::string& name,
                         const ByteProgress& progress);

struct SourceCopy {
  MappedFile file;
  Digest digest{};
};

// Copies into an unnamed file in `folder`, which disappears with the returned mapping. Fails as
// digest_of does, and with kRetryHere when the disk is full.
Result<SourceCopy> copy_source(const UniqueFd& source, const std::string& name,
                               const std::filesystem::path& folder, const ByteProgress& progress);

}  // namespace cuzk
