#include "shm/memfd.hpp"

#include <cerrno>
#include <limits>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace cuzk::shm {
namespace {

std::uint64_t allocated_bytes(int fd) {
  struct stat info {};
  EXPECT_EQ(::fstat(fd, &info), 0);
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

TEST(Memfd, APeerCanNeitherTruncateNorGrowNorUnsealIt) {
  auto memfd = create_memfd("test", 3 * kPageBytes);
  ASSERT_TRUE(memfd) << memfd.error().message();
  EXPECT_EQ(::ftruncate(memfd->get(), kPageBytes), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::ftruncate(memfd->get(), 4 * kPageBytes), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::fcntl(memfd->get(), F_ADD_SEALS, F_SEAL_WRITE), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(::fcntl(memfd->get(), F_GETFD), FD_CLOEXEC);
  auto size = sealed_size(*memfd);
  ASSERT_TRUE(size);
  EXPECT_EQ(*size, 3 * kPageBytes);
}

TEST(Memfd, AReadOnlyDescriptorCannotBeMappedOrMadeWritable) {
  auto memfd = create_memfd("test", kPageBytes);
  ASSERT_TRUE(memfd);
  auto read_only = reopen_read_only(*memfd);
  ASSERT_TRUE(read_only) << read_only.error().message();
  EXPECT_EQ(::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, read_only->get(), 0),
            MAP_FAILED);
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(::write(read_only->get(), "x", 1), -1);
  EXPECT_FALSE(Mapping::map(*read_only, Mapping::Access::kReadWrite, 0, kPageBytes));
  void* view = ::mmap(nullptr, kPageBytes, PROT_READ, MAP_SHARED, read_only->get(), 0);
  ASSERT_NE(view, MAP_FAILED);
  EXPECT_EQ(::mprotect(view, kPageBytes, PROT_READ | PROT_WRITE), -1);
  EXPECT_EQ(errno, EACCES);
  // It is the same memory, and the writable descriptor still works.
  ASSERT_EQ(::pwrite(memfd->get(), "witness", 7, 0), 7);
  EXPECT_EQ(std::string(static_cast<const char*>(view), 7), "witness");
  ::munmap(view, kPageBytes);
}

TEST(Memfd, AnUnsealedFileIsRefused) {
  UniqueFd memfd(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_TRUE(memfd);
  ASSERT_EQ(::ftruncate(memfd.get(), kPageBytes), 0);
  auto size = sealed_size(memfd);
  ASSERT_FALSE(size);
  EXPECT_EQ(size.error().error_class, ErrorClass::kBug);
  EXPECT_FALSE(sealed_size(UniqueFd()));
}

TEST(Memfd, PagesCostNothingUntilUsedAndPunchingGivesThemBack) {
  auto memfd = create_memfd("test", 64 * kPageBytes);
  ASSERT_TRUE(memfd);
  EXPECT_EQ(allocated_bytes(memfd->get()), 0u);
  ASSERT_TRUE(populate(*memfd, 64 * kPageBytes));
  EXPECT_EQ(allocated_bytes(memfd->get()), 64 * kPageBytes);
  auto mapping = Mapping::map(*memfd, Mapping::Access::kReadWrite, 0, 64 * kPageBytes);
  ASSERT_TRUE(mapping);
  mapping->data()[0] = std::byte{1};
  mapping->data()[8 * kPageBytes] = std::byte{2};
  ASSERT_TRUE(punch(memfd->get(), 8 * kPageBytes, 8 * kPageBytes));
  EXPECT_EQ(allocated_bytes(memfd->get()), 56 * kPageBytes);
  EXPECT_EQ(mapping->data()[0], std::byte{1});
  EXPECT_EQ(mapping->data()[8 * kPageBytes], std::byte{0});
}

TEST(Memfd, SizesThatOverflowAreRefused) {
  std::uint64_t rounded = 0;
  EXPECT_TRUE(round_up_to_pages(1, rounded));
  EXPECT_EQ(rounded, kPageBytes);
  EXPECT_TRUE(round_up_to_pages(kPageBytes, rounded));
  EXPECT_EQ(rounded, kPageBytes);
  EXPECT_FALSE(round_up_to_pages(std::numeric_limits<std::uint64_t>::max(), rounded));
  EXPECT_FALSE(create_memfd("test", std::numeric_limits<std::uint64_t>::max()));
}

TEST(Mapping, KeepsItsAddressWhenMoved) {
  auto memfd = create_memfd("test", kPageBytes);
  auto mapping = Mapping::map(*memfd, Mapping::Access::kReadWrite, 0, kPageBytes,
                              Mapping::Prefault::kYes);
  ASSERT_TRUE(mapping);
  std::byte* address = mapping->data();
  Mapping moved = *std::move(mapping);
  EXPECT_EQ(moved.data(), address);
  EXPECT_EQ(moved.size(), kPageBytes);
  moved.data()[100] = std::byte{42};
  char byte = 0;
  ASSERT_EQ(::pread(memfd->get(), &byte, 1, 100), 1);
  EXPECT_EQ(byte, 42);
}

TEST(Eventfd, AWakeBeforeTheWaitIsNotLostAndNothingBlocks) {
  auto eventfd = create_eventfd();
  ASSERT_TRUE(eventfd);
  drain_eventfd(eventfd->get());  // empty: returns
  signal_eventfd(eventfd->get());
  signal_eventfd(eventfd->get());
  std::uint64_t count = 0;
  ASSERT_EQ(::read(eventfd->get(), &count, sizeof count), 8);
  EXPECT_EQ(count, 2u);
  // A peer that fills the counter up does not stop the one who wakes.
  const std::uint64_t full = std::numeric_limits<std::uint64_t>::max() - 1;
  ASSERT_EQ(::write(eventfd->get(), &full, sizeof full), 8);
  signal_eventfd(eventfd->get());
}

}  // namespace
}  // namespace cuzk::shm
