// Tells when a descriptor can be read or written, in the loop.
//
// Asio watches; the system calls are the owner's, since descriptors that carry descriptors
// (SCM_RIGHTS) are beyond Asio's own reads. A watch may be destroyed inside its own callback.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

namespace cuzk::supervisor {

class FdWatch {
 public:
  using Callback = std::function<void()>;

  // `fd` stays the caller's and must outlive the watch; it becomes non-blocking.
  FdWatch(boost::asio::io_context& loop, int fd, Callback readable, Callback writable = {});
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;
  ~FdWatch();

  // While wanted, the callback is called whenever the descriptor is ready. Nothing is wanted at
  // first.
  void want_read(bool wanted);
  void want_write(bool wanted);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace cuzk::supervisor
