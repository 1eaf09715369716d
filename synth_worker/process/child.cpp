#include "synth_worker/process/child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <span>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/unique_fd.hpp"
#include "synth_worker/process/bounded_text.hpp"

namespace cuzk {
namespace {

constexpr const char* kProgramFolders[] = {"/usr/local/bin", "/usr/bin", "/bin"};
constexpr int kFirstPassed = 3;
constexpr auto kPollInterval = std::chrono::milliseconds(20);
constexpr int kCannotExec = 126;

struct Pipe {
  UniqueFd reader, writer;
  static Result<Pipe> create(int flags) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | flags) != 0) {
      return system_error(ErrorClass::kRetryHere, "pipe2", "child process");
    }
    return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  }
};

// Everything that the child needs between fork and exec, made before: it may not allocate there.
struct Launch {
  const char* program;
  const char* folder;
  std::vector<char*> arguments, environment;
  std::vector<int> descriptors;
  int null_fd, error_fd, report_fd;
  pid_t parent;
  ChildLimits limits;
};

void set_limit(__rlimit_resource resource, rlim_t value) {
  const rlimit limit{value, value};
  ::setrlimit(resource, &limit);
}

// Puts the descriptors to their numbers; false on failure. Moves all of them out of the way first, so
// that no target number is also a source that is still needed.
bool arrange_descriptors(Launch& launch) {
  const int above = 64 + static_cast<int>(launch.descriptors.size());
  for (int* fd : {&launch.null_fd, &launch.error_fd, &launch.report_fd}) {
    if ((*fd = ::fcntl(*fd, F_DUPFD_CLOEXEC, above)) < 0) return false;
  }
  for (int& fd : launch.descriptors) {
    if ((fd = ::fcntl(fd, F_DUPFD_CLOEXEC, above)) < 0) return false;
  }
  if (::dup2(launch.null_fd, 0) < 0 || ::dup2(launch.null_fd, 1) < 0 ||
      ::dup2(launch.error_fd, 2) < 0) {
    return false;
  }
  int next = kFirstPassed;
  for (const int fd : launch.descriptors) {
    if (::dup2(fd, next++) < 0) return false;
  }
  return ::close_range(static_cast<unsigned>(next), ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

// Runs in the child and does not return. Only async-signal-safe calls: other threads of the parent may
// have held any lock when it was forked.
[[noreturn]] void become(Launch& launch) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) ::_exit(kCannotExec);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_AS, launch.limits.address_space_bytes);
  set_limit(RLIMIT_FSIZE, launch.limits.file_bytes);
  if (arrange_descriptors(launch) && ::chdir(launch.folder) == 0) {
    ::execve(launch.program, launch.arguments.data(), launch.environment.data());
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t reported = ::write(launch.report_fd, &error, sizeof error);
  ::_exit(kCannotExec);
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& string : strings) result.push_back(const_cast<char*>(string.c_str()));
  result.push_back(nullptr);
  return result;
}

// Appends what is there to read; false at the end of the stream.
bool drain(int fd, BoundedText& text) {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      text.append({buffer.data(), static_cast<std::size_t>(got)});
    } else if (got == 0 || (errno != EINTR)) {
      return got != 0 && errno == EAGAIN;
    }
  }
}

// Waits until the child is dead (not yet reaped), killing it when its time is over.
ChildOutcome::End wait_for_death(const UniqueFd& pidfd, pid_t pid, const UniqueFd& errors,
                                 BoundedText& text, std::chrono::steady_clock::time_point deadline,
                                 const KeepRunning& keep_running) {
  auto end = ChildOutcome::End::kExited;
  bool open = true;
  for (;;) {
    std::array<pollfd, 2> watched{pollfd{pidfd.get(), POLLIN, 0},
                                  pollfd{open ? errors.get() : -1, POLLIN, 0}};
    ::poll(watched.data(), watched.size(), static_cast<int>(kPollInterval.count()));
    if (watched[1].revents != 0) open = drain(errors.get(), text);
    if (watched[0].revents != 0) return end;
    if (end != ChildOutcome::End::kExited) continue;
    if (std::chrono::steady_clock::now() >= deadline) {
      end = ChildOutcome::End::kTimedOut;
    } else if (keep_running && !keep_running()) {
      end = ChildOutcome::End::kStopped;
    } else {
      continue;
    }
    ::kill(-pid, SIGKILL);
    ::kill(pid, SIGKILL);  // it may not have become a group yet
  }
}

