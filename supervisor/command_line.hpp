// cuzk-supervisor's command line: a configuration, or a reason to exit at once.
#pragma once

#include <optional>

#include "common/config/config.hpp"

namespace cuzk::supervisor {

struct CommandLine {
  Config config;
  std::optional<int>
      exit_code;  // set for --help, --version, --check-config and errors, which are printed
};

// Options override the file, and the file overrides the defaults.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace cuzk::supervisor
