// kSpoolInput: takes a copy of a large input before the job is accepted.
#pragma once

#include <string_view>

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "common/worker/messages.hpp"
#include "synth_worker/task_monitor.hpp"

namespace cuzk {

// When this returns successfully, command.destination is whole and on disk; a failure, or the death of
// the process, leaves no file of that name. Errors: as copy_to_new_file.
Result<SpoolInfo> spool_input(const SpoolInputCommand& command, const UniqueFd& source,
                              const TaskMonitor& monitor);

}  // namespace cuzk
