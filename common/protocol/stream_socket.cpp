#include "common/protocol/stream_socket.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "common/protocol/frame.hpp"

namespace cuzk {

namespace {

constexpr const char* kWhere = "socket";

// Takes every descriptor out of the control data, so that none leaks whatever is wrong with the
// rest.
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

Result<Received> receive_some(int socket, std::span<std::byte> buffer) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFrameFds * sizeof(int))> control{};
  iovec data{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  while ((got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)) < 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Received{};
    if (errno == ECONNRESET) return Received{Received::State::kClosed, 0, {}};
    return system_error(ErrorClass::kUnavailable, "recvmsg", kWhere);
  }
  std::vector<UniqueFd> fds = take_descriptors(message);
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    return bad_request("more file descriptors came than can be taken", kWhere,
                       "at most 5 belong to a frame; or this process has too many files open");
  }
  if (got == 0) return Received{Received::State::kClosed, 0, {}};
  return Received{Received::State::kBytes, static_cast<std::size_t>(got), std::move(fds)};
}

Result<std::size_t> send_some(int socket, std::string_view bytes, std::span<const int> fds) {
  if (bytes.empty() || fds.size() > kMaxFrameFds) {
    return bug(fmt::format("{} descriptors with {} bytes", fds.size(), bytes.size()), kWhere);
  }
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFrameFds * sizeof(int))> control{};
  iovec data{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  while (true) {
    const ssize_t put = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0) return static_cast<std::size_t>(put);
    if (errno == EINTR) continue;
    // ETOOMANYREFS: too many descriptors are in flight, which passes as the peer reads.
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ETOOMANYREFS) return std::size_t{0};
    return system_error(ErrorClass::kUnavailable, "sendmsg", kWhere);
  }
}

Status check_socket_path(const std::filesystem::path& path) {
  const std::size_t limit = sizeof(sockaddr_un{}.sun_path) - 1;
  if (path.empty() || path.native().size() > limit) {
    return bad_request(
        fmt::format("a socket's path has 1 to {} bytes, this one {}", limit, path.native().size()),
        path.string(), "use a shorter path");
  }
  return {};
}

}  // namespace cuzk
