// A supervisor of the test's own, with real workers, in a folder of its own.
//
// End-to-end tests start programs as a user does and talk to them through cuzkctl alone, so that what
// they check is what a user gets: exit codes, files, messages.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

namespace cuzk::e2e {

struct Output {
  int exit_code = -1;  // 128 + n when signal n ended it
  std::string out;
  std::string err;
};

// Runs a program to its end, at most `limit` long (then it is killed and exit_code is 124).
Output run(const std::vector<std::string>& arguments,
           std::chrono::seconds limit = std::chrono::seconds(120));

class Daemon {
 public:
  // Starts the supervisor and waits until it answers `cuzkctl status`; throws std::runtime_error with
  // its log when it does not within 20 s.
  explicit Daemon(std::vector<std::string> extra_arguments = {}, std::string config = {});
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // cuzkctl with this daemon's socket.
  Output ctl(std::vector<std::string> arguments,
             std::chrono::seconds limit = std::chrono::seconds(120)) const;
  nlohmann::json status() const;
  // The pid of a worker by name, for example "gpu0"; -1 while there is none.
  pid_t worker_pid(const std::string& name) const;
  std::vector<std::string> worker_names() const;

  pid_t pid() const { return pid_; }
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path socket() const { return folder_ / "cuzk.sock"; }
  std::string log() const;

  // SIGKILL, and a new supervisor on the same folder.
  void kill_and_restart();
  // SIGTERM; returns the exit code.
  int stop();

 private:
  void start();
  std::vector<std::string> extra_arguments_;
  std::filesystem::path folder_;
  pid_t pid_ = -1;
};

// Polls until `condition` holds; false after `limit`. Used where the outside world must come to a state.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds(20));

std::string read_text(const std::filesystem::path& path);

}  // namespace cuzk::e2e

#include <thread>

template <class Condition>
bool cuzk::e2e::eventually(Condition condition, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return condition();
}
