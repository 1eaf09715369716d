#include "shm/fd_socket.hpp"

#include <cstring>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "shm/memfd.hpp"

namespace cuzk::shm {
namespace {

// Which file a descriptor is.
ino_t inode(int fd) {
  struct stat info {};
  EXPECT_EQ(::fstat(fd, &info), 0);
  return info.st_ino;
}

int open_descriptors() {
  int count = 0;
  for (int fd = 0; fd < 1024; ++fd) count += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

class FdSocketTest : public testing::Test {
 protected:
  void SetUp() override {
    auto pair = FdSocket::pair();
    ASSERT_TRUE(pair);
    supervisor_ = std::move(pair->first);
    worker_ = std::move(pair->second);
    for (auto& file : files_) {
      auto memfd = create_memfd("payload", kPageBytes);
      ASSERT_TRUE(memfd);
      file = *std::move(memfd);
    }
  }
  // What a wild peer sends: any bytes with any descriptors.
  void send_raw(const std::vector<std::uint32_t>& words, std::size_t n_fds) {
    std::vector<int> fds;
    for (std::size_t i = 0; i < n_fds; ++i) fds.push_back(files_[i % files_.size()].get());
    std::vector<char> control(CMSG_SPACE(n_fds * sizeof(int)) + 1);
    iovec data{const_cast<std::uint32_t*>(words.data()), words.size() * 4};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (n_fds > 0) {
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
      auto* header = reinterpret_cast<cmsghdr*>(control.data());
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
      std::memcpy(CMSG_DATA(header), fds.data(), n_fds * sizeof(int));
    }
    ASSERT_GE(::sendmsg(supervisor_.fd(), &message, MSG_NOSIGNAL), 0);
  }
  FdSocket supervisor_;
  FdSocket worker_;
  std::array<UniqueFd, 3> files_;
};

TEST_F(FdSocketTest, DescriptorsArriveWithTheirLabels) {
  const LabelledFd fds[] = {{files_[0].get(), FdRole::kSlotWritable},
                            {files_[1].get(), FdRole::kSource},
                            {files_[2].get(), FdRole::kR1cs}};
  ASSERT_TRUE(supervisor_.send(TaskId{42}, fds));
  auto received = worker_.receive();
  ASSERT_TRUE(received) << received.error().message();
  ASSERT_EQ(received->state, ReceivedFds::State::kMessage);
  EXPECT_EQ(received->task, TaskId{42});
  ASSERT_EQ(received->fds.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(received->fds[i].role, fds[i].role);
    EXPECT_EQ(inode(received->fds[i].fd.get()), inode(fds[i].fd));
    EXPECT_EQ(::fcntl(received->fds[i].fd.get(), F_GETFD), FD_CLOEXEC);
  }
  received = worker_.receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->state, ReceivedFds::State::kEmpty);
}

TEST_F(FdSocketTest, AClosedPeerIsSeenAfterItsMessagesAreRead) {
  const LabelledFd fd{files_[0].get(), FdRole::kWasm};
  ASSERT_TRUE(supervisor_.send(TaskId{1}, {&fd, 1}));
  supervisor_.close();
  auto received = worker_.receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->state, ReceivedFds::State::kMessage);
  for (int again = 0; again < 2; ++again) {
    received = worker_.receive();
    ASSERT_TRUE(received);
    EXPECT_EQ(received->state, ReceivedFds::State::kClosed);
  }
}

TEST_F(FdSocketTest, SendingToAClosedPeerIsAnErrorAndNoSignal) {
  worker_.close();
  const LabelledFd fd{files_[0].get(), FdRole::kWasm};
  const Status sent = supervisor_.send(TaskId{1}, {&fd, 1});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().error_class, ErrorClass::kRetryElsewhere);
}

TEST_F(FdSocketTest, APeerThatDoesNotReadMakesTheSenderBusyNotBlocked) {
  const LabelledFd fd{files_[0].get(), FdRole::kWasm};
  Status sent;
  int count = 0;
  while ((sent = supervisor_.send(TaskId{1}, {&fd, 1})) && count < 100'000) ++count;
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().error_class, ErrorClass::kBusy);
  EXPECT_GT(count, 31) << "the commands of a full ring must fit";
}

TEST_F(FdSocketTest, ALabelThatDisagreesWithTheDescriptorsIsRefusedAndNothingLeaks) {
  const std::uint32_t magic = 0x4c5a4b43;
  const auto label = [&](std::uint32_t count) {
    return std::vector<std::uint32_t>{magic, count, 7, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  };
  auto wrong_magic = label(1);
  wrong_magic[0] ^= 1;
  auto short_label = label(1);
  short_label.pop_back();
  auto long_label = label(1);
  long_label.push_back(0);
  const std::pair<std::vector<std::uint32_t>, std::size_t> bad[] = {
      {label(2), 1},     {label(1), 2},    {label(0), 1},  {label(1), 0}, {label(0), 0},
      {label(9), 9},     {label(40), 40},  {wrong_magic, 1}, {short_label, 1}, {long_label, 1},
      {{magic}, 1},      {label(0xffffffff), 1},
  };
  const int before = open_descriptors();
  for (const auto& [words, n_fds] : bad) {
    SCOPED_TRACE(testing::Message() << words.size() << " words, " << n_fds << " descriptors");
    ASSERT_NO_FATAL_FAILURE(send_raw(words, n_fds));
    auto received = worker_.receive();
    ASSERT_FALSE(received);
    EXPECT_EQ(received.error().error_class, ErrorClass::kBug);
    EXPECT_EQ(open_descriptors(), before);
  }
  ASSERT_NO_FATAL_FAILURE(send_raw(label(1), 1));
  auto received = worker_.receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->state, ReceivedFds::State::kMessage) << "and the next good one is taken";
}

TEST_F(FdSocketTest, NoneOrTooManyDescriptorsAreNotSent) {
  EXPECT_FALSE(supervisor_.send(TaskId{1}, {}));
  const std::vector<LabelledFd> many(kMaxFdsPerMessage + 1, {files_[0].get(), FdRole::kWasm});
  EXPECT_FALSE(supervisor_.send(TaskId{1}, many));
  const std::vector<LabelledFd> full(kMaxFdsPerMessage, {files_[0].get(), FdRole::kWasm});
  EXPECT_TRUE(supervisor_.send(TaskId{1}, full));
  auto received = worker_.receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->fds.size(), kMaxFdsPerMessage);
}

}  // namespace
}  // namespace cuzk::shm
