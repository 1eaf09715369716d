#include "common/protocol/client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <thread>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/protocol/stream_socket.hpp"

namespace cuzk {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kReceiveBytes = std::size_t{64} << 10;
// How often a full queue of connections is tried again; connect on a Unix socket has no better
// wait.
constexpr milliseconds kConnectRetry{20};

std::string seconds_text(milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000);
}

Error no_daemon(const std::filesystem::path& path, int error_number) {
  if (error_number == EACCES || error_number == EPERM) {
    return {ErrorClass::kUnavailable, "this user may not connect", path.string(),
            "run as a member of the socket's group"};
  }
  const std::string what = error_number == ENOENT         ? "there is no socket"
                           : error_number == ECONNREFUSED ? "no daemon listens"
                                                          : std::strerror(error_number);
  return {ErrorClass::kUnavailable, what, path.string(),
          "start cuzk-supervisor, or name its socket with --socket or $CUZK_SOCKET"};
}

}  // namespace

Result<Client> Client::connect(const std::filesystem::path& socket, milliseconds timeout) {
  CUZK_CHECK(check_socket_path(socket));
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error(ErrorClass::kRetryHere, "socket", socket.string());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket.c_str(), socket.native().size());
  const auto deadline = Clock::now() + timeout;
  while (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return no_daemon(socket, errno);
    if (Clock::now() >= deadline) {
      return Error{ErrorClass::kBusy,
                   fmt::format("the daemon took no connection for {}", seconds_text(timeout)),
                   socket.string(), "try again later"};
    }
    std::this_thread::sleep_for(kConnectRetry);
  }
  return Client(std::move(fd), socket);
}

Error Client::gone() const {
  return {ErrorClass::kUnavailable, "the daemon closed the connection", path_.string(),
          "its log says why"};
}

Error Client::foreign_answer(const std::string& why) const {
  return bug(fmt::format("the daemon's answer is not understood: {}", why), path_.string());
}

Result<std::string> Client::exchange(MessageType type, std::string_view body,
                                     std::span<const int> fds, const CallOptions& options) {
  if (!socket_) return gone();
  Limits limits{std::nullopt, options.timeout, options.interrupt_fd};
  if (options.timeout) limits.deadline = Clock::now() + *options.timeout;
  const std::uint64_t sequence = ++sequence_;
  CUZK_TRY(bytes, encode_frame(type, sequence, body, fds.size()));
  // From here on an error leaves half a request or half an answer: the connection is of no use.
  const auto broken = [this](Error error) -> Error {
    socket_.reset();
    return error;
  };
  // A daemon that refuses a request early answers and closes; the answer is worth more than "gone".
  const Status sent = send(bytes, fds, limits);
  if (!sent && sent.error().error_class != ErrorClass::kUnavailable) return broken(sent.error());
  while (true) {
    auto frame = receive(limits);
    if (!frame) return broken(std::move(frame).error());
    if (frame->type == MessageType::kError &&
        (frame->sequence == sequence || frame->sequence == 0)) {
      // Sequence 0 speaks of the connection, which the daemon closes.
      if (frame->sequence == 0) socket_.reset();
      return decode_error(frame->body);
    }
    if (frame->sequence != sequence) {
      return broken(foreign_answer(
          fmt::format("it belongs to request {}, not {}", frame->sequence, sequence)));
    }
    if (frame->type == MessageType::kProgress) {
      auto event = decode<ProgressEvent>(frame->body);
      if (!event) return broken(foreign_answer(event.error().what));
      if (options.on_progress) options.on_progress(*event);
      continue;
    }
    if (frame->type != type) {
      return broken(foreign_answer(fmt::format("message type {} instead of {}",
                                               static_cast<unsigned>(frame->type),
                                               static_cast<unsigned>(type))));
    }
    return std::move(frame->body);
  }
}

Status Client::send(std::string_view bytes, std::span<const int> fds, const Limits& limits) {
  while (!bytes.empty()) {
    CUZK_TRY(sent, send_some(socket_.get(), bytes, fds));
    if (sent == 0) {
      CUZK_CHECK(wait(POLLOUT, limits));
      continue;
    }
    bytes.remove_prefix(sent);
    fds = {};
  }
  return {};
}

Result<Frame> Client::receive(const Limits& limits) {
  std::array<std::byte, kReceiveBytes> buffer;
  while (true) {
    auto frame = decoder_.next();
    if (!frame) {
      return Error{ErrorClass::kUnavailable,
                   "what listens here is no daemon of this release: " + frame.error().what,
                   path_.string(), "use cuzkctl and cuzk-supervisor of the same release"};
    }
    if (*frame) return **std::move(frame);
    CUZK_TRY(received, receive_some(socket_.get(), buffer));
    switch (received.state) {
      case Received::State::kClosed: return gone();
      case Received::State::kEmpty: CUZK_CHECK(wait(POLLIN, limits)); break;
      case Received::State::kBytes:
        decoder_.feed(std::span(buffer).first(received.bytes), std::move(received.fds));
        break;
    }
  }
}

// Waits until the socket can be read or written; a hang-up counts as both.
Status Client::wait(short events, const Limits& limits) const {
  while (true) {
    int patience = -1;
    if (limits.deadline) {
      const auto left = std::chrono::ceil<milliseconds>(*limits.deadline - Clock::now());
      if (left.count() <= 0) {
        return Error{ErrorClass::kBusy,
                     fmt::format("no answer within {}", seconds_text(*limits.timeout)),
                     path_.string(), "try again later, or give it more time"};
      }
      patience = static_cast<int>(std::min<std::int64_t>(left.count(), INT_MAX));
    }
    // poll skips a negative descriptor.
    pollfd waits[2] = {{socket_.get(), events, 0}, {limits.interrupt_fd, POLLIN, 0}};
    const int ready = ::poll(waits, 2, patience);
    if (ready < 0 && errno != EINTR) return system_error(ErrorClass::kBug, "poll", path_.string());
    if (ready <= 0) continue;
    if (waits[1].revents != 0) return Error{ErrorClass::kOperator, "interrupted", {}, {}};
    return {};
  }
}

}  // namespace cuzk
