// A file that a client passed as a descriptor: what may be known of it without trusting it.
//
// Nothing here waits for the client or its file system: attributes come from the kernel's cache,
// and content is read here only when it is in memory already. Everything larger, and everything
// that is slow, is read by a synth worker, which may be kept waiting or killed by a file that
// shrinks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "supervisor/journal/job_record.hpp"

namespace cuzk::supervisor {

struct ClientFile {
  UniqueFd fd;
  std::string name;  // what the client calls it, made fit for logs and messages
  FileIdentity identity;
};

// Fails with kBadRequest unless it is a regular file opened for reading, or a memfd that cannot
// shrink.
Result<ClientFile> check_client_file(UniqueFd fd, std::string name);

// The identity now, to see whether a file changed while it was read.
Result<FileIdentity> identity_of(const UniqueFd& fd);

// The whole content if it has at most `limit` bytes and no disk or server must be asked for it.
std::optional<std::string> read_if_in_memory(const ClientFile& file, std::uint64_t limit);

// At most 256 bytes of printable text; other bytes become '?'.
std::string clean_name(std::string name);

}  // namespace cuzk::supervisor
