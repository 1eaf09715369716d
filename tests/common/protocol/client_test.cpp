// The blocking client against daemons that answer, wait, lie and go.
#include "common/protocol/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <fcntl.h>

#include "tests/support/fake_server.hpp"

namespace cuzk {
namespace {

using std::chrono::milliseconds;
using test::FakeConnection;
using test::FakeServer;
using testing::ElementsAre;
using testing::HasSubstr;

Client connected(const FakeServer& server) {
  auto client = Client::connect(server.socket());
  EXPECT_TRUE(client.ok()) << (client.ok() ? "" : client.error().message());
  return *std::move(client);
}

Result<VersionReply> ask(Client& client, const CallOptions& options = {}) {
  return client.call<VersionReply>(MessageType::kVersion, VersionRequest{}, {}, options);
}

// The error that a client gets whose daemon does `behaviour` after the request.
Error error_from(const std::function<void(FakeConnection&)>& behaviour,
                 const CallOptions& options = {}) {
  FakeServer server([&](FakeConnection& connection) {
    if (connection.next<Empty>(MessageType::kVersion)) behaviour(connection);
  });
  Client client = connected(server);
  const auto reply = ask(client, options);
  EXPECT_FALSE(reply.ok());
  return reply.ok() ? Error{} : reply.error();
}

TEST(Client, AsksAndIsAnsweredManyTimesOnOneConnection) {
  FakeServer server([](FakeConnection& connection) {
    std::uint32_t pid = 0;
    while (connection.next<Empty>(MessageType::kVersion)) {
      connection.send(MessageType::kVersion, VersionReply{"1.2.3", "abc", 1, ++pid});
    }
  });
  Client client = connected(server);
  for (std::uint32_t i = 1; i <= 3; ++i) {
    const auto reply = ask(client);
    ASSERT_TRUE(reply.ok()) << reply.error().message();
    EXPECT_EQ(reply->version, "1.2.3");
    EXPECT_EQ(reply->pid, i);
  }
}

TEST(Client, HandsDescriptorsOverAndKeepsItsOwn) {
  std::optional<ino_t> seen;
  FakeServer server([&](FakeConnection& connection) {
    Frame frame;
    if (!connection.next<SubmitRequest>(MessageType::kSubmit, &frame)) return;
    struct stat info {};
    if (frame.fds.size() == 1 && ::fstat(frame.fds[0].get(), &info) == 0) seen = info.st_ino;
    connection.send(MessageType::kSubmit, SubmitReply{JobId{5}, JobState::kAccepted, false});
  });
  const UniqueFd file(::open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  struct stat mine {};
  ASSERT_EQ(::fstat(file.get(), &mine), 0);
  Client client = connected(server);
  SubmitRequest request;
  request.key_attached = true;
  const int fds[] = {file.get()};
  const auto reply = client.call<SubmitReply>(MessageType::kSubmit, request, fds);
  ASSERT_TRUE(reply.ok()) << reply.error().message();
  EXPECT_EQ(reply->job.value, 5u);
  EXPECT_EQ(seen, mine.st_ino);
  EXPECT_GE(::fcntl(file.get(), F_GETFD), 0);
}

TEST(Client, SendsALargeRequestToASlowReader) {
  std::size_t length = 0;
  FakeServer server([&](FakeConnection& connection) {
    const auto request = connection.next<SubmitRequest>(MessageType::kSubmit);
    if (request) length = request->input_inline.size();
    connection.send(MessageType::kSubmit, SubmitReply{});
  });
  Client client = connected(server);
  SubmitRequest request;
  request.input_inline = std::string(3 << 20, 'x');
  ASSERT_TRUE(client.call<SubmitReply>(MessageType::kSubmit, request).ok());
  EXPECT_EQ(length, std::size_t{3} << 20);
}

TEST(Client, TellsProgressBeforeTheAnswer) {
  FakeServer server([](FakeConnection& connection) {
    if (!connection.next<Empty>(MessageType::kVersion)) return;
    connection.progress("preparing key", 100);
    connection.progress("preparing key", 900);
    connection.send(MessageType::kVersion, VersionReply{});
  });
  Client client = connected(server);
  std::vector<std::uint32_t> seen;
  CallOptions options;
  options.on_progress = [&](const ProgressEvent& event) { seen.push_back(event.permille); };
  ASSERT_TRUE(ask(client, options).ok());
  EXPECT_THAT(seen, ElementsAre(100u, 900u));
}

TEST(Client, GivesTheDaemonsErrorBackAndGoesOn) {
  FakeServer server([](FakeConnection& connection) {
    if (!connection.next<Empty>(MessageType::kVersion)) return;
    connection.error({ErrorClass::kBusy, "the queue is full", "queue", "later"});
    if (!connection.next<Empty>(MessageType::kVersion)) return;
    connection.send(MessageType::kVersion, VersionReply{});
  });
  Client client = connected(server);
  const auto refused = ask(client);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().error_class, ErrorClass::kBusy);
  EXPECT_EQ(refused.error().message(), "queue: the queue is full (later)");
  EXPECT_TRUE(ask(client).ok());
}

TEST(Client, TakesAnErrorOfTheConnectionAsItsAnswer) {
  const Error error = error_from([](FakeConnection& connection) {
    connection.send(MessageType::kError, bad_request("the frame is too long"), 0);
  });
  EXPECT_EQ(error.what, "the frame is too long");
}

TEST(Client, WithoutADaemonSaysWhatToDo) {
  const auto missing = Client::connect("/nonexistent/cuzk.sock");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().error_class, ErrorClass::kUnavailable);
  EXPECT_THAT(missing.error().message(), HasSubstr("start cuzk-supervisor"));

