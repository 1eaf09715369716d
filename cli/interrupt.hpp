// Ctrl-C as something to wait for.
#pragma once

#include <csignal>

#include "common/result.hpp"
#include "common/unique_fd.hpp"

namespace cuzk::cli {

// While it lives, SIGINT and SIGTERM do not end the process but make `fd` readable: for the time of
// a wait whose end must be explained. Afterwards they act as before; one that nobody read acts at
// once.
class Interrupt {
 public:
  static Result<Interrupt> begin();
  Interrupt(Interrupt&& other) noexcept;
  Interrupt& operator=(Interrupt&&) = delete;
  ~Interrupt();

  int fd() const { return fd_.get(); }
  // Whether a signal came; it is consumed, so that it does not act afterwards.
  bool take();

 private:
  Interrupt(UniqueFd fd, const sigset_t& before) : fd_(std::move(fd)), before_(before) {}
  UniqueFd fd_;  // none after a move
  sigset_t before_;
};

}  // namespace cuzk::cli
