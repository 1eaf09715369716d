#include "supervisor/process/launcher.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cuzk::supervisor {
namespace {

// <linux/wait.h> and glibc name it from version 2.36 on.
constexpr auto kWaitPidFd = static_cast<idtype_t>(3);
constexpr unsigned kCloseRangeCloexec = 1U << 2;
constexpr int kFirstFd = 3;

int pidfd_send_signal(int pidfd, int signal_number) {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, signal_number, nullptr, 0));
}

// Everything that the child needs between vfork and exec, made ready before. The child shares the
// parent's memory until it calls exec, so it may only read this, write `failed_call` and `error`,
// and make system calls.
struct Plan {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const int* fds = nullptr;  // all above the numbers they will get
  int fd_count = 0;
  int null_fd = -1;
  int output_fd = -1;
  pid_t parent = 0;
  const char* failed_call = nullptr;
  int error = 0;
};

[[noreturn]] void fail(Plan& plan, const char* call) {
  plan.failed_call = call;
  plan.error = errno;
  ::_exit(127);
}

// Runs in the child. Signals are blocked until the last moment: a handler of the parent must not
// run here, on the parent's memory.
[[noreturn]] void become(Plan& plan) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail(plan, "prctl(PR_SET_PDEATHSIG)");
  // If the parent died before that call, nobody will send the signal.
  if (::getppid() != plan.parent) ::_exit(127);
  if (::setpgid(0, 0) != 0) fail(plan, "setpgid");

  struct sigaction defaults {};
  defaults.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &defaults, nullptr);

  if (::dup2(plan.null_fd, 0) < 0 || ::dup2(plan.output_fd, 1) < 0 ||
      ::dup2(plan.output_fd, 2) < 0) {
    fail(plan, "dup2");
  }
  for (int i = 0; i < plan.fd_count; ++i) {
    if (::dup2(plan.fds[i], kFirstFd + i) < 0) fail(plan, "dup2");
  }
  // Everything else is close-on-exec already; a library that forgot it is caught here.
  ::syscall(SYS_close_range, kFirstFd + plan.fd_count, ~0U, kCloseRangeCloexec);

  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(plan.program, plan.arguments, plan.environment);
  fail(plan, "execve");
}

// In a function of its own, so that no variable of the caller lives in a register across vfork.
[[gnu::noinline]] pid_t vfork_and_become(Plan& plan) {
  const pid_t pid = ::vfork();
  if (pid == 0) become(plan);
  return pid;
}

// Copies of descriptors at numbers that no target number collides with.
Result<std::vector<UniqueFd>> lift(const std::vector<int>& fds) {
  std::vector<UniqueFd> lifted;
  const int lowest = kFirstFd + static_cast<int>(fds.size());
  for (const int fd : fds) {
    const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, lowest);
    if (copy < 0) return system_error(ErrorClass::kRetryHere, "fcntl(F_DUPFD_CLOEXEC)", "spawn");
    lifted.emplace_back(copy);
  }
  return lifted;
}

}  // namespace

Result<Child> ForkLauncher::spawn(const SpawnRequest& request) {
  const std::string program = request.program.string();
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0)
    return system_error(ErrorClass::kRetryHere, "pipe2", program);
  UniqueFd reader(pipe_fds[0]);
  std::vector<int> sources = request.fds;
  sources.push_back(pipe_fds[1]);
  UniqueFd writer(pipe_fds[1]);
  UniqueFd null_fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null_fd) return system_error(ErrorClass::kRetryHere, "open", "/dev/null");
  sources.push_back(null_fd.get());
  CUZK_TRY(lifted, lift(sources));

  std::vector<int> fds;
  for (std::size_t i = 0; i < request.fds.size(); ++i) fds.push_back(lifted[i].get());
  std::vector<std::string> words{program};
  for (const std::string& argument : request.arguments) words.push_back(argument);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  Plan plan;
  plan.program = program.c_str();
  plan.arguments = arguments.data();
  plan.environment = environ;
  plan.fds = fds.data();
  plan.fd_count = static_cast<int>(fds.size());
  plan.output_fd = lifted[request.fds.size()].get();
  plan.null_fd = lifted[request.fds.size() + 1].get();
  plan.parent = ::getpid();

  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t pid = vfork_and_become(plan);
  const int vfork_error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    errno = vfork_error;
    return system_error(ErrorClass::kRetryHere, "vfork", program);
  }
  if (plan.failed_call != nullptr) {
    ::waitpid(pid, nullptr, 0);
    errno = plan.error;
    return system_error(ErrorClass::kRetryHere, plan.failed_call, program);
  }
  // The child is not reaped before we do it, so the number cannot be somebody else's yet.
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) {
    const Error error = system_error(ErrorClass::kRetryHere, "pidfd_open", program);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return error;
  }
  ::fcntl(pidfd.get(), F_SETFD, FD_CLOEXEC);
  return Child{pid, std::move(pidfd), std::move(reader)};
}

std::optional<ExitStatus> ForkLauncher::reap(const Child& child) {
  siginfo_t info{};
  const auto id = static_cast<id_t>(child.pidfd.get());
  if (::waitid(kWaitPidFd, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
    return std::nullopt;
  }
  // While the leader is a zombie its number cannot name another group.
  ::kill(-child.pid, SIGKILL);
  ::waitid(kWaitPidFd, id, &info, WEXITED | WNOHANG);
  return ExitStatus{info.si_code != CLD_EXITED, info.si_status};
}

void ForkLauncher::signal(const Child& child, int signal_number) {
  pidfd_send_signal(child.pidfd.get(), signal_number);
}

void ForkLauncher::reap_strangers(const std::set<pid_t>& children) {
  constexpr int kAtOnce = 64;
  for (int i = 0; i < kAtOnce; ++i) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    if (children.contains(info.si_pid)) return;  // its pidfd fires in this or the next turn
    ::waitpid(info.si_pid, nullptr, WNOHANG);
  }
}

std::string ExitStatus::text() const {
  if (!signalled) return fmt::format("exit code {}", code);
  const char* name = ::strsignal(code);
  return fmt::format("signal {} ({})", code, name != nullptr ? name : "unknown");
}

Status become_subreaper() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    return system_error(ErrorClass::kBug, "prctl(PR_SET_CHILD_SUBREAPER)", "supervisor");
  }
  return {};
}

Result<std::filesystem::path> program_folder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return Error{ErrorClass::kBug, "cannot read the link: " + error.message(), "/proc/self/exe",
                 "is /proc mounted?"};
  }
  return program.parent_path();
}

}  // namespace cuzk::supervisor
