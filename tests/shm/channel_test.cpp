// Both sides of a channel in one process: what the supervisor sends, what it gets, what it refuses.
#include "shm/channel.hpp"

#include <random>

#include <poll.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "shm/endpoint.hpp"

namespace cuzk::shm {
namespace {

bool readable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, 0) == 1;
}

class ChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    auto channel = WorkerChannel::create(WorkerIndex{6}, Epoch{2});
    ASSERT_TRUE(channel) << channel.error().message();
    channel_.emplace(*std::move(channel));
    std::array<UniqueFd, 4> fds;
    for (std::size_t i = 0; i < 4; ++i) fds[i] = UniqueFd(::dup(channel_->child_fds()[i]));
    auto region = fds[1].duplicate();
    ASSERT_TRUE(region);
    auto mapping = Mapping::map(*region, Mapping::Access::kReadWrite, 0, kRegionBytes);
    ASSERT_TRUE(mapping);
    mapping_ = *std::move(mapping);
    auto endpoint = WorkerEndpoint::attach(std::move(fds[0]), std::move(fds[1]), std::move(fds[2]),
                                           std::move(fds[3]));
    ASSERT_TRUE(endpoint) << endpoint.error().message();
    endpoint_.emplace(*std::move(endpoint));
    channel_->close_child_side();
  }
  // The memory as a wild worker has it.
  Region& region() { return *reinterpret_cast<Region*>(mapping_.data()); }

  std::optional<WorkerChannel> channel_;
  std::optional<WorkerEndpoint> endpoint_;
  Mapping mapping_;
};

TEST_F(ChannelTest, TheWorkerLearnsWhoItIs) {
  EXPECT_EQ(endpoint_->worker(), WorkerIndex{6});
  EXPECT_EQ(endpoint_->epoch(), Epoch{2});
  EXPECT_EQ(endpoint_->supervisor_pid(), ::getpid());
}

TEST_F(ChannelTest, ACommandArrivesWithItsWakeItsBodyAndItsDescriptors) {
  auto memfd = create_memfd("file", kPageBytes);
  ASSERT_TRUE(memfd);
  const LabelledFd fd{memfd->get(), FdRole::kSource};
  const SlotWord word{SlotState::kLeased, WorkerIndex{6}, Epoch{2}, Generation{9}};
  EXPECT_FALSE(readable(endpoint_->command_fd()));
  ASSERT_TRUE(channel_->push(CommandKind::kWipeSlot, TaskId{5}, SlotIndex{3}, word,
                             WipeSlotCommand{1234}, {&fd, 1}));
  EXPECT_TRUE(readable(endpoint_->command_fd()));
  endpoint_->clear_wake();
  auto command = endpoint_->pop_command();
  ASSERT_TRUE(command && *command);
  EXPECT_EQ((*command)->kind, CommandKind::kWipeSlot);
  EXPECT_EQ((*command)->task, TaskId{5});
  EXPECT_EQ((*command)->slot, SlotIndex{3});
  EXPECT_EQ((*command)->slot_word, word);
  auto message = (*command)->as<WipeSlotCommand>();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->payload_bytes, 1234u);
  EXPECT_FALSE((*command)->as<ProveCommand>());
  auto received = endpoint_->control().receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->task, TaskId{5});
  EXPECT_EQ(received->fds.size(), 1u);
}

TEST_F(ChannelTest, AFullCommandRingIsBusyAndSendsNoDescriptors) {
  auto memfd = create_memfd("file", kPageBytes);
  const LabelledFd fd{memfd->get(), FdRole::kSource};
  for (std::size_t i = 0; i < kRingEntries; ++i) {
    ASSERT_TRUE(channel_->push(CommandKind::kWipeSlot, TaskId{i + 1}, WipeSlotCommand{1}));
  }
  const Status full =
      channel_->push(CommandKind::kWipeSlot, TaskId{99}, WipeSlotCommand{1}, {&fd, 1});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().error_class, ErrorClass::kBusy);
  auto received = endpoint_->control().receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->state, ReceivedFds::State::kEmpty);
  ASSERT_TRUE(endpoint_->pop_command());
  EXPECT_TRUE(channel_->push(CommandKind::kWipeSlot, TaskId{99}, WipeSlotCommand{1}, {&fd, 1}));
}

