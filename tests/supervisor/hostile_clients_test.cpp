// Clients that are broken, slow, greedy or hostile: each harms itself and nobody else.

#include "tests/supervisor/supervisor_fixture.hpp"

#include <random>

#include <sys/mman.h>
#include <sys/resource.h>

namespace cuzk::supervisor {
namespace {

std::string header(std::string magic, std::uint16_t version, std::uint16_t type,
                   std::uint32_t length, std::uint32_t fds) {
  std::string bytes = std::move(magic);
  const auto put = [&bytes](auto value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  put(version);
  put(type);
  put(length);
  put(fds);
  put(std::uint64_t{7});
  return bytes;
}

class HostileClientsTest : public SupervisorTest {
 protected:
  // Sends bytes and expects an error and then the end of the connection.
  void expect_refused(const std::string& bytes, const std::string& reason) {
    RawClient client(config.daemon.socket);
    ASSERT_TRUE(client.connected());
    client.send_bytes(bytes);
    const auto error = next_error(client);
    ASSERT_TRUE(error) << reason;
    EXPECT_NE(error->message().find(reason), std::string::npos) << error->message();
    expect_closed(client);
    expect_alive();
  }
  void expect_closed(RawClient& client) {
    for (int i = 0; i < 10 && client.receive(); ++i) settle();
    EXPECT_TRUE(client.closed());
  }
  void expect_alive() {
    RawClient client(config.daemon.socket);
    EXPECT_TRUE(status(client));
  }
};

TEST_F(HostileClientsTest, AStrangersProtocolIsToldApart) {
  start();
  expect_refused("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "CZKF");
  expect_refused(header("CZKG", 1, 15, 0, 0), "CZKF");
  expect_refused(header("CZKF", 2, 15, 0, 0), "version 2");
  expect_refused(header("CZKF", 1, 999, 0, 0), "type 999");
  expect_refused(header("CZKF", 1, 15, UINT32_MAX, 0), "4294967295");
  expect_refused(header("CZKF", 1, 15, 1, UINT32_MAX), "4294967295");
  expect_refused(header("CZKF", 1, 15, 0, 3), "3 file descriptors are announced");
}

TEST_F(HostileClientsTest, RandomBytesNeverHurt) {
  start();
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    RawClient client(config.daemon.socket);
    std::string bytes = i % 2 == 0
                            ? ""
                            : header("CZKF", 1, static_cast<std::uint16_t>(10 + random() % 9),
                                     static_cast<std::uint32_t>(random() % 200), 0);
    for (std::size_t n = random() % 300; n > 0; --n) bytes += static_cast<char>(random());
    client.send_bytes(bytes);
    settle();
    client.receive();
  }
  settle();
  expect_alive();
}

TEST_F(HostileClientsTest, AMalformedBodyIsAnsweredAndTheConnectionGoesOn) {
  start();
  RawClient client(config.daemon.socket);
  for (const auto type :
       {MessageType::kSubmit, MessageType::kAwait, MessageType::kCancel, MessageType::kJobs,
        MessageType::kCircuitAdd, MessageType::kCircuitRemove}) {
    client.send_bytes(*encode_frame(type, 9, std::string_view("\x01garbage")));
    const auto frame = next_frame(client);
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->type, MessageType::kError);
    EXPECT_EQ(frame->sequence, 9U);
  }
  client.send_bytes(*encode_frame(MessageType::kError, 9, std::string_view()));
  EXPECT_TRUE(next_error(client));
  EXPECT_TRUE(status(client));
}

TEST_F(HostileClientsTest, AFrameThatIsNotFinishedInTenSecondsEndsItsConnection) {
  start();
  RawClient client(config.daemon.socket);
  client.send_bytes("CZKF");
  settle();
  pass(std::chrono::milliseconds(9'900));
  EXPECT_TRUE(client.receive());
  pass(std::chrono::milliseconds(1'100));
  const auto error = next_error(client);
  ASSERT_TRUE(error);
  EXPECT_NE(error->what.find("not finished in time"), std::string::npos);
  expect_closed(client);
}

TEST_F(HostileClientsTest, DrippingBytesDoNotWinMoreTime) {
  start();
  RawClient client(config.daemon.socket);
  const std::string bytes = header("CZKF", 1, 15, 100, 0) + std::string(100, 'x');
  for (std::size_t i = 0; i < 12; ++i) {
    client.send_bytes(bytes.substr(i, 1));
    pass(std::chrono::seconds(1));
  }
  EXPECT_TRUE(next_error(client));
  expect_closed(client);
}

TEST_F(HostileClientsTest, ASlowFrameWithinItsTimeIsAnswered) {
  start();
  RawClient client(config.daemon.socket);
  const std::string bytes = *encode_frame(MessageType::kStatus, 1, StatusRequest{});
  for (const char byte : bytes) {
    client.send_bytes(std::string(1, byte));
    pass(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(reply_to<StatusReply>(client, MessageType::kStatus));
}

TEST_F(HostileClientsTest, AnIdleConnectionMayStay) {
  start();
  RawClient client(config.daemon.socket);
  settle();
  pass(std::chrono::hours(24));
  EXPECT_TRUE(status(client));
}

TEST_F(HostileClientsTest, AClientThatOnlyStopsSendingGetsItsAnswer) {
  std::vector<std::pair<FakeWorker*, shm::Command>> held;
  workers.intercept = [&](FakeWorker& worker, const shm::Command& command) {
    if (command.kind != CommandKind::kProve) return false;
    held.emplace_back(&worker, command);
    return true;
  };
  start();
  RawClient client(config.daemon.socket);
  ASSERT_TRUE(submit(client, submission("half")));
  client.send(MessageType::kAwait, AwaitRequest{"half", 0, false});
  client.stop_sending();
  settle();
  pass(std::chrono::seconds(60));
  workers.answer(*held.at(0).first, held.at(0).second);
  const auto report = reply_to<JobReport>(client, MessageType::kAwait);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->state, JobState::kDone);
  expect_closed(client);
}

TEST_F(HostileClientsTest, AClientThatVanishesCancelsNothingAccepted) {
  std::vector<std::pair<FakeWorker*, shm::Command>> held;
  workers.intercept = [&](FakeWorker& worker, const shm::Command& command) {
    if (command.kind != CommandKind::kProve) return false;
    held.emplace_back(&worker, command);
    return true;
  };
  start();
  {
    RawClient client(config.daemon.socket);
    ASSERT_TRUE(submit(client, submission("mine")));
    client.send(MessageType::kAwait, AwaitRequest{"mine", 0, true});
    settle();
  }
  settle();
  pass(std::chrono::seconds(2));
  workers.answer(*held.at(0).first, held.at(0).second);
  settle();
  RawClient later(config.daemon.socket);
  EXPECT_EQ(await(later, "mine")->state, JobState::kDone);
}

TEST_F(HostileClientsTest, AClientThatVanishesBeforeAcceptanceLeavesNothing) {
  std::vector<std::pair<FakeWorker*, shm::Command>> held;
  workers.intercept = [&](FakeWorker& worker, const shm::Command& command) {
    if (command.kind != CommandKind::kPrepareKey) return false;
    held.emplace_back(&worker, command);
    return true;
  };
  start();
  {
    RawClient client(config.daemon.socket);
    const UniqueFd key = file("k.zkey", "a key");
    client.send(MessageType::kSubmit, submission(), 1, {key.get()});
    settle();
  }
  settle();
  workers.answer(*held.at(0).first, held.at(0).second);
  settle();
  RawClient later(config.daemon.socket);
  later.send(MessageType::kJobs, JobsRequest{});
  EXPECT_TRUE(reply_to<JobsReply>(later, MessageType::kJobs)->jobs.empty());
}

TEST_F(HostileClientsTest, AClientThatDoesNotReadIsLetGo) {
  start();
  RawClient client(config.daemon.socket);
  // Replies pile up until the socket's buffer is full and then here, up to the limit.
  for (int i = 0; i < 20'000 && client.connected(); ++i) {
    const auto frame = *encode_frame(MessageType::kStatus, 1, StatusRequest{});
    if (client.send_bytes(frame) != frame.size()) break;
    if (i % 50 == 0) settle();
  }
  settle();
  pass(std::chrono::seconds(31));
  expect_closed(client);
  expect_alive();
}

TEST_F(HostileClientsTest, ARequestThatIsTooLargeIsRefusedBeforeItIsComplete) {
  start();
  RawClient client(config.daemon.socket);
  client.send_bytes(header("CZKF", 1, 11, 4U << 20, 0));
  const std::string piece(64 << 10, 'x');
  for (int i = 0; i < 64 && client.receive(); ++i) {
    client.send_bytes(piece);
    settle();
  }
  const auto error = next_error(client);
  ASSERT_TRUE(error);
  EXPECT_NE(error->hint.find("attach"), std::string::npos);
  expect_closed(client);
}

TEST_F(HostileClientsTest, ManyRequestsAtOnceAreAnsweredInPieces) {
  start();
  RawClient client(config.daemon.socket);
  const auto frame = *encode_frame(MessageType::kVersion, 1, VersionRequest{});
  std::string many;
  for (int i = 0; i < 500; ++i) many += frame;
  ASSERT_EQ(client.send_bytes(many), many.size());
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(next_frame(client)) << i;
}

TEST_F(HostileClientsTest, AwaitsBeyondTheLimitWaitAndAreNotLost) {
  std::vector<std::pair<FakeWorker*, shm::Command>> held;
  workers.intercept = [&](FakeWorker& worker, const shm::Command& command) {
    if (command.kind != CommandKind::kProve) return false;
    held.emplace_back(&worker, command);
    return true;
  };
  start();
  RawClient client(config.daemon.socket);
  ASSERT_TRUE(submit(client, submission("many")));
  for (std::uint64_t i = 0; i < 200; ++i) {
    client.send(MessageType::kAwait, AwaitRequest{"many", 0, false}, i);
  }
  settle();
  workers.answer(*held.at(0).first, held.at(0).second);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(reply_to<JobReport>(client, MessageType::kAwait)) << i;
}

TEST_F(HostileClientsTest, DescriptorsThatAreNoFilesAreRefused) {
  start();
  int pipe_fds[2];
  ASSERT_EQ(::pipe2(pipe_fds, O_CLOEXEC), 0);
  const UniqueFd reader(pipe_fds[0]);
  const UniqueFd writer(pipe_fds[1]);
  const UniqueFd folder_fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const UniqueFd device(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const UniqueFd write_only(
      ::open((folder.path() / "w").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const UniqueFd path_only(::open((folder.path() / "w").c_str(), O_PATH | O_CLOEXEC));
  const UniqueFd memfd(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  RawClient client(config.daemon.socket);
  for (const int fd : {reader.get(), writer.get(), folder_fd.get(), device.get(), write_only.get(),
                       path_only.get(), memfd.get(), client.fd()}) {
    client.send(MessageType::kSubmit, submission(), 1, {fd});
    const auto error = next_error(client);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->error_class, ErrorClass::kBadRequest) << error->message();
  }
  EXPECT_EQ(workers.commands[CommandKind::kPrepareKey], 0);
}

TEST_F(HostileClientsTest, DescriptorsNobodyAskedForDoNotPileUp) {
  start();
  const auto open_fds = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  settle();
  const auto before = open_fds();
  {
    std::vector<std::unique_ptr<RawClient>> clients;
    const UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    for (int i = 0; i < 20; ++i) {
      clients.push_back(std::make_unique<RawClient>(config.daemon.socket));
      for (int n = 0; n < 50; ++n) clients.back()->send_bytes("C", std::vector<int>(5, fd.get()));
    }
    settle();
    // The client's own sockets, the sessions' and nothing more than a frame may have for each.
    EXPECT_LE(open_fds(), before + 1 + 20 * (2 + 5));
  }
  settle();
  pass(std::chrono::seconds(1));
  EXPECT_EQ(open_fds(), before);
}

TEST_F(HostileClientsTest, AThousandConnectionsAreServed) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < 2500) GTEST_SKIP() << "the hard limit on open files is " << limit.rlim_max;
  start();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 1000; ++i) {
    clients.push_back(std::make_unique<RawClient>(config.daemon.socket));
    ASSERT_TRUE(clients.back()->connected()) << i;
    if (i % 100 == 99) settle();
  }
  for (auto& client : clients) client->send(MessageType::kVersion, VersionRequest{});
  int answered = 0;
  for (auto& client : clients) answered += static_cast<int>(next_frame(*client).has_value());
  EXPECT_EQ(answered, 1000);
}

TEST_F(HostileClientsTest, ConnectionsBeyondTheLimitAreToldSo) {
  config.daemon.max_connections = 3;
  start();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(std::make_unique<RawClient>(config.daemon.socket));
  settle();
  RawClient extra(config.daemon.socket);
  settle();
  const auto error = next_error(extra);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, ErrorClass::kBusy);
  expect_closed(extra);
  clients.pop_back();
  settle();
  RawClient next(config.daemon.socket);
  EXPECT_TRUE(status(next));
}

TEST_F(HostileClientsTest, AFileThatShrinksBetweenFstatAndReadHarmsNobody) {
  start();
  RawClient client(config.daemon.socket);
  const UniqueFd key = file("k.zkey", "a key");
  const UniqueFd input = file("w.wtns", "witness");
  auto request = submission();
  request.input_inline.clear();
  request.input_attached = true;
  workers.intercept = [&](FakeWorker&, const shm::Command& command) {
    // The key is being prepared: the input was looked at and not yet read.
    if (command.kind == CommandKind::kPrepareKey) {
      EXPECT_EQ(::truncate((folder.path() / "w.wtns").c_str(), 3), 0);
    }
    return false;
  };
  client.send(MessageType::kSubmit, request, 1, {key.get(), input.get()});
  // A shorter input is the worker's to judge; here it is read again through the spool.
  EXPECT_TRUE(reply_to<SubmitReply>(client, MessageType::kSubmit));
  EXPECT_EQ(workers.commands[CommandKind::kSpoolInput], 1);
  expect_alive();
}

}  // namespace
}  // namespace cuzk::supervisor
