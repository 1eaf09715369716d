// Starts a program as a child, and tells how it ended.
//
// An interface, so that the process tree is tested without processes. The real one promises that
// the child gets exactly the descriptors it is meant to have, default signal handling, a process
// group of its own (a Ctrl-C in the terminal is the supervisor's business), and that it dies with
// the supervisor.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/result.hpp"
#include "common/unique_fd.hpp"

namespace cuzk::supervisor {

struct SpawnRequest {
  std::filesystem::path program;
  std::vector<std::string> arguments;  // without the program's name
  std::vector<int> fds;                // become 3, 4, ... in the child; still owned by the caller
};

struct Child {
  pid_t pid = 0;
  UniqueFd pidfd;   // readable once the child can be reaped
  UniqueFd output;  // its standard output and error
};

struct ExitStatus {
  bool signalled = false;
  int code = 0;  // of exit, or the signal's number

  // "exit code 3" or "signal 9 (Killed)".
  std::string text() const;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual Result<Child> spawn(const SpawnRequest& request) = 0;
  // Once the pidfd is readable. Also ends what is left of the child's process group.
  virtual std::optional<ExitStatus> reap(const Child& child) = 0;
  virtual void signal(const Child& child, int signal_number) = 0;
  // Reaps adopted grandchildren; `children` are left to their pidfds.
  virtual void reap_strangers(const std::set<pid_t>& children) = 0;
};

class ForkLauncher final : public Launcher {
 public:
  Result<Child> spawn(const SpawnRequest& request) override;
  std::optional<ExitStatus> reap(const Child& child) override;
  void signal(const Child& child, int signal_number) override;
  void reap_strangers(const std::set<pid_t>& children) override;
};

// Grandchildren whose parent died become this process's children.
Status become_subreaper();

// The folder of the running program: the others lie beside it.
Result<std::filesystem::path> program_folder();

}  // namespace cuzk::supervisor
