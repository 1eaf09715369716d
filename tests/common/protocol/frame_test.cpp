// Frames under every split of their bytes, with their descriptors early, late, missing and surplus.
#include "common/protocol/frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cuzk {
namespace {

using testing::HasSubstr;

std::string frame_bytes(MessageType type, std::uint64_t sequence, std::string_view body,
                        std::size_t n_fds = 0) {
  auto bytes = encode_frame(type, sequence, body, n_fds);
  EXPECT_TRUE(bytes.ok());
  return *bytes;
}

UniqueFd open_null() { return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

std::vector<UniqueFd> nulls(std::size_t count) {
  std::vector<UniqueFd> fds;
  for (std::size_t i = 0; i < count; ++i) fds.push_back(open_null());
  return fds;
}

std::vector<int> numbers(const std::vector<UniqueFd>& fds) {
  std::vector<int> result;
  for (const UniqueFd& fd : fds) result.push_back(fd.get());
  return result;
}

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

std::optional<Frame> must_decode(FrameDecoder& decoder) {
  auto frame = decoder.next();
  EXPECT_TRUE(frame.ok()) << (frame.ok() ? "" : frame.error().message());
  return frame.ok() ? *std::move(frame) : std::nullopt;
}

Error must_fail(FrameDecoder& decoder) {
  const auto frame = decoder.next();
  EXPECT_FALSE(frame.ok());
  return frame.ok() ? Error{} : frame.error();
}

template <class Integer>
std::string with(std::string bytes, std::size_t offset, Integer value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  return bytes;
}

TEST(Frame, TheHeaderLiesAsDocumented) {
  const std::string bytes = frame_bytes(MessageType::kSubmit, 0x0102030405060708, "ab", 2);
  const std::string expected(
      "CZKF"
      "\x01\x00"
      "\x0b\x00"
      "\x02\x00\x00\x00"
      "\x02\x00\x00\x00"
      "\x08\x07\x06\x05\x04\x03\x02\x01"
      "ab",
      26);
  EXPECT_EQ(bytes, expected);
}

TEST(Frame, EverySplitInThreePiecesGivesTheSameFrames) {
  const std::string stream = frame_bytes(MessageType::kStatus, 1, "") +
                             frame_bytes(MessageType::kAwait, 2, "a body") +
                             frame_bytes(MessageType::kError, 3, std::string("\0\xff", 2));
  for (std::size_t first = 0; first <= stream.size(); ++first) {
    for (std::size_t second = first; second <= stream.size(); ++second) {
      FrameDecoder decoder;
      std::vector<Frame> frames;
      const std::string_view all(stream);
      for (const auto piece :
           {all.substr(0, first), all.substr(first, second - first), all.substr(second)}) {
        decoder.feed(piece);
        while (auto frame = must_decode(decoder)) frames.push_back(*std::move(frame));
      }
      ASSERT_EQ(frames.size(), 3u);
      EXPECT_EQ(frames[0].type, MessageType::kStatus);
      EXPECT_EQ(frames[0].body, "");
      EXPECT_EQ(frames[1].sequence, 2u);
      EXPECT_EQ(frames[1].body, "a body");
      EXPECT_EQ(frames[2].type, MessageType::kError);
      EXPECT_EQ(frames[2].body, std::string("\0\xff", 2));
      EXPECT_FALSE(decoder.in_frame());
    }
  }
}

TEST(Frame, RandomPiecesOfManyFramesGiveEachFrameOnce) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::string stream;
  for (std::uint64_t i = 1; i <= 300; ++i) {
    stream +=
        frame_bytes(MessageType::kJobs, i, std::string(random() % 2000, static_cast<char>(i)));
  }
  FrameDecoder decoder;
  std::uint64_t expected = 1;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t size = std::min<std::size_t>(random() % 3000, stream.size() - at);
    decoder.feed(std::string_view(stream).substr(at, size));
    at += size;
    while (auto frame = must_decode(decoder)) {
      EXPECT_EQ(frame->sequence, expected);
      EXPECT_EQ(frame->body.find_first_not_of(static_cast<char>(expected)), std::string::npos);
      ++expected;
    }
    // What was taken is given back: no more than a frame and a piece stay.
    EXPECT_LE(decoder.held_bytes(), 2000 + kFrameHeaderBytes);
  }
  EXPECT_EQ(expected, 301u);
}

TEST(Frame, TheLargestBodyPassesAndOneByteMoreDoesNot) {
  const std::string largest(kMaxFrameBody, 'x');
  FrameDecoder decoder;
  decoder.feed(frame_bytes(MessageType::kSubmit, 1, largest));
  EXPECT_EQ(must_decode(decoder)->body.size(), kMaxFrameBody);
  EXPECT_FALSE(encode_frame(MessageType::kSubmit, 1, largest + "x").ok());
  EXPECT_FALSE(encode_frame(MessageType::kSubmit, 1, std::string_view("x"), kMaxFrameFds + 1).ok());
}

