#include "synth_worker/files/spool_input.hpp"

#include <cstdio>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "synth_worker/files/copy_file.hpp"

namespace cuzk {

Result<SpoolInfo> spool_input(const SpoolInputCommand& command, const UniqueFd& source,
                              const TaskMonitor& monitor) {
  const std::filesystem::path destination = command.destination;
  // One name for all attempts: what a killed worker left is overwritten by the next attempt.
  const std::filesystem::path unfinished = command.destination + ".part";
  ::unlink(unfinished.c_str());
  CopySettings settings;
  settings.max_bytes = command.max_bytes;
  settings.step = "spool";
  CUZK_TRY(bytes, copy_to_new_file(source, "input", unfinished, settings, monitor));
  // If we die here, the job was not accepted: the client has no answer yet.
  if (::rename(unfinished.c_str(), destination.c_str()) != 0) {
    const Error error = system_error(ErrorClass::kRetryHere, "rename", destination.string());
    ::unlink(unfinished.c_str());
    return error;
  }
  const UniqueFd folder(
      ::open(destination.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) {
    const Error error = system_error(ErrorClass::kRetryHere, "fsync of the folder",
                                     destination.parent_path().string());
    ::unlink(destination.c_str());
    return error;
  }
  return SpoolInfo{bytes};
}

}  // namespace cuzk
