// What a command of cuzkctl is: options to parse, and something to run.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>

#include <CLI/App.hpp>

#include "common/protocol/client.hpp"
#include "common/result.hpp"

namespace cuzk::cli {

inline constexpr const char* kDefaultSocket = "/run/cuzk/cuzk.sock";

// Where a run of cuzkctl reads and writes. In-process tests bring their own.
struct Terminal {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

// The options that all commands share, once they are parsed.
struct Session {
  Terminal& terminal;
  std::filesystem::path socket;
  bool json = false;

  std::ostream& out() const { return terminal.out; }
  std::ostream& err() const { return terminal.err; }
};

// Runs a command whose options are parsed. Returns the exit code, or an error that is printed and
// mapped.
using Run = std::function<Result<int>(Session&)>;

// Adds the options of one command to `app`; what it returns owns them.
using AddCommand = Run (*)(CLI::App& app);

Run add_prove(CLI::App& app);
Run add_await(CLI::App& app);
Run add_cancel(CLI::App& app);
Run add_jobs(CLI::App& app);
Run add_status(CLI::App& app);
Run add_version(CLI::App& app);
Run add_circuit_add(CLI::App& app);
Run add_circuit_list(CLI::App& app);
Run add_circuit_remove(CLI::App& app);
Run add_verify(CLI::App& app);
Run add_vkey_export(CLI::App& app);

// How long a command waits for an answer that takes the daemon no work.
inline constexpr std::chrono::seconds kPromptly{30};

// A usage error: what is wrong, and what to do.
inline Error usage(std::string what, std::string hint = {}) {
  return bad_request(std::move(what), "command line", std::move(hint));
}

}  // namespace cuzk::cli
