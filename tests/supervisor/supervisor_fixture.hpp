// A whole supervisor in one thread: real socket, journal and shared memory; time and workers are
// the test's.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/protocol/frame.hpp"
#include "common/protocol/stream_socket.hpp"
#include "supervisor/supervisor.hpp"
#include "tests/supervisor/fake_clock.hpp"
#include "tests/supervisor/fake_workers.hpp"
#include "tests/supervisor/temporary_folder.hpp"

namespace cuzk::supervisor {

// A client that does not wait: bytes out, frames in.
class RawClient {
 public:
  explicit RawClient(const std::filesystem::path& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    connected_ =
        ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  bool connected() const { return connected_; }
  int fd() const { return socket_.get(); }

  // What does not fit into the socket is not sent: returns how much was.
  std::size_t send_bytes(std::string_view bytes, std::vector<int> fds = {}) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const auto some =
          send_some(socket_.get(), bytes.substr(sent), sent == 0 ? fds : std::vector<int>{});
      if (!some || *some == 0) break;
      sent += *some;
    }
    return sent;
  }
  template <class Message>
  void send(MessageType type, const Message& message, std::uint64_t sequence = 1,
            std::vector<int> fds = {}) {
    const auto frame = encode_frame(type, sequence, message, fds.size());
    ASSERT_TRUE(frame);
    ASSERT_EQ(send_bytes(*frame, std::move(fds)), frame->size());
  }

  // Takes what has come. False once the other side has closed.
  bool receive() {
    std::vector<std::byte> buffer(1 << 16);
    while (!closed_) {
      auto received = receive_some(socket_.get(), buffer);
      if (!received || received->state == Received::State::kClosed) {
        closed_ = true;
      } else if (received->state == Received::State::kEmpty) {
        break;
      } else {
        decoder_.feed(std::span(buffer).first(received->bytes));
      }
    }
    while (true) {
      auto frame = decoder_.next();
      if (!frame || !*frame) break;
      frames.push_back(std::move(**frame));
    }
    return !closed_;
  }
  bool closed() const { return closed_; }
  void hang_up() { socket_.reset(); }
  void stop_sending() { ::shutdown(socket_.get(), SHUT_WR); }

  std::deque<Frame> frames;

 private:
  UniqueFd socket_;
  bool connected_ = false;
  bool closed_ = false;
  FrameDecoder decoder_;
};

class SupervisorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::umask(0077);
    std::filesystem::create_directories(programs());
    for (const char* name : {"cuzk-synth-worker", "cuzk-gpu-worker"}) {
      std::ofstream(programs() / name) << "#!/bin/sh\n";
      std::filesystem::permissions(programs() / name, std::filesystem::perms::owner_all);
    }
    config.daemon.socket = folder.path() / "run" / "cuzk.sock";
    config.daemon.state_dir = folder.path() / "state";
    config.synthesis.partition_workers = 2;
    config.synthesis.threads = 1;
    config.gpus.gpu_threads = 1;
    config.memory.total_budget = std::uint64_t{1} << 30;
  }

  std::filesystem::path programs() const { return folder.path() / "bin"; }
  std::filesystem::path state() const { return config.daemon.state_dir; }

  void start() {
    auto created = Supervisor::create(config, programs(), workers, clock);
    ASSERT_TRUE(created) << created.error().message();
    supervisor = *std::move(created);
    supervisor->start();
    settle();
  }
  // A new world for the next round of a test.
  void folder_again() {
    supervisor.reset();
    workers.forget();
    workers.commands.clear();
    std::filesystem::remove_all(state());
  }
  // As kill -9 does: nothing is said, written or cleaned up.
  void crash() {
    supervisor.reset();
    workers.forget();
  }

  // Turns the loop until nothing happens any more.
  void settle() {
    for (int quiet = 0; quiet < 3;) {
      const auto before = workers.commands_taken();
      supervisor->turn(std::chrono::milliseconds(0));
      workers.step();
      supervisor->turn(std::chrono::milliseconds(0));
      quiet = before == workers.commands_taken() ? quiet + 1 : 0;
    }
  }
  void pass(Duration time) {
    clock.advance(time);
    settle();
  }

  // The next frame for the client that is no progress, turning the loop meanwhile.
  std::optional<Frame> next_frame(RawClient& client, bool skip_progress = true) {
    for (int i = 0; i < 200; ++i) {
      client.receive();
      while (!client.frames.empty()) {
        Frame frame = std::move(client.frames.front());
        client.frames.pop_front();
        if (frame.type == MessageType::kProgress && skip_progress) continue;
        return frame;
      }
      if (client.closed()) return std::nullopt;
      settle();
    }
    return std::nullopt;
  }
  template <class Reply>
  std::optional<Reply> reply_to(RawClient& client, MessageType type) {
    const auto frame = next_frame(client);
    if (!frame) return std::nullopt;
    EXPECT_EQ(static_cast<int>(frame->type), static_cast<int>(type))
        << (frame->type == MessageType::kError ? error_in(*frame).message() : "");
    if (frame->type != type) return std::nullopt;
    auto reply = decode<Reply>(frame->body);
    EXPECT_TRUE(reply);
    return reply ? std::optional<Reply>(*std::move(reply)) : std::nullopt;
  }
  static Error error_in(const Frame& frame) {
    EXPECT_EQ(frame.type, MessageType::kError);
    Error error;
    try {
      BoundedInputArchive archive(std::as_bytes(std::span(frame.body.data(), frame.body.size())));
      archive(error);
    } catch (const std::exception&) {
      ADD_FAILURE() << "not an error";
    }
    return error;
  }
  std::optional<Error> next_error(RawClient& client) {
    const auto frame = next_frame(client);
    if (!frame) return std::nullopt;
    return error_in(*frame);
  }

  UniqueFd file(const std::string& name, const std::string& content) {
    const auto path = folder.path() / name;
    std::ofstream(path, std::ios::binary) << content;
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }

  // Submits with the key `k.zkey` and a small inline witness.
  static SubmitRequest submission(std::string request_id = {}) {
    SubmitRequest request;
    request.request_id = std::move(request_id);
    request.key_attached = true;
    request.key_name = "k.zkey";
    request.input_inline = "witness";
    request.input_name = "w.wtns";
    return request;
  }
  std::optional<SubmitReply> submit(RawClient& client, const SubmitRequest& request) {
    const UniqueFd key = file("k.zkey", "a key");
    client.send(MessageType::kSubmit, request, 1, {key.get()});
    return reply_to<SubmitReply>(client, MessageType::kSubmit);
  }
  std::optional<JobReport> await(RawClient& client, const std::string& id,
                                 std::uint64_t timeout_ms = 0) {
    client.send(MessageType::kAwait, AwaitRequest{id, timeout_ms, false});
    return reply_to<JobReport>(client, MessageType::kAwait);
  }
  std::optional<StatusReply> status(RawClient& client) {
    client.send(MessageType::kStatus, StatusRequest{});
    return reply_to<StatusReply>(client, MessageType::kStatus);
  }
  std::size_t spooled() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(state() / "spool")) {
      (void)entry;
      ++count;
    }
    return count;
  }

  TemporaryFolder folder;
  Config config;
  FakeClock clock;
  FakeWorkers workers;
  std::unique_ptr<Supervisor> supervisor;
};

}  // namespace cuzk::supervisor