TEST_F(ChannelTest, EventsArriveWithTheirWakeAndTheirBody) {
  ASSERT_TRUE(endpoint_->push_event(EventKind::kReady, TaskId{0}, {}));
  ASSERT_TRUE(endpoint_->push_event(EventKind::kDone, TaskId{8}, encode(SpoolInfo{77})));
  ASSERT_TRUE(endpoint_->push_event(EventKind::kFailed, TaskId{9}, encode(bad_request("x", "y", "z"))));
  EXPECT_TRUE(readable(channel_->event_fd()));
  channel_->clear_wake();
  auto event = channel_->pop_event();
  ASSERT_TRUE(event && *event);
  EXPECT_EQ((*event)->kind, EventKind::kReady);
  event = channel_->pop_event();
  ASSERT_TRUE(event && *event);
  EXPECT_EQ((*event)->task, TaskId{8});
  auto info = (*event)->as<SpoolInfo>();
  ASSERT_TRUE(info);
  EXPECT_EQ(info->bytes, 77u);
  event = channel_->pop_event();
  ASSERT_TRUE(event && *event);
  const Error error = (*event)->failure();
  EXPECT_EQ(error.error_class, ErrorClass::kBadRequest);
  EXPECT_EQ(error.message(), "y: x (z)");
  event = channel_->pop_event();
  ASSERT_TRUE(event);
  EXPECT_FALSE(*event);
}

TEST_F(ChannelTest, ProgressIsDroppedWhileThereIsStillRoomForAnswers) {
  Status pushed;
  std::size_t taken = 0;
  while ((pushed = endpoint_->push_event(EventKind::kProgress, TaskId{1}, {}))) ++taken;
  EXPECT_EQ(pushed.error().error_class, ErrorClass::kBusy);
  EXPECT_LT(taken, kRingEntries);
  for (std::size_t i = taken; i < kRingEntries; ++i) {
    ASSERT_TRUE(endpoint_->push_event(EventKind::kDone, TaskId{1}, {}));
  }
  pushed = endpoint_->push_event(EventKind::kDone, TaskId{1}, {});
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().error_class, ErrorClass::kBusy);
}

TEST_F(ChannelTest, CancellingReachesTheWorkerAndLaterCancelsDoNotHideIt) {
  EXPECT_FALSE(endpoint_->cancelled(TaskId{0})) << "an idle worker is not cancelled";
  channel_->cancel(TaskId{11});
  channel_->cancel(TaskId{12});
  EXPECT_TRUE(endpoint_->cancelled(TaskId{11}));
  EXPECT_TRUE(endpoint_->cancelled(TaskId{12}));
  EXPECT_FALSE(endpoint_->cancelled(TaskId{13}));
  EXPECT_FALSE(endpoint_->cancelled(TaskId{0}));
}

TEST_F(ChannelTest, TheWatchDogSeesMarksWithoutAMessage) {
  endpoint_->set_task(TaskId{4});
  endpoint_->mark(TaskId{4}, "quotient", 500);
  EXPECT_EQ(channel_->progress(), 1u);
  EXPECT_EQ(channel_->current_task(), TaskId{4});
  const auto marks = channel_->marks();
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].step, "quotient");
}

TEST_F(ChannelTest, AWorkerThatIsGoneIsSeenOnTheControlSocket) {
  EXPECT_FALSE(readable(channel_->control_fd()));
  endpoint_.reset();
  EXPECT_TRUE(readable(channel_->control_fd()));
}

