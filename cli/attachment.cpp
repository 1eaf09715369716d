#include "cli/attachment.hpp"

#include <utility>

#include "common/mapped_file.hpp"

namespace cuzk::cli {

Status Attachments::add(const std::filesystem::path& file) {
  CUZK_TRY(fd, open_for_reading(file));
  files_.push_back(std::move(fd));
  return {};
}

std::vector<int> Attachments::fds() const {
  std::vector<int> numbers;
  for (const UniqueFd& file : files_) numbers.push_back(file.get());
  return numbers;
}

Result<Input> take_input(const std::filesystem::path& file, Attachments& attachments) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (!error && size <= kInlineBytes) {
    CUZK_TRY(content, read_file(file, kInlineBytes));
    return Input{false, std::move(content)};
  }
  CUZK_CHECK(attachments.add(file));
  return Input{true, {}};
}

}  // namespace cuzk::cli