TEST(Frame, AWrongMagicIsSeenAtItsFirstWrongByte) {
  for (const char* start : {"G", "CX", "CZKX", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01"}) {
    FrameDecoder decoder;
    decoder.feed(std::string_view(start));
    const Error error = must_fail(decoder);
    EXPECT_EQ(error.error_class, ErrorClass::kBadRequest);
    EXPECT_THAT(error.message(), HasSubstr("not with \"CZKF\""));
  }
}

TEST(Frame, AWrongVersionTypeLengthOrCountIsRefusedBeforeTheBodyComes) {
  const std::string good = frame_bytes(MessageType::kSubmit, 9, "body");
  const std::pair<std::string, const char*> cases[] = {
      {with<std::uint16_t>(good, 4, 0), "protocol version 0"},
      {with<std::uint16_t>(good, 4, 2), "protocol version 2, this program speaks version 1"},
      {with<std::uint16_t>(good, 6, 0), "unknown message type 0"},
      {with<std::uint16_t>(good, 6, 3), "unknown message type 3"},
      {with<std::uint16_t>(good, 6, 19), "unknown message type 19"},
      {with<std::uint16_t>(good, 6, 0xffff), "unknown message type 65535"},
      {with<std::uint32_t>(good, 8, kMaxFrameBody + 1), "a body of 4194305 bytes"},
      {with<std::uint32_t>(good, 8, 0xffffffff), "a body of 4294967295 bytes"},
      {with<std::uint32_t>(good, 12, kMaxFrameFds + 1), "6 file descriptors are announced"},
      {with<std::uint32_t>(good, 12, 0xffffffff), "4294967295 file descriptors"},
  };
  for (const auto& [bytes, message] : cases) {
    FrameDecoder decoder;
    decoder.feed(std::string_view(bytes).substr(0, kFrameHeaderBytes));
    EXPECT_THAT(must_fail(decoder).message(), HasSubstr(message));
    EXPECT_EQ(decoder.held_bytes(), 0u);
  }
}

TEST(Frame, AnErrorStaysWhateverIsFedAfterwards) {
  FrameDecoder decoder;
  decoder.feed("XXXX");
  const std::string first = must_fail(decoder).message();
  std::vector<UniqueFd> fds = nulls(1);
  const int number = fds[0].get();
  decoder.feed(std::as_bytes(std::span(kFrameMagic)), std::move(fds));
  decoder.feed(frame_bytes(MessageType::kStatus, 1, ""));
  EXPECT_EQ(must_fail(decoder).message(), first);
  EXPECT_FALSE(is_open(number)) << "descriptors for a broken stream are closed";
}

TEST(Frame, EveryTypeOfTheProtocolIsKnown) {
  for (std::uint16_t type = 0; type < 40; ++type) {
    EXPECT_EQ(is_message_type(type), type == 1 || type == 2 || (type >= 10 && type <= 18)) << type;
  }
}

TEST(FrameFds, BelongToTheFrameThatAnnouncesThemWhereverTheyCome) {
  const std::string plain = frame_bytes(MessageType::kStatus, 1, "");
  const std::string with_fds = frame_bytes(MessageType::kSubmit, 2, "with files", 2);
  const std::string stream = plain + with_fds + plain;
  // With the piece that starts at any byte up to the last of their frame.
  for (std::size_t at = 0; at < plain.size() + with_fds.size(); ++at) {
    FrameDecoder decoder;
    std::vector<UniqueFd> fds = nulls(2);
    const std::vector<int> sent = numbers(fds);
    decoder.feed(std::string_view(stream).substr(0, at));
    std::vector<Frame> frames;
    while (auto frame = must_decode(decoder)) frames.push_back(*std::move(frame));
    decoder.feed(std::string_view(stream).substr(at), std::move(fds));
    while (auto frame = must_decode(decoder)) frames.push_back(*std::move(frame));
    ASSERT_EQ(frames.size(), 3u) << at;
    EXPECT_TRUE(frames[0].fds.empty());
    EXPECT_EQ(numbers(frames[1].fds), sent);
    EXPECT_TRUE(frames[2].fds.empty());
  }
}

TEST(FrameFds, OfTwoFramesKeepTheirOrder) {
  FrameDecoder decoder;
  std::vector<UniqueFd> first = nulls(1);
  std::vector<UniqueFd> second = nulls(3);
  const auto first_sent = numbers(first);
  const auto second_sent = numbers(second);
  decoder.feed(frame_bytes(MessageType::kSubmit, 1, "a", 1), std::move(first));
  decoder.feed(frame_bytes(MessageType::kCircuitAdd, 2, "b", 3), std::move(second));
  EXPECT_EQ(numbers(must_decode(decoder)->fds), first_sent);
  EXPECT_EQ(numbers(must_decode(decoder)->fds), second_sent);
}

TEST(FrameFds, ThatNeverComeMakeTheFrameAnError) {
  FrameDecoder decoder;
  decoder.feed(frame_bytes(MessageType::kSubmit, 1, "body", 2), nulls(1));
  EXPECT_THAT(must_fail(decoder).message(), HasSubstr("2 file descriptors are announced, 1 came"));
}

TEST(FrameFds, BeyondTheLimitAreRefusedAndAllAreClosed) {
  FrameDecoder decoder;
  std::vector<UniqueFd> fds = nulls(kMaxFrameFds + 1);
  const auto sent = numbers(fds);
  decoder.feed(std::string_view("CZK"), std::move(fds));
  EXPECT_THAT(must_fail(decoder).message(), HasSubstr("6 file descriptors came for one frame"));
  for (const int fd : sent) EXPECT_FALSE(is_open(fd));
}

TEST(FrameFds, AreClosedWithTheDecoder) {
  std::vector<UniqueFd> fds = nulls(2);
  const auto sent = numbers(fds);
  {
    FrameDecoder decoder;
    decoder.feed(std::string_view("C"), std::move(fds));
    EXPECT_TRUE(decoder.in_frame());
  }
  for (const int fd : sent) EXPECT_FALSE(is_open(fd));
}

TEST(FrameError, ComesBackAsItWas) {
  const Error sent{ErrorClass::kBusy, "the queue is full", "queue", "try again later"};
  const Error back = decode_error(encode(sent));
  EXPECT_EQ(back.error_class, sent.error_class);
  EXPECT_EQ(back.message(), sent.message());
  EXPECT_EQ(decode_error("rubbish").error_class, ErrorClass::kBug);
  EXPECT_EQ(decode_error("").error_class, ErrorClass::kBug);
}

}  // namespace
}  // namespace cuzk
