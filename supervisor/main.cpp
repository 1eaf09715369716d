// cuzk-supervisor: the daemon that clients talk to.
//
// Exit codes: 0 stopped by a signal, 1 the journal failed, 2 wrong usage, configuration, or a state
// folder or socket that cannot be used.

#include <csignal>
#include <cstdio>

#include <sys/stat.h>

#include <spdlog/spdlog.h>

#include "supervisor/command_line.hpp"
#include "supervisor/limits.hpp"
#include "supervisor/supervisor.hpp"

namespace cuzk::supervisor {
namespace {

constexpr int kUnusable = 2;

int fail(const Error& error) {
  spdlog::critical("{}", error.message());
  return kUnusable;
}

int serve(const Config& config) {
  if (const auto logging = set_up_logging("supervisor", config.logging); !logging) {
    fmt::print(stderr, "cuzk-supervisor: {}\n", logging.error().message());
    return kUnusable;
  }
  for (const std::string& note : config.notes) spdlog::warn("{}", note);
  ::umask(0077);
  ::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  if (const auto subreaper = become_subreaper(); !subreaper) return fail(subreaper.error());
  const auto programs = program_folder();
  if (!programs) return fail(programs.error());

  ForkLauncher launcher;
  const SystemClock clock;
  auto supervisor = Supervisor::create(config, *programs, launcher, clock);
  if (!supervisor) return fail(supervisor.error());
  return (*supervisor)->run();
}

}  // namespace
}  // namespace cuzk::supervisor

int main(int argc, char** argv) {
  const auto command = cuzk::supervisor::parse_command_line(argc, argv);
  if (command.exit_code) return *command.exit_code;
  return cuzk::supervisor::serve(command.config);
}