  std::filesystem::path dead;
  {
    FakeServer server([](FakeConnection&) {});
    dead = server.socket();
    std::filesystem::copy_file("/etc/passwd", server.folder() / "file");
    EXPECT_EQ(Client::connect(server.folder() / "file").error().error_class,
              ErrorClass::kUnavailable);
  }
  EXPECT_EQ(Client::connect(dead).error().error_class, ErrorClass::kUnavailable);
  EXPECT_EQ(Client::connect(std::string(200, 'x')).error().error_class, ErrorClass::kBadRequest);
}

TEST(Client, IsBusyWhenTheDaemonDoesNotAnswerInTime) {
  CallOptions options;
  options.timeout = milliseconds(30);
  const Error error = error_from([](FakeConnection& connection) { connection.hold(); }, options);
  EXPECT_EQ(error.error_class, ErrorClass::kBusy);
  EXPECT_THAT(error.message(), HasSubstr("no answer within 0.03 s"));
}

TEST(Client, ProgressDoesNotPutTheTimeOutOff) {
  CallOptions options;
  options.timeout = milliseconds(50);
  options.on_progress = [](const ProgressEvent&) {};
  const Error error = error_from(
      [](FakeConnection& connection) {
        for (std::uint32_t i = 0; i < 200; ++i) {
          connection.progress("proving", i);
          pollfd none{-1, 0, 0};
          ::poll(&none, 1, 1);
        }
        connection.hold();
      },
      options);
  EXPECT_EQ(error.error_class, ErrorClass::kBusy);
}

TEST(Client, CanBeInterrupted) {
  const UniqueFd interrupt(::eventfd(1, EFD_CLOEXEC));
  CallOptions options;
  options.interrupt_fd = interrupt.get();
  const Error error = error_from([](FakeConnection& connection) { connection.hold(); }, options);
  EXPECT_EQ(error.error_class, ErrorClass::kOperator);
}

TEST(Client, SeesADaemonThatGoesBeforeOrWithinItsAnswer) {
  EXPECT_EQ(error_from([](FakeConnection&) {}).error_class, ErrorClass::kUnavailable);
  const auto half = [](FakeConnection& connection) {
    const std::string bytes = *encode_frame(MessageType::kVersion, 1, VersionReply{"1", "2", 1, 3});
    connection.raw(std::string_view(bytes).substr(0, bytes.size() - 1));
  };
  const Error error = error_from(half);
  EXPECT_EQ(error.error_class, ErrorClass::kUnavailable);
  EXPECT_THAT(error.message(), HasSubstr("the daemon closed the connection"));
}

TEST(Client, AfterADaemonIsGoneEveryCallSaysSo) {
  FakeServer server([](FakeConnection& connection) { connection.next(); });
  Client client = connected(server);
  EXPECT_FALSE(ask(client).ok());
  const auto again = ask(client);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().error_class, ErrorClass::kUnavailable);
}

TEST(Client, RefusesAnswersThatMakeNoSense) {
  const Error stranger =
      error_from([](FakeConnection& c) { c.raw("HTTP/1.1 400 Bad Request\r\n\r\n"); });
  EXPECT_EQ(stranger.error_class, ErrorClass::kUnavailable);
  EXPECT_THAT(stranger.message(), HasSubstr("starts with \"HTTP\""));
  const std::function<void(FakeConnection&)> lies[] = {
      [](FakeConnection& c) { c.send(MessageType::kVersion, VersionReply{}, 77); },
      [](FakeConnection& c) { c.send(MessageType::kJobs, JobsReply{}); },
      [](FakeConnection& c) {
        c.raw(*encode_frame(MessageType::kVersion, 1, std::string_view("rubbish")));
      },
      [](FakeConnection& c) {
        c.raw(*encode_frame(MessageType::kProgress, 1, std::string_view("rubbish")));
      },
      [](FakeConnection& c) {
        c.raw(*encode_frame(MessageType::kError, 1, std::string_view("rubbish")));
      },
  };
  for (const auto& lie : lies) {
    const Error error = error_from(lie);
    EXPECT_EQ(error.error_class, ErrorClass::kBug) << error.message();
  }
}

}  // namespace
}  // namespace cuzk
