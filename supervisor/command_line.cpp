#include "supervisor/command_line.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "common/version.hpp"

namespace cuzk::supervisor {
namespace {

constexpr int kUsage = 2;

CommandLine exit_with(int code) {
  CommandLine command;
  command.exit_code = code;
  return command;
}

CommandLine fail(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) fmt::print(stderr, "cuzk-supervisor: {}\n", problem);
  return exit_with(kUsage);
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CLI::App app("The cuzk proving daemon. Without a configuration file it runs on defaults.",
               "cuzk-supervisor");
  std::string file;
  std::string socket;
  std::string state_folder;
  std::vector<std::string> devices;
  bool check_only = false;
  app.add_option("--config", file, "Configuration file (TOML)");
  app.add_flag("--check-config", check_only,
               "Check the configuration, say what is wrong, and exit");
  app.add_option("--socket", socket, "Unix socket to listen on");
  app.add_option("--state-dir", state_folder, "Folder for the journal, keys, circuits and inputs");
  app.add_option("--device", devices, "Device to prove on; may be repeated: cpu");
  app.set_version_flag("--version",
                       fmt::format("cuzk-supervisor {} ({})", kBuildVersion, kBuildRevision));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return exit_with(app.exit(error) == 0 ? 0 : kUsage);
  }

  CommandLine command;
  if (!file.empty()) {
    auto loaded = load_config(file);
    if (!loaded) return fail({loaded.error().message()});
    command.config = *std::move(loaded);
  }
  if (!socket.empty()) command.config.daemon.socket = socket;
  if (!state_folder.empty()) command.config.daemon.state_dir = state_folder;
  if (!devices.empty()) command.config.gpus.devices = devices;
  if (const auto problems = check_config(command.config); !problems.empty()) return fail(problems);
  if (check_only) {
    for (const std::string& note : command.config.notes) fmt::print("{}\n", note);
    fmt::print("the configuration is sound\n");
    command.exit_code = 0;
  }
  return command;
}

}  // namespace cuzk::supervisor
