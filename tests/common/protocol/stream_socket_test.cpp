// Bytes and descriptors through a real socket pair.
#include "common/protocol/stream_socket.hpp"

#include <gtest/gtest.h>

#include <array>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/protocol/frame.hpp"

namespace cuzk {
namespace {

struct Pair {
  UniqueFd left;
  UniqueFd right;
  Pair() {
    int fds[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    left.reset(fds[0]);
    right.reset(fds[1]);
  }
};

ino_t inode(int fd) {
  struct stat info {};
  EXPECT_EQ(::fstat(fd, &info), 0);
  return info.st_ino;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (int fd = 0; fd < 1024; ++fd) count += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

TEST(StreamSocket, CarriesDescriptorsWithTheFirstByte) {
  Pair pair;
  const UniqueFd file(::open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  const int fds[] = {file.get()};
  const auto sent = send_some(pair.left.get(), "hello", fds);
  ASSERT_TRUE(sent.ok());
  EXPECT_EQ(*sent, 5u);
  std::array<std::byte, 3> buffer;
  auto received = receive_some(pair.right.get(), buffer);
  ASSERT_TRUE(received.ok());
  EXPECT_EQ(received->bytes, 3u);
  ASSERT_EQ(received->fds.size(), 1u);
  EXPECT_EQ(inode(received->fds[0].get()), inode(file.get()));
  EXPECT_NE(::fcntl(received->fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
  received = receive_some(pair.right.get(), buffer);
  EXPECT_EQ(received->bytes, 2u);
  EXPECT_TRUE(received->fds.empty());
}

TEST(StreamSocket, PipelinedFramesGetTheirOwnDescriptorsWhateverTheKernelMerges) {
  Pair pair;
  const UniqueFd one(::open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  const UniqueFd two(::open("/etc/hostname", O_RDONLY | O_CLOEXEC));
  const int first[] = {one.get()};
  const int second[] = {two.get(), one.get()};
  ASSERT_TRUE(
      send_some(pair.left.get(), *encode_frame(MessageType::kStatus, 1, std::string_view())).ok());
  ASSERT_TRUE(send_some(pair.left.get(),
                        *encode_frame(MessageType::kSubmit, 2, std::string_view("a"), 1), first)
                  .ok());
  ASSERT_TRUE(send_some(pair.left.get(),
                        *encode_frame(MessageType::kSubmit, 3, std::string_view("b"), 2), second)
                  .ok());
  ASSERT_TRUE(
      send_some(pair.left.get(), *encode_frame(MessageType::kStatus, 4, std::string_view())).ok());
  FrameDecoder decoder;
  std::vector<Frame> frames;
  std::array<std::byte, 65536> buffer;
  while (true) {
    auto received = receive_some(pair.right.get(), buffer);
    ASSERT_TRUE(received.ok());
    if (received->state != Received::State::kBytes) break;
    decoder.feed(std::span(buffer).first(received->bytes), std::move(received->fds));
    while (true) {
      auto frame = decoder.next();
      ASSERT_TRUE(frame.ok()) << frame.error().message();
      if (!*frame) break;
      frames.push_back(**std::move(frame));
    }
  }
  ASSERT_EQ(frames.size(), 4u);
  ASSERT_EQ(frames[1].fds.size(), 1u);
  EXPECT_EQ(inode(frames[1].fds[0].get()), inode(one.get()));
  ASSERT_EQ(frames[2].fds.size(), 2u);
  EXPECT_EQ(inode(frames[2].fds[0].get()), inode(two.get()));
  EXPECT_EQ(inode(frames[2].fds[1].get()), inode(one.get()));
}

TEST(StreamSocket, SaysWhenThereIsNothingAndWhenThePeerIsGone) {
  Pair pair;
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(receive_some(pair.right.get(), buffer)->state, Received::State::kEmpty);
  pair.left.reset();
  EXPECT_EQ(receive_some(pair.right.get(), buffer)->state, Received::State::kClosed);
  const auto sent = send_some(pair.right.get(), "x");
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().error_class, ErrorClass::kUnavailable);
}

TEST(StreamSocket, SendsNothingWhenThePeerDoesNotRead) {
  Pair pair;
  const std::string much(1 << 20, 'x');
  const int fds[] = {pair.left.get()};
  while (true) {
    const auto sent = send_some(pair.left.get(), much);
    ASSERT_TRUE(sent.ok());
    if (*sent == 0) break;
  }
  EXPECT_EQ(*send_some(pair.left.get(), "x", fds), 0u);
}

TEST(StreamSocket, MoreDescriptorsThanAFrameMayHaveAreRefusedAndClosed) {
  Pair pair;
  // The kernel hands over what fits and closes the rest; what fits must not leak either.
  std::array<int, 20> fds;
  fds.fill(pair.left.get());
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fds)> control{};
  char byte = 'x';
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(header), fds.data(), sizeof fds);
  ASSERT_EQ(::sendmsg(pair.left.get(), &message, 0), 1);
  const std::size_t before = open_descriptors();
  std::array<std::byte, 8> buffer;
  const auto received = receive_some(pair.right.get(), buffer);
  ASSERT_FALSE(received.ok());
  EXPECT_EQ(received.error().error_class, ErrorClass::kBadRequest);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(StreamSocket, APathThatNoSocketCanHaveIsABadRequest) {
  EXPECT_TRUE(check_socket_path("/run/cuzk/cuzk.sock").ok());
  EXPECT_TRUE(check_socket_path(std::string(107, 'a')).ok());
  EXPECT_FALSE(check_socket_path(std::string(108, 'a')).ok());
  EXPECT_FALSE(check_socket_path("").ok());
}

}  // namespace
}  // namespace cuzk
