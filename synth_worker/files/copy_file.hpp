// Copies what a descriptor holds into a new file, durably.
//
// Descriptors come from clients, who may write to the file while it is copied; what is parsed and kept is
// the copy. The kernel moves the bytes where it can, so a spooled input does not pass through here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include <sys/types.h>

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "synth_worker/task_monitor.hpp"

namespace cuzk {

struct CopySettings {
  std::uint64_t max_bytes = 0;
  mode_t mode = 0600;
  std::string_view step = "copy";  // for progress
};

// Creates `target` (which must not exist) with the content of `source`, from its beginning, flushed to
// disk; returns the number of bytes. `name` stands for the source in errors: kBadRequest when it is not a
// regular file or memfd, or larger than max_bytes; kRetryHere for trouble with the disk. On failure there
// is no file.
Result<std::uint64_t> copy_to_new_file(const UniqueFd& source, std::string_view name,
                                       const std::filesystem::path& target,
                                       const CopySettings& settings, const TaskMonitor& monitor);

}  // namespace cuzk
