// Encoding and incremental decoding of frames.
#include "common/protocol/frame.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace cuzk {

namespace {

static_assert(std::endian::native == std::endian::little,
              "headers are copied as they lie in memory");

constexpr const char* kWhere = "socket frame";

// `decode` needs a type of its own: a Result<Error> could not tell its value from its error.
struct ErrorBody {
  Error error;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(error);
  }
};

struct Header {
  std::uint16_t version = 0;
  std::uint16_t type = 0;
  std::uint32_t length = 0;
  std::uint32_t n_fds = 0;
  std::uint64_t sequence = 0;
};

template <class Integer>
void put(std::string& bytes, Integer value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

template <class Integer>
Integer get(std::string_view bytes, std::size_t offset) {
  Integer value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string printable(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", byte);
    }
  }
  return text;
}

// `bytes` holds at least a header.
Result<Header> read_header(std::string_view bytes) {
  Header header{get<std::uint16_t>(bytes, 4), get<std::uint16_t>(bytes, 6),
                get<std::uint32_t>(bytes, 8), get<std::uint32_t>(bytes, 12),
                get<std::uint64_t>(bytes, 16)};
  if (header.version != kProtocolVersion) {
    return bad_request(fmt::format("protocol version {}, this program speaks version {}",
                                   header.version, kProtocolVersion),
                       kWhere, "use cuzkctl and cuzk-supervisor of the same release");
  }
  if (!is_message_type(header.type)) {
    return bad_request(fmt::format("unknown message type {}", header.type), kWhere);
  }
  if (header.length > kMaxFrameBody) {
    return bad_request(fmt::format("a body of {} bytes is announced, at most {} are allowed",
                                   header.length, kMaxFrameBody),
                       kWhere, "pass large inputs as file descriptors");
  }
  if (header.n_fds > kMaxFrameFds) {
    return bad_request(fmt::format("{} file descriptors are announced, at most {} are allowed",
                                   header.n_fds, kMaxFrameFds),
                       kWhere);
  }
  return header;
}

}  // namespace

bool is_message_type(std::uint16_t type) {
  switch (static_cast<MessageType>(type)) {
    case MessageType::kError:
    case MessageType::kProgress:
    case MessageType::kVersion:
    case MessageType::kSubmit:
    case MessageType::kAwait:
    case MessageType::kCancel:
    case MessageType::kJobs:
    case MessageType::kStatus:
    case MessageType::kCircuitAdd:
    case MessageType::kCircuitList:
    case MessageType::kCircuitRemove: return true;
  }
  return false;
}

Result<std::string> encode_frame(MessageType type, std::uint64_t sequence, std::string_view body,
                                 std::size_t n_fds) {
  if (body.size() > kMaxFrameBody || n_fds > kMaxFrameFds) {
    return bug(fmt::format("a message of {} bytes with {} descriptors does not fit a frame",
                           body.size(), n_fds),
               kWhere);
  }
  std::string bytes;
  bytes.reserve(kFrameHeaderBytes + body.size());
  bytes.append(kFrameMagic);
  put(bytes, kProtocolVersion);
  put(bytes, static_cast<std::uint16_t>(type));
  put(bytes, static_cast<std::uint32_t>(body.size()));
  put(bytes, static_cast<std::uint32_t>(n_fds));
  put(bytes, sequence);
  bytes.append(body);
  return bytes;
}

Error decode_error(std::string_view body) {
  auto decoded = decode<ErrorBody>(body);
  if (!decoded) return bug("an error that cannot be read: " + decoded.error().what, kWhere);
  return std::move(decoded->error);
}

void FrameDecoder::feed(std::span<const std::byte> bytes, std::vector<UniqueFd> fds) {
  if (error_) return;
  // Bytes that are done with go when they outweigh what is kept, so that moving costs O(1) a byte.
  if (begin_ > 0 && begin_ >= buffer_.size() - begin_) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  if (!bytes.empty()) buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (UniqueFd& fd : fds) fds_.push_back(std::move(fd));
}

Result<std::optional<Frame>> FrameDecoder::fail(Error error) {
  error_ = std::move(error);
  buffer_.clear();
  buffer_.shrink_to_fit();
  begin_ = 0;
  fds_.clear();
  return *error_;
}

Result<std::optional<Frame>> FrameDecoder::next() {
  if (error_) return *error_;
  const std::string_view bytes = std::string_view(buffer_).substr(begin_);
  // A stranger is told apart at its first wrong byte, not after it has sent a header's worth.
  const std::string_view start = bytes.substr(0, kFrameMagic.size());
  if (start != kFrameMagic.substr(0, start.size())) {
    return fail(bad_request(
        fmt::format("starts with \"{}\", not with \"{}\"", printable(start), kFrameMagic), kWhere,
        "this socket speaks cuzk's own protocol: use cuzkctl"));
  }
  std::optional<Header> header;
  if (bytes.size() >= kFrameHeaderBytes) {
    auto read = read_header(bytes);
    if (!read) return fail(std::move(read).error());
    header = *read;
  }
  if (!header || bytes.size() - kFrameHeaderBytes < header->length) {
    if (fds_.size() > kMaxFrameFds) {
      return fail(
          bad_request(fmt::format("{} file descriptors came for one frame, at most {} are allowed",
                                  fds_.size(), kMaxFrameFds),
                      kWhere));
    }
    return std::optional<Frame>();
  }
  if (fds_.size() < header->n_fds) {
    return fail(bad_request(
        fmt::format("{} file descriptors are announced, {} came", header->n_fds, fds_.size()),
        kWhere));
  }
  Frame frame{static_cast<MessageType>(header->type),
              header->sequence,
              std::string(bytes.substr(kFrameHeaderBytes, header->length)),
              {}};
  for (std::uint32_t i = 0; i < header->n_fds; ++i) {
    frame.fds.push_back(std::move(fds_.front()));
    fds_.pop_front();
  }
  begin_ += kFrameHeaderBytes + header->length;
  return std::optional<Frame>(std::move(frame));
}

}  // namespace cuzk
