#include "supervisor/stores/client_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/supervisor/temporary_folder.hpp"

namespace cuzk::supervisor {
namespace {

UniqueFd memfd_with(const std::string& content, int seals) {
  UniqueFd fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::write(fd.get(), content.data(), content.size()),
            static_cast<ssize_t>(content.size()));
  EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  return fd;
}

TEST(ClientFile, ASealedMemfdIsTakenAndAnUnsealedOneIsNot) {
  const auto sealed = check_client_file(memfd_with("hello", F_SEAL_SHRINK), "m");
  ASSERT_TRUE(sealed);
  EXPECT_EQ(read_if_in_memory(*sealed, 100), "hello");
  EXPECT_FALSE(check_client_file(memfd_with("hello", F_SEAL_GROW), "m"));
}

TEST(ClientFile, ContentBeyondTheLimitIsNotRead) {
  const auto file = check_client_file(memfd_with("hello", F_SEAL_SHRINK), "m");
  ASSERT_TRUE(file);
  EXPECT_FALSE(read_if_in_memory(*file, 4));
}

TEST(ClientFile, AFileThatGrewIsNotTaken) {
  TemporaryFolder folder;
  std::ofstream(folder.path() / "f") << "hello";
  auto file =
      check_client_file(UniqueFd(::open((folder.path() / "f").c_str(), O_RDONLY | O_CLOEXEC)), "f");
  ASSERT_TRUE(file);
  std::ofstream(folder.path() / "f", std::ios::app) << " world";
  EXPECT_FALSE(read_if_in_memory(*file, 100));
  EXPECT_NE(*identity_of(file->fd), file->identity);
}

TEST(ClientFile, TheIdentityChangesWithTheContentEvenIfTheTimeIsSetBack) {
  TemporaryFolder folder;
  const auto path = folder.path() / "f";
  std::ofstream(path) << "hello";
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const auto before = identity_of(fd);
  ASSERT_TRUE(before);
  timespec times[2] = {{before->modified_ns / 1'000'000'000, before->modified_ns % 1'000'000'000},
                       {before->modified_ns / 1'000'000'000, before->modified_ns % 1'000'000'000}};
  // The file system's clock ticks a few hundred times a second.
  FileIdentity after = *before;
  for (int i = 0; i < 100'000 && after.changed_ns == before->changed_ns; ++i) {
    ASSERT_EQ(::pwrite(fd.get(), "HELLO", 5, 0), 5);
    ASSERT_EQ(::futimens(fd.get(), times), 0);
    after = *identity_of(fd);
  }
  EXPECT_EQ(after.modified_ns, before->modified_ns);
  EXPECT_NE(after, *before);
}

TEST(ClientFile, NamesAreMadeFitForLogs) {
  EXPECT_EQ(clean_name("a\nb\x1b[2J\"\\"), "a?b?[2J??");
  EXPECT_EQ(clean_name(std::string(1000, 'x')).size(), 256U);
  EXPECT_EQ(clean_name("grün.zkey"), "grün.zkey");
}

}  // namespace
}  // namespace cuzk::supervisor
