// What the tests of the synthesis process share: temporary folders, files as bytes, circuits compiled from
// their WebAssembly, and WebAssembly from text.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/mapped_file.hpp"
#include "common/unique_fd.hpp"
#include "synth_worker/process/child.hpp"
#include "synth_worker/process/private_folder.hpp"

namespace cuzk::test {

namespace fs = std::filesystem;

// A folder that lives as long as the test.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : folder_(*PrivateFolder::create(fs::temp_directory_path(), "cuzk-synth-test-")) {}
  fs::path operator/(std::string_view name) const { return folder_.path() / name; }
  const fs::path& path() const { return folder_.path(); }

  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

 private:
  PrivateFolder folder_;
};

inline std::string data_path(std::string_view name) {
  return std::string(CUZK_TEST_DATA "/") + std::string(name);
}

inline std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const fs::path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  ASSERT_TRUE(file.good()) << path;
}

inline UniqueFd open_file(const fs::path& path) {
  auto fd = open_for_reading(path);
  EXPECT_TRUE(fd.ok()) << path;
  return fd ? std::move(*fd) : UniqueFd();
}

// A memfd with this content.
inline UniqueFd memory_file(std::string_view content) {
  UniqueFd fd(::memfd_create("test", MFD_CLOEXEC));
  EXPECT_EQ(::write(fd.get(), content.data(), content.size()),
            static_cast<ssize_t>(content.size()));
  return fd;
}

// `source` compiled by the C compiler to `target`.
inline void compile_c(const fs::path& target, std::string_view source) {
  const fs::path file = target.string() + ".c";
  write_bytes(file, source);
  ChildCommand command;
  command.program = *find_program("cc", "gcc");
  command.arguments = {"cc", "-w", "-O1", "-o", target.string(), file.string()};
  command.environment = plain_environment();
  const auto outcome = run_child(command);
  ASSERT_TRUE(outcome.ok() && outcome->succeeded()) << (outcome ? outcome->error_output : "");
}

// `text` (WebAssembly's text format) as a module.
inline void assemble(const fs::path& target, std::string_view text) {
  const fs::path file = target.string() + ".wat";
  write_bytes(file, text);
  ChildCommand command;
  command.program = *find_program("wat2wasm", "wabt");
  command.arguments = {"wat2wasm", file.string(), "-o", target.string()};
  command.environment = plain_environment();
  const auto outcome = run_child(command);
  ASSERT_TRUE(outcome.ok() && outcome->succeeded()) << (outcome ? outcome->error_output : "");
}

}  // namespace cuzk::test
