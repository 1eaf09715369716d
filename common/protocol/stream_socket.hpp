// Bytes and descriptors through a Unix stream socket, without blocking.
//
// What both ends of the socket need around frames: taking whatever is there with the descriptors
// that came along, and sending as much as the peer takes. The end of the peer is a value, not a
// signal.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "common/unique_fd.hpp"

namespace cuzk {

struct Received {
  enum class State { kBytes, kEmpty, kClosed };  // kClosed: the peer sends nothing any more
  State state = State::kEmpty;
  std::size_t bytes = 0;      // how much of the buffer was filled
  std::vector<UniqueFd> fds;  // close-on-exec
};

// Takes at most buffer.size() bytes (not 0) and the descriptors that came with them. Errors:
// kBadRequest when more descriptors came than a frame may have (they are closed), kUnavailable when
// the connection broke.
Result<Received> receive_some(int socket, std::span<std::byte> buffer);

// Sends some of `bytes` (not empty); `fds` go with the first byte, all or none, and stay the
// sender's. Returns how many bytes went: 0 when the peer does not read at the moment, and then no
// descriptor went either. Errors: kUnavailable when the peer is gone.
Result<std::size_t> send_some(int socket, std::string_view bytes, std::span<const int> fds = {});

// Fails with kBadRequest for a path that does not fit into a socket address (107 bytes).
Status check_socket_path(const std::filesystem::path& path);

}  // namespace cuzk
