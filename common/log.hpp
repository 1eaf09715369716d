// One line per event, to standard error, as key=value text or JSON.
//
// Every process logs through spdlog with its own name and epoch on each line, so that the lines of a
// worker that died can be told from its successor's. Workers write to the standard error that they
// inherit; the supervisor keeps the last lines of each.
#pragma once

#include <string>
#include <string_view>

#include <spdlog/spdlog.h>

#include "common/result.hpp"

namespace cuzk {

enum class LogFormat { kText, kJson };

struct LogSettings {
  std::string level = "info";  // trace, debug, info, warn, error, off
  LogFormat format = LogFormat::kText;
};

// Sets up spdlog's default logger for this process; `process` is for example "gpu0 epoch 3".
Status set_up_logging(std::string_view process, const LogSettings& settings);

}  // namespace cuzk
