// cuzkctl: what people and scripts use to talk to the daemon.
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "cli/app.hpp"

int main(int argc, char** argv) {
  cuzk::cli::Terminal terminal{std::cout, std::cerr, ::isatty(STDOUT_FILENO) == 1,
                               ::isatty(STDERR_FILENO) == 1};
  std::optional<std::string> socket;
  if (const char* value = std::getenv("CUZK_SOCKET"); value != nullptr && *value != '\0')
    socket = value;
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const int code = cuzk::cli::run(arguments, terminal, socket);
  // An answer that did not reach its reader (a full disk, a closed pipe) is no answer.
  if (!std::cout.flush()) {
    std::cerr << "cuzkctl: standard output: could not be written\n";
    return code == 0 ? 1 : code;
  }
  return code;
}
