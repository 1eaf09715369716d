// The client's end of the Unix socket: connect, ask, wait for the answer.
//
// Blocking, with a time-out on every wait and a descriptor that can break a wait off, so that a
// program around it decides how long it waits and what Ctrl-C means. One request at a time; after
// an error of the transport the connection is closed and every later call fails.
//
//     CUZK_TRY(client, Client::connect(socket));
//     CUZK_TRY(reply, client.call<VersionReply>(MessageType::kVersion, VersionRequest{}));
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/protocol/frame.hpp"
#include "common/protocol/messages.hpp"
#include "common/result.hpp"
#include "common/unique_fd.hpp"

namespace cuzk {

struct CallOptions {
  std::optional<std::chrono::milliseconds> timeout;  // of the whole call; none: for ever
  int interrupt_fd = -1;  // readable: break off with kOperator "interrupted"
  std::function<void(const ProgressEvent&)> on_progress;
};

class Client {
 public:
  // Errors: kUnavailable when nobody listens or it may not be reached, kBusy when the daemon's
  // queue of connections stays full for `timeout`, kBadRequest for a path that no socket can have.
  static Result<Client> connect(const std::filesystem::path& socket,
                                std::chrono::milliseconds timeout = std::chrono::seconds(10));

  // Sends a request with `fds` (they stay the caller's) and waits for its reply. An error that the
  // daemon answers comes back as it is. Others: kBusy when the time is over, kUnavailable when the
  // daemon closed the connection, kOperator when interrupted, kBug when the answer is not one.
  template <class Reply, class Request>
  Result<Reply> call(MessageType type, const Request& request, std::span<const int> fds = {},
                     const CallOptions& options = {}) {
    CUZK_TRY(body, exchange(type, encode(request), fds, options));
    auto reply = decode<Reply>(body);
    if (!reply) return foreign_answer(reply.error().what);
    return reply;
  }

  const std::filesystem::path& socket_path() const { return path_; }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Limits {
    std::optional<TimePoint> deadline;
    std::optional<std::chrono::milliseconds> timeout;  // for the message
    int interrupt_fd = -1;
  };

  Client(UniqueFd socket, std::filesystem::path path)
      : socket_(std::move(socket)), path_(std::move(path)) {}

  Result<std::string> exchange(MessageType type, std::string_view body, std::span<const int> fds,
                               const CallOptions& options);
  Status send(std::string_view bytes, std::span<const int> fds, const Limits& limits);
  Result<Frame> receive(const Limits& limits);
  Status wait(short events, const Limits& limits) const;
  Error gone() const;
  Error foreign_answer(const std::string& why) const;

  UniqueFd socket_;  // non-blocking
  std::filesystem::path path_;
  FrameDecoder decoder_;
  std::uint64_t sequence_ = 0;
};

}  // namespace cuzk
