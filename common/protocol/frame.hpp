// Frames: how messages lie in the byte stream of the Unix socket.
//
// A frame is a header of 24 bytes and a body. The header says how long the body is and how many
// file descriptors come with it, and everything it says is checked before a byte of the body is
// kept. The decoder takes the stream in pieces of any size, so the supervisor (which must never
// block), the client, and the fuzzer share it. Version 1 of the layout, all little-endian:
//
//   0  magic     "CZKF"
//   4  version   u16  kProtocolVersion
//   6  type      u16  a MessageType
//   8  length    u32  bytes of the body, at most kMaxFrameBody
//  12  fds       u32  descriptors that belong to this frame, at most kMaxFrameFds
//  16  sequence  u64  the reply to a request repeats it
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocol/messages.hpp"
#include "common/result.hpp"
#include "common/unique_fd.hpp"

namespace cuzk {

inline constexpr std::string_view kFrameMagic = "CZKF";
inline constexpr std::size_t kFrameHeaderBytes = 24;
inline constexpr std::size_t kMaxFrameBody = std::size_t{4} << 20;
inline constexpr std::size_t kMaxFrameFds = 5;

// One message as it came.
struct Frame {
  MessageType type{};
  std::uint64_t sequence = 0;
  std::string body;
  std::vector<UniqueFd> fds;
};

// Whether a number is one of the MessageTypes.
bool is_message_type(std::uint16_t type);

// Header and body as bytes. The descriptors go with the first byte, by sendmsg. Fails with kBug
// when the body or the number of descriptors is over its limit: whoever builds messages keeps them
// within.
Result<std::string> encode_frame(MessageType type, std::uint64_t sequence, std::string_view body,
                                 std::size_t n_fds = 0);

// The same from a message of common/protocol/messages.hpp.
template <class Message>
  requires(!std::is_convertible_v<const Message&, std::string_view>)
Result<std::string> encode_frame(MessageType type, std::uint64_t sequence, const Message& message,
                                 std::size_t n_fds = 0) {
  return encode_frame(type, sequence, std::string_view(encode(message)), n_fds);
}

// The error in a kError frame's body; a body that is none is a kBug error itself.
Error decode_error(std::string_view body);

// Puts frames together again. Descriptors are matched to frames in the order of arrival: a frame
// owns the first `fds` that are held when its last byte is there, and it is an error if there are
// fewer by then or more than kMaxFrameFds wait for a frame that is not complete.
//
//     decoder.feed(bytes, std::move(fds));
//     while (true) {
//       CUZK_TRY(frame, decoder.next());
//       if (!frame) break;   // feed more
//       ...
//     }
//
// Memory: what was fed and not yet taken, so at most one piece more than one frame when every feed
// is followed by next() until it has nothing.
class FrameDecoder {
 public:
  // `bytes` are copied. Nothing is checked before next().
  void feed(std::span<const std::byte> bytes, std::vector<UniqueFd> fds = {});
  void feed(std::string_view bytes, std::vector<UniqueFd> fds = {}) {
    feed(std::as_bytes(std::span(bytes.data(), bytes.size())), std::move(fds));
  }

  // The next complete frame, or nothing when more bytes are needed. After an error (kBadRequest:
  // the stream is not this protocol, there is no way to find the next frame) every call repeats the
  // error.
  Result<std::optional<Frame>> next();

  // Whether part of a frame is held: the end of the stream now means that the peer broke off.
  bool in_frame() const { return buffer_.size() > begin_ || !fds_.empty(); }
  std::size_t held_bytes() const { return buffer_.size() - begin_; }

 private:
  Result<std::optional<Frame>> fail(Error error);

  std::string buffer_;  // bytes before begin_ are done with
  std::size_t begin_ = 0;
  std::deque<UniqueFd> fds_;  // not yet taken by a frame
  std::optional<Error> error_;
};

}  // namespace cuzk