TEST_F(ChannelTest, AnEventOfUnknownKindIsAnErrorForEver) {
  for (std::uint16_t kind : {std::uint16_t{0}, std::uint16_t{5}, std::uint16_t{0xffff}}) {
    SetUp();
    ASSERT_TRUE(endpoint_->push_event(static_cast<EventKind>(kind), TaskId{1}, {}));
    ASSERT_TRUE(endpoint_->push_event(EventKind::kDone, TaskId{1}, {}));
    for (int again = 0; again < 3; ++again) {
      auto event = channel_->pop_event();
      ASSERT_FALSE(event);
      EXPECT_EQ(event.error().error_class, ErrorClass::kBug);
    }
  }
}

TEST_F(ChannelTest, AFailureWithDamagedBytesIsABugNotACrash) {
  std::string bytes = encode(bad_request("x"));
  const std::string good = bytes;
  for (std::size_t cut = 0; cut < good.size(); ++cut) {
    const Event event{EventKind::kFailed, TaskId{1}, good.substr(0, cut)};
    EXPECT_EQ(event.failure().error_class, ErrorClass::kBug);
  }
  bytes[1] = static_cast<char>(200);  // after the byte order: the class
  EXPECT_EQ((Event{EventKind::kFailed, TaskId{1}, bytes}.failure().error_class), ErrorClass::kBug);
  bytes[1] = 0;
  EXPECT_EQ((Event{EventKind::kFailed, TaskId{1}, bytes}.failure().error_class), ErrorClass::kBug);
}

TEST_F(ChannelTest, AWorkerThatBreaksItsCountersIsReportedByBothDirections) {
  region().commands.head.store(1000, std::memory_order_release);
  const Status pushed = channel_->push(CommandKind::kWipeSlot, TaskId{1}, WipeSlotCommand{1});
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().error_class, ErrorClass::kBug);
  EXPECT_NE(pushed.error().message().find("worker 6 epoch 2"), std::string::npos);
  region().events.tail.store(1000, std::memory_order_release);
  auto event = channel_->pop_event();
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().error_class, ErrorClass::kBug);
}

// The supervisor's view of a region that a wild worker scribbles over, all pages at once.
TEST_F(ChannelTest, AScribbledRegionNeverCrashesOrStallsTheSupervisor) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    ASSERT_NO_FATAL_FAILURE(SetUp());
    auto* words = reinterpret_cast<SharedWord*>(&region());
    for (int step = 0; step < 4; ++step) {
      for (std::size_t i = 0; i < sizeof(Region) / 8; ++i) {
        if (random() % 8 == 0) words[i].store(random() >> random() % 64, std::memory_order_relaxed);
      }
      if (random() % 2 == 0) region().events.tail.store(random() % 40, std::memory_order_relaxed);
      for (std::size_t i = 0;; ++i) {
        ASSERT_LE(i, kRingEntries);
        auto event = channel_->pop_event();
        if (!event || !*event) break;
        (void)(*event)->failure();
      }
      (void)channel_->push(CommandKind::kWipeSlot, TaskId{1}, WipeSlotCommand{1});
      channel_->cancel(TaskId{random()});
      (void)channel_->progress();
      EXPECT_LE(channel_->marks().size(), kMarks);
    }
  }
}

TEST(WorkerEndpoint, WhatNoSupervisorHandedOverIsRefused) {
  const auto attach = [](UniqueFd region) {
    auto control = create_eventfd();
    auto commands = create_eventfd();
    auto events = create_eventfd();
    return WorkerEndpoint::attach(*std::move(control), std::move(region), *std::move(commands),
                                  *std::move(events));
  };
  EXPECT_FALSE(attach(UniqueFd()));
  auto small = create_memfd("small", kPageBytes);
  EXPECT_FALSE(attach(*std::move(small)));
  auto blank = create_memfd("blank", kRegionBytes);
  auto endpoint = attach(*std::move(blank));
  ASSERT_FALSE(endpoint);
  EXPECT_EQ(endpoint.error().error_class, ErrorClass::kOperator);
}

}  // namespace
}  // namespace cuzk::shm
