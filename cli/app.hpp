// cuzkctl as a function: arguments in, exit code out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace cuzk::cli {

// `arguments` without the program's name. `environment_socket` is $CUZK_SOCKET where it is set; an
// option goes before it.
int run(const std::vector<std::string>& arguments, Terminal& terminal,
        const std::optional<std::string>& environment_socket);

}  // namespace cuzk::cli
