// One connection of a client: frames in, replies out, and limits on everything.
//
// Replies are collected and leave when the server says so (after the journal's commit). A client
// that is slow, silent in the middle of a frame, greedy, or talks something else is let go; what it
// submitted and was told about is not touched by that.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "common/protocol/frame.hpp"
#include "common/unique_fd.hpp"
#include "supervisor/clock.hpp"
#include "supervisor/fd_watch.hpp"

namespace cuzk::supervisor {

inline constexpr std::size_t kMaxRequestBytes = std::size_t{512}
                                                << 10;            // larger inputs are attached
inline constexpr std::size_t kMaxUnsent = std::size_t{16} << 20;  // then the client is let go
inline constexpr std::size_t kMaxUnsentProgress = std::size_t{64}
                                                  << 10;  // then progress is dropped
inline constexpr std::uint32_t kMaxRequestsAtOnce = 64;   // then nothing more is read
inline constexpr Duration kFrameLimit =
    std::chrono::seconds(10);  // from a frame's first byte to its last
inline constexpr Duration kWriteLimit = std::chrono::seconds(30);  // without a byte taken

// Who is at the other end, as the kernel knows it.
struct Peer {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int32_t pid = 0;
};

class Session;

// What a request is answered with: any number of progress events, then exactly one reply.
class Responder {
 public:
  Responder(std::weak_ptr<Session> session, std::uint64_t sequence)
      : session_(std::move(session)),
        sequence_(sequence) {}

  template <class Message>
  void reply(MessageType type, const Message& message) const {
    send(type, encode(message));
  }
  void error(const Error& error) const;
  void progress(const ProgressEvent& event) const;
  // False once the client is gone: then all of the above do nothing.
  bool wanted() const;

 private:
  void send(MessageType type, const std::string& body) const;

  std::weak_ptr<Session> session_;
  std::uint64_t sequence_;
};

// Where sessions bring their requests and report.
class SessionOwner {
 public:
  virtual ~SessionOwner() = default;
  virtual void handle(Frame frame, const Peer& peer, Responder responder) = 0;
  virtual void has_output(const std::shared_ptr<Session>& session) = 0;
  virtual void closed(Session& session) = 0;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(boost::asio::io_context& loop, const Clock& clock, SessionOwner& owner, UniqueFd socket,
          Peer peer, std::uint64_t id);

  void start();
  // Sends what is waiting, as far as the client takes it.
  void flush();
  // Lets the client go when a limit has passed.
  void tick();
  void close(const std::string& reason);

  std::uint64_t id() const { return id_; }
  bool open() const { return static_cast<bool>(socket_); }
  bool has_unsent() const { return !unsent_.empty(); }

 private:
  friend class Responder;
  void read();
  bool take_frames();
  void peer_closed();
  void refuse(const Error& error);
  void queue(MessageType type, std::uint64_t sequence, std::string_view body);
  void request_answered();
  void update_frame_deadline();

  boost::asio::io_context& loop_;
  const Clock& clock_;
  SessionOwner& owner_;
  UniqueFd socket_;
  std::optional<FdWatch> watch_;  // goes before the socket
  Peer peer_;
  std::uint64_t id_;

  FrameDecoder decoder_;
  std::uint32_t unanswered_ = 0;
  bool half_closed_ = false;  // the client sends nothing more, but may still read
  bool close_when_sent_ = false;
  std::string unsent_;
  std::size_t sent_ = 0;  // bytes of unsent_ that are gone
  std::optional<TimePoint> frame_deadline_;
  std::optional<TimePoint> write_deadline_;
};

}  // namespace cuzk::supervisor