void reap(pid_t pid, ChildOutcome& outcome) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (outcome.end != ChildOutcome::End::kExited) return;
  if (WIFSIGNALED(status)) {
    outcome.end = ChildOutcome::End::kSignalled;
    outcome.code = WTERMSIG(status);
  } else {
    outcome.code = WEXITSTATUS(status);
  }
}

}  // namespace

std::string ChildOutcome::describe() const {
  switch (end) {
    case End::kExited: return fmt::format("exit code {}", code);
    case End::kSignalled: return fmt::format("killed by signal {} ({})", code, ::strsignal(code));
    case End::kTimedOut:
      return fmt::format("ran longer than {:.1f} s", static_cast<double>(duration.count()) / 1e6);
    case End::kStopped: return "stopped on request";
  }
  return "?";
}

Result<ChildOutcome> run_child(const ChildCommand& command, const KeepRunning& keep_running) {
  const auto start = std::chrono::steady_clock::now();
  const std::string where = command.program.string();
  CUZK_TRY(errors, Pipe::create(O_NONBLOCK));
  CUZK_TRY(report, Pipe::create(0));
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return system_error(ErrorClass::kRetryHere, "open", "/dev/null");
  // The child's end must block, or programs would lose messages.
  ::fcntl(errors.writer.get(), F_SETFL, 0);
  Launch launch{command.program.c_str(), command.folder.c_str(), pointers(command.arguments),
                pointers(command.environment), command.descriptors, null.get(), errors.writer.get(),
                report.writer.get(), ::getpid(), command.limits};
  const pid_t pid = ::fork();
  if (pid < 0) return system_error(ErrorClass::kRetryHere, "fork", where);
  if (pid == 0) become(launch);
  ::setpgid(pid, pid);
  errors.writer.reset();
  report.writer.reset();

  ChildOutcome outcome;
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) {
    const Error error = system_error(ErrorClass::kRetryHere, "pidfd_open", where);
    ::kill(-pid, SIGKILL);
    reap(pid, outcome);
    return error;
  }
  BoundedText text;
  outcome.end = wait_for_death(pidfd, pid, errors.reader, text, start + command.limits.wall_time,
                               keep_running);
  // The zombie still holds the number, so the group cannot be anybody else's: end its descendants.
  ::kill(-pid, SIGKILL);
  reap(pid, outcome);
  drain(errors.reader.get(), text);
  outcome.error_output = text.str();
  outcome.duration = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - start);
  int exec_error = 0;
  if (::read(report.reader.get(), &exec_error, sizeof exec_error) == sizeof exec_error) {
    errno = exec_error;
    return system_error(ErrorClass::kRetryHere, "start", where);
  }
  return outcome;
}

std::vector<std::string> plain_environment() {
  std::string path = "PATH=";
  for (const char* folder : kProgramFolders) {
    if (path.back() != '=') path += ':';
    path += folder;
  }
  return {path, "LC_ALL=C"};
}

Result<std::filesystem::path> find_program(std::string_view name, std::string_view package) {
  for (const char* folder : kProgramFolders) {
    std::filesystem::path candidate = std::filesystem::path(folder) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return Error{ErrorClass::kOperator, fmt::format("{} is not installed", name), std::string(name),
               fmt::format("install the package {}", package)};
}

}  // namespace cuzk
