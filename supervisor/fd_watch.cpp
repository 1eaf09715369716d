#include "supervisor/fd_watch.hpp"

#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>

namespace cuzk::supervisor {

using Descriptor = boost::asio::posix::stream_descriptor;

// Lives as long as a wait is pending, longer than the watch if need be.
struct FdWatch::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& loop, int fd) : descriptor(loop, fd) {}

  struct Direction {
    Callback callback;
    bool wanted = false;
    bool pending = false;
  };

  void arm(Direction& direction, Descriptor::wait_type type) {
    if (!direction.wanted || direction.pending || closed) return;
    direction.pending = true;
    descriptor.async_wait(type, [self = shared_from_this(), &direction, type](const auto& error) {
      direction.pending = false;
      if (self->closed || error == boost::asio::error::operation_aborted) return;
      if (direction.wanted) direction.callback();
      self->arm(direction, type);
    });
  }

  Descriptor descriptor;
  Direction read;
  Direction write;
  bool closed = false;
};

FdWatch::FdWatch(boost::asio::io_context& loop, int fd, Callback readable, Callback writable)
    : state_(std::make_shared<State>(loop, fd)) {
  state_->read.callback = std::move(readable);
  state_->write.callback = std::move(writable);
}

FdWatch::~FdWatch() {
  state_->closed = true;
  state_->descriptor.release();  // ends the waits, leaves the descriptor open
}

void FdWatch::want_read(bool wanted) {
  state_->read.wanted = wanted;
  state_->arm(state_->read, Descriptor::wait_read);
}

void FdWatch::want_write(bool wanted) {
  state_->write.wanted = wanted;
  state_->arm(state_->write, Descriptor::wait_write);
}

}  // namespace cuzk::supervisor
