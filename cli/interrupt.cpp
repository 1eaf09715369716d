#include "cli/interrupt.hpp"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace cuzk::cli {

Result<Interrupt> Interrupt::begin() {
  sigset_t mask;
  ::sigemptyset(&mask);
  ::sigaddset(&mask, SIGINT);
  ::sigaddset(&mask, SIGTERM);
  UniqueFd fd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return system_error(ErrorClass::kRetryHere, "signalfd", "cuzkctl");
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &mask, &before);
  return Interrupt(std::move(fd), before);
}

Interrupt::Interrupt(Interrupt&& other) noexcept
    : fd_(std::move(other.fd_)), before_(other.before_) {}

Interrupt::~Interrupt() {
  if (fd_) ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Interrupt::take() {
  signalfd_siginfo info{};
  bool came = false;
  while (::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) came = true;
  return came;
}

}  // namespace cuzk::cli
