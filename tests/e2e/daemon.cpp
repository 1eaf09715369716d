#include "tests/e2e/daemon.hpp"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace cuzk::e2e {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

namespace {

fs::path make_folder() {
  std::string pattern = (fs::temp_directory_path() / "cuzk-e2e.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  return pattern;
}

pid_t spawn(const std::vector<std::string>& arguments, const fs::path& out, const fs::path& err,
            int extra_flags) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | extra_flags, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | extra_flags, 0600);
  pid_t pid = -1;
  const int failed = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start " + arguments[0]);
  return pid;
}

// Waits for a child at most until `end`, then kills it.
int wait_until(pid_t pid, steady_clock::time_point end) {
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (steady_clock::now() >= end) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      return 124;
    }
    ::usleep(1000);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Output run(const std::vector<std::string>& arguments, std::chrono::seconds limit) {
  const fs::path folder = make_folder();
  Output output;
  const pid_t pid = spawn(arguments, folder / "out", folder / "err", O_TRUNC);
  output.exit_code = wait_until(pid, steady_clock::now() + limit);
  output.out = read_text(folder / "out");
  output.err = read_text(folder / "err");
  fs::remove_all(folder);
  return output;
}

Daemon::Daemon(std::vector<std::string> extra_arguments, std::string config)
    : extra_arguments_(std::move(extra_arguments)), folder_(make_folder()) {
  if (!config.empty()) {
    std::ofstream(folder_ / "cuzk.toml") << config;
    extra_arguments_.insert(extra_arguments_.end(), {"--config", (folder_ / "cuzk.toml").string()});
  }
  start();
}

Daemon::~Daemon() {
  if (pid_ > 0) stop();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Daemon::start() {
  std::vector<std::string> arguments = {std::string(CUZK_BIN_DIR) + "/cuzk-supervisor",
                                        "--socket", socket().string(),
                                        "--state-dir", (folder_ / "state").string()};
  arguments.insert(arguments.end(), extra_arguments_.begin(), extra_arguments_.end());
  pid_ = spawn(arguments, folder_ / "supervisor.out", folder_ / "supervisor.log", O_APPEND);
  const bool answers = eventually([&] {
    const Output status = ctl({"status"}, std::chrono::seconds(5));
    return status.exit_code == 0 || ::waitpid(pid_, nullptr, WNOHANG) != 0;
  });
  if (!answers || ::kill(pid_, 0) != 0) {
    throw std::runtime_error("the supervisor does not answer:\n" + log());
  }
}

Output Daemon::ctl(std::vector<std::string> arguments, std::chrono::seconds limit) const {
  arguments.insert(arguments.begin(), std::string(CUZK_BIN_DIR) + "/cuzkctl");
  arguments.insert(arguments.end(), {"--socket", socket().string()});
  return run(arguments, limit);
}

nlohmann::json Daemon::status() const {
  const Output output = ctl({"status", "--json"}, std::chrono::seconds(10));
  return nlohmann::json::parse(output.out, nullptr, false);
}

pid_t Daemon::worker_pid(const std::string& name) const {
  const nlohmann::json now = status();
  if (!now.contains("workers")) return -1;
  for (const auto& worker : now["workers"]) {
    if (worker.value("name", "") == name) {
      const pid_t pid = worker.value("pid", 0);
      return pid > 0 ? pid : -1;
    }
  }
  return -1;
}

std::vector<std::string> Daemon::worker_names() const {
  std::vector<std::string> names;
  const nlohmann::json now = status();
  for (const auto& worker : now["workers"]) names.push_back(worker.value("name", ""));
  return names;
}

std::string Daemon::log() const { return read_text(folder_ / "supervisor.log"); }

void Daemon::kill_and_restart() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  start();
}

int Daemon::stop() {
  ::kill(pid_, SIGTERM);
  const int exit_code = wait_until(pid_, steady_clock::now() + std::chrono::seconds(30));
  pid_ = -1;
  return exit_code;
}

}  // namespace cuzk::e2e
