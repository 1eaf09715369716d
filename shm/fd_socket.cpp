#include "shm/fd_socket.hpp"

#include <cerrno>
#include <cstring>
#include <type_traits>

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace cuzk::shm {

namespace {

constexpr const char* kWhere = "control socket";
constexpr std::uint32_t kLabelMagic = 0x4c5a4b43;  // "CKZL"

// The data of a message; the descriptors ride along in the same order as the roles.
struct FdLabel {
  std::uint32_t magic;
  std::uint32_t count;
  std::uint64_t task;
  std::array<std::uint32_t, kMaxFdsPerMessage> roles;
};
static_assert(sizeof(FdLabel) == 48 && std::is_trivial_v<FdLabel>);

// Takes every descriptor out of the control data, so that none leaks whatever is wrong with the rest.
std::vector<UniqueFd> take_descriptors(msghdr& message) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
       control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

}  // namespace

Result<std::pair<FdSocket, FdSocket>> FdSocket::pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    return system_error(ErrorClass::kRetryHere, "socketpair", kWhere);
  }
  return std::pair(FdSocket(UniqueFd(fds[0])), FdSocket(UniqueFd(fds[1])));
}

Status FdSocket::send(TaskId task, std::span<const LabelledFd> fds) {
  if (fds.empty() || fds.size() > kMaxFdsPerMessage) {
    return bug(fmt::format("{} descriptors in one message", fds.size()), kWhere);
  }
  FdLabel label{kLabelMagic, static_cast<std::uint32_t>(fds.size()), task.value, {}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFdsPerMessage * sizeof(int))> control{};
  iovec data{&label, sizeof label};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
  for (std::size_t i = 0; i < fds.size(); ++i) {
    label.roles[i] = static_cast<std::uint32_t>(fds[i].role);
    std::memcpy(CMSG_DATA(header) + i * sizeof(int), &fds[i].fd, sizeof(int));
  }
  while (::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ETOOMANYREFS) {
      return Error{ErrorClass::kBusy, "the peer does not take its descriptors", kWhere, {}};
    }
    return system_error(ErrorClass::kRetryElsewhere, "sendmsg", kWhere);
  }
  return {};
}

Result<ReceivedFds> FdSocket::receive() {
  FdLabel label{};
  // Room for more than a message may carry: what a wild peer adds is received, and closed.
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * kMaxFdsPerMessage * sizeof(int))> control{};
  iovec data{&label, sizeof label};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  while ((got = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)) < 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return ReceivedFds{};
    // The peer died with messages of ours unread; nothing will come any more.
    if (errno == ECONNRESET) return ReceivedFds{ReceivedFds::State::kClosed, {}, {}};
    return system_error(ErrorClass::kRetryElsewhere, "recvmsg", kWhere);
  }
  std::vector<UniqueFd> fds = take_descriptors(message);
  if (got == 0 && fds.empty()) return ReceivedFds{ReceivedFds::State::kClosed, {}, {}};
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return bug("a message was cut off", kWhere);
  }
  if (got != sizeof label || label.magic != kLabelMagic) {
    return bug(fmt::format("a message of {} bytes is no label", got), kWhere);
  }
  if (label.count != fds.size() || fds.empty() || fds.size() > kMaxFdsPerMessage) {
    return bug(fmt::format("a label names {} descriptors, {} arrived", label.count, fds.size()), kWhere);
  }
  ReceivedFds received{ReceivedFds::State::kMessage, TaskId{label.task}, {}};
  for (std::size_t i = 0; i < fds.size(); ++i) {
    received.fds.push_back({std::move(fds[i]), static_cast<FdRole>(label.roles[i])});
  }
  return received;
}

}  // namespace cuzk::shm
