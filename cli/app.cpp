// The table of commands, the options they share, and what becomes of errors.
#include "cli/app.hpp"

#include <algorithm>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include "cli/exit_code.hpp"
#include "cli/output/json.hpp"
#include "cli/output/text.hpp"
#include "common/version.hpp"

namespace cuzk::cli {

namespace {

struct Command {
  const char* name;  // two words: the second is a command of the group that the first names
  const char* about;
  const char* example;
  AddCommand add;
};

constexpr Command kCommands[] = {
    {"prove", "Prove a witness or an input, and wait for the proof",
     "cuzkctl prove --zkey circuit.zkey --wtns witness.wtns --proof proof.json --public "
     "public.json\n"
     "  cuzkctl prove merkle --input input.json --proof proof.json --public public.json",
     add_prove},
    {"circuit add", "Register a circuit under a name: its key, and what makes its witnesses",
     "cuzkctl circuit add merkle --zkey merkle.zkey --wasm merkle.wasm --r1cs merkle.r1cs",
     add_circuit_add},
    {"circuit list", "List the registered circuits", "cuzkctl circuit list", add_circuit_list},
    {"circuit remove", "Forget a circuit; accepted jobs of it go on",
     "cuzkctl circuit remove merkle", add_circuit_remove},
    {"await", "Wait for a job and fetch its proof",
     "cuzkctl await 17 --proof proof.json --public public.json", add_await},
    {"cancel", "Cancel a job", "cuzkctl cancel 17", add_cancel},
    {"jobs", "List the newest jobs", "cuzkctl jobs", add_jobs},
    {"status", "Show workers, slots, queue and keys of the daemon", "cuzkctl status", add_status},
    {"version", "Show the versions of cuzkctl and of the daemon", "cuzkctl version", add_version},
    {"verify", "Verify a proof; needs no daemon",
     "cuzkctl verify --vkey verification_key.json --public public.json --proof proof.json",
     add_verify},
    {"vkey export", "Print the verification key of a proving key; needs no daemon",
     "cuzkctl vkey export --zkey circuit.zkey > verification_key.json", add_vkey_export},
};

constexpr const char* kExitCodes =
    "Exit codes: 0 done, 1 the proof or the verification failed, 2 bad request or usage, 3 no "
    "daemon,\n"
    "4 busy or timed out.";

const char* about_group(std::string_view name) {
  return name == "circuit" ? "Registered circuits" : "Verification keys";
}

CLI::App* group_of(CLI::App& app, const std::string& name) {
  for (CLI::App* known : app.get_subcommands({})) {
    if (known->get_name() == name) return known;
  }
  CLI::App* group = app.add_subcommand(name, about_group(name));
  group->require_subcommand(1);
  return group;
}

void print_error(const Error& error, const Session& session) {
  fmt::print(session.err(), "cuzkctl: {}\n", one_line(error.message()));
  if (session.json) print_json({{"error", to_json(error)}}, session);
}

int usage_error(const CLI::ParseError& error, const CLI::App& app, const Session& session) {
  std::string command = "cuzkctl";
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    command += " " + at->get_name();
  }
  print_error(bad_request(error.what(), {}, fmt::format("see {} --help", command)), session);
  return kUsage;
}

}  // namespace

int run(const std::vector<std::string>& arguments, Terminal& terminal,
        const std::optional<std::string>& environment_socket) {
  Session session{terminal, environment_socket.value_or(kDefaultSocket), false};
  std::string socket;
  CLI::App app("Proves, verifies and manages circuits through the cuzk daemon.", "cuzkctl");
  app.require_subcommand(1);
  app.footer(kExitCodes);
  app.set_version_flag("--version", fmt::format("cuzkctl {} ({})", kBuildVersion, kBuildRevision));
  const auto add_socket = [&](CLI::App& to) {
    to.add_option("--socket", socket,
                  fmt::format("The daemon's socket (else $CUZK_SOCKET, else {})", kDefaultSocket))
        ->type_name("PATH");
  };
  add_socket(app);

  std::vector<std::pair<CLI::App*, Run>> commands;
  for (const Command& entry : kCommands) {
    const std::string name = entry.name;
    const std::size_t space = name.find(' ');
    CLI::App* parent = space == std::string::npos ? &app : group_of(app, name.substr(0, space));
    CLI::App* command = parent->add_subcommand(
        space == std::string::npos ? name : name.substr(space + 1), entry.about);
    command->footer(fmt::format("Example:\n  {}", entry.example));
    Run action = entry.add(*command);
    add_socket(*command);
    command->add_flag("--json", session.json, "Print one JSON object instead of text");
    commands.emplace_back(command, std::move(action));
  }

  try {
    // CLI11 takes the arguments from the back.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error, terminal.out, terminal.err);
    // The flag may stand behind what was wrong.
    session.json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
    return usage_error(error, app, session);
  }
  if (!socket.empty()) session.socket = socket;

  const auto chosen = std::find_if(commands.begin(), commands.end(),
                                   [](const auto& command) { return command.first->parsed(); });
  const Result<int> ended = chosen->second(session);
  terminal.out.flush();
  if (ended) return *ended;
  print_error(ended.error(), session);
  return exit_code_of(ended.error().error_class);
}

}  // namespace cuzk::cli
