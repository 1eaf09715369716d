// Runs a program as a child process: no shell, bounded in time, memory and output, killed as a whole.
//
// The synthesis process starts programs that others wrote: wasm2c, the C compiler, a circuit's own
// witness program. A child gets nothing that it was not given: three standard streams, the descriptors
// that the command names, an environment written here, its own process group, no core dumps (they would
// hold witnesses), no new privileges. It dies with this process, and whatever it started dies with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"

namespace cuzk {

struct ChildLimits {
  std::chrono::milliseconds wall_time{60'000};
  std::uint64_t address_space_bytes = std::uint64_t{4} << 30;
  std::uint64_t file_bytes = std::uint64_t{1} << 30;  // of each file that it writes
};

struct ChildCommand {
  std::filesystem::path program;       // absolute
  std::vector<std::string> arguments;  // with argv[0]
  std::vector<std::string> environment;  // "NAME=value"
  std::filesystem::path folder = "/";  // working directory
  std::vector<int> descriptors;        // the child has them as 3, 4, ...
  ChildLimits limits;
};

struct ChildOutcome {
  enum class End { kExited, kSignalled, kTimedOut, kStopped };
  End end = End::kExited;
  int code = 0;              // exit code or signal number
  std::string error_output;  // beginning and end of what it wrote to stderr
  std::chrono::microseconds duration{};

  bool succeeded() const { return end == End::kExited && code == 0; }
  // "exit code 1", "killed by signal 11 (Segmentation fault)", "ran longer than 60 s".
  std::string describe() const;
};

// Asked about every 20 ms; false kills the child.
using KeepRunning = std::function<bool()>;

// Fails (kRetryHere) only when the child could not be started; how it ended is the outcome.
Result<ChildOutcome> run_child(const ChildCommand& command, const KeepRunning& keep_running = {});

// The environment of programs that need none of ours: a plain PATH and the C locale.
std::vector<std::string> plain_environment();

// Where `name` is among the folders of plain_environment()'s PATH. `package` is named in the error
// (kOperator) when it is nowhere.
Result<std::filesystem::path> find_program(std::string_view name, std::string_view package);

}  // namespace cuzk
