// Descriptors from one process to another, each labelled with its task and role.
//
// Over a SOCK_SEQPACKET pair: a message arrives whole or not at all, with all its descriptors, and the
// end of the peer is seen as end-of-file. No call blocks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/result.hpp"
#include "common/types.hpp"
#include "common/unique_fd.hpp"
#include "common/worker/messages.hpp"

namespace cuzk::shm {

inline constexpr std::size_t kMaxFdsPerMessage = 8;

// A descriptor to send; stays the sender's.
struct LabelledFd {
  int fd = -1;
  FdRole role{};
};

// What arrived.
struct ReceivedFds {
  enum class State { kMessage, kEmpty, kClosed };  // kClosed: the peer is gone and all is read
  struct Entry {
    UniqueFd fd;
    FdRole role{};
  };
  State state = State::kEmpty;
  TaskId task;
  std::vector<Entry> fds;
};

class FdSocket {
 public:
  FdSocket() = default;
  explicit FdSocket(UniqueFd socket) : socket_(std::move(socket)) {}
  // Both ends, close-on-exec.
  static Result<std::pair<FdSocket, FdSocket>> pair();

  int fd() const { return socket_.get(); }
  void close() { socket_.reset(); }

  // Sends all of them in one message, or none. Errors: kBusy when the peer does not read,
  // kRetryElsewhere when it is gone.
  Status send(TaskId task, std::span<const LabelledFd> fds);
  // Takes the next message. Errors: kBug when label and descriptors disagree, or some were cut off; all
  // descriptors of that message are closed.
  Result<ReceivedFds> receive();

 private:
  UniqueFd socket_;
};

}  // namespace cuzk::shm
