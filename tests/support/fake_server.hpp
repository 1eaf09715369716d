// A daemon that says what a test tells it to say: one thread a connection, on a socket in a folder
// of its own.
//
// The handler runs once for each connection and speaks through it; when it returns, the connection
// closes. Whatever still blocks is woken when the server goes.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/protocol/frame.hpp"
#include "common/protocol/stream_socket.hpp"

namespace cuzk::test {

class FakeConnection {
 public:
  explicit FakeConnection(int socket) : socket_(socket) {}

  // The next request; nothing when the client is gone.
  std::optional<Frame> next() {
    std::vector<std::byte> buffer(65536);
    while (true) {
      auto frame = decoder_.next();
      if (!frame) throw std::runtime_error(frame.error().message());
      if (*frame) return **std::move(frame);
      pollfd wait{socket_, POLLIN, 0};
      if (::poll(&wait, 1, -1) < 0) return std::nullopt;
      auto received = receive_some(socket_, buffer);
      if (!received || received->state == Received::State::kClosed) return std::nullopt;
      decoder_.feed(std::span(buffer).first(received->bytes), std::move(received->fds));
    }
  }
  // Waits for the next request and decodes it.
  template <class Request>
  std::optional<Request> next(MessageType type, Frame* whole = nullptr) {
    auto frame = next();
    if (!frame) return std::nullopt;
    if (frame->type != type) throw std::runtime_error("the client sent another request");
    sequence_ = frame->sequence;
    auto request = decode<Request>(frame->body);
    if (!request) throw std::runtime_error(request.error().message());
    if (whole != nullptr) *whole = *std::move(frame);
    return *std::move(request);
  }
  void raw(std::string_view bytes) {
    while (!bytes.empty()) {
      pollfd wait{socket_, POLLOUT, 0};
      if (::poll(&wait, 1, -1) < 0) return;
      const auto sent = send_some(socket_, bytes);
      if (!sent) return;
      bytes.remove_prefix(*sent);
    }
  }
  template <class Message>
  void send(MessageType type, const Message& message, std::optional<std::uint64_t> sequence = {}) {
    raw(*encode_frame(type, sequence.value_or(sequence_), std::string_view(encode(message))));
  }
  void error(const Error& error) { send(MessageType::kError, error); }
  void progress(const std::string& stage, std::uint32_t permille) {
    send(MessageType::kProgress, ProgressEvent{JobId{}, stage, "step", permille});
  }
  // Says nothing until the client or the test goes.
  void hold() {
    while (next()) {
    }
  }

 private:
  int socket_;
  FrameDecoder decoder_;
  std::uint64_t sequence_ = 0;
};

class FakeServer {
 public:
  using Handler = std::function<void(FakeConnection&)>;

  explicit FakeServer(Handler handler) : handler_(std::move(handler)) {
    std::string pattern = (std::filesystem::temp_directory_path() / "cuzk-fake.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    folder_ = pattern;
    listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket().string().copy(address.sun_path, sizeof address.sun_path - 1);
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_.get(), 64) != 0) {
      throw std::runtime_error("bind");
    }
    acceptor_ = std::thread([this] { accept(); });
  }
  ~FakeServer() {
    const std::uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    acceptor_.join();
    {
      std::lock_guard lock(mutex_);
      for (const UniqueFd& open : open_) ::shutdown(open.get(), SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  std::filesystem::path socket() const { return folder_ / "cuzk.sock"; }
  const std::filesystem::path& folder() const { return folder_; }
  // What went wrong in a handler; empty: nothing.
  std::string trouble() {
    std::lock_guard lock(mutex_);
    return trouble_;
  }

 private:
  void accept() {
    while (true) {
      pollfd waits[2] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
      if (::poll(waits, 2, -1) < 0 || waits[1].revents != 0) return;
      UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) continue;
      std::lock_guard lock(mutex_);
      open_.push_back(std::move(client));
      UniqueFd& mine = open_.back();
      threads_.emplace_back([this, &mine] { serve(mine); });
    }
  }
  void serve(UniqueFd& socket) {
    try {
      FakeConnection connection(socket.get());
      handler_(connection);
    } catch (const std::exception& exception) {
      std::lock_guard lock(mutex_);
      trouble_ = exception.what();
    }
    std::lock_guard lock(mutex_);
    socket.reset();
  }

  Handler handler_;
  std::filesystem::path folder_;
  UniqueFd listener_;
  UniqueFd stop_;
  std::thread acceptor_;
  std::mutex mutex_;
  std::list<UniqueFd> open_;
  std::vector<std::thread> threads_;
  std::string trouble_;
};

}  // namespace cuzk::test
