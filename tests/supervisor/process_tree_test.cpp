// The process tree with real processes: start, talk, die, start again, stop.

#include "supervisor/process/process_tree.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <functional>

#include <fcntl.h>

namespace cuzk::supervisor {
namespace {

using std::chrono::milliseconds;

class ProcessTreeTest : public ::testing::Test, public WorkerListener {
 public:
  void worker_ready(const WorkerProcess&) override { ++ready; }
  Status worker_event(const WorkerProcess&, shm::Event event) override {
    if (event.kind != EventKind::kProgress) events.push_back(std::move(event));
    return {};
  }
  void worker_stopping(const WorkerProcess&) override { ++stopping; }
  void worker_died(const WorkerProcess&, WorkerLife life, const Error& death) override {
    deaths.emplace_back(life, death.what);
  }

 protected:
  void add(const std::string& device = {}) {
    WorkerSpec spec;
    spec.role = WorkerRole::kSynth;
    spec.program = CUZK_TEST_WORKER;
    spec.options.name = "worker" + std::to_string(tree.workers().size());
    spec.options.device = device.empty() ? "none" : device;
    tree.add(spec);
  }
  // Turns the loop until the condition holds; fails after half a minute.
  void until(const std::function<bool()>& condition) {
    const auto deadline = clock.now() + std::chrono::seconds(30);
    while (!condition()) {
      ASSERT_LT(clock.now(), deadline) << "waited in vain";
      loop.restart();  // between two lives nothing is watched, and the loop stops
      loop.run_one_for(milliseconds(20));
      tree.tick();
    }
  }
  void send(const std::string& body, std::vector<LabelledFd> fds = {}) {
    Command command;
    command.body = body;
    command.fds = std::move(fds);
    ASSERT_TRUE(tree.send(tree.workers().at(0)->life(), TaskId{++last_task}, CommandKind::kVerify,
                          std::move(command)));
  }

  SystemClock clock;
  ForkLauncher launcher;
  boost::asio::io_context loop{1};
  ProcessTree tree{{RestartSettings{milliseconds(10), milliseconds(40), std::chrono::seconds(60)},
                    std::chrono::seconds(60), std::chrono::seconds(10)},
                   loop,
                   clock,
                   launcher,
                   *this};
  std::uint64_t last_task = 0;
  int ready = 0;
  int stopping = 0;
  std::vector<shm::Event> events;
  std::vector<std::pair<WorkerLife, std::string>> deaths;
};

TEST_F(ProcessTreeTest, AWorkerBecomesReadyAndAnswers) {
  add();
  until([this] { return ready == 1; });
  EXPECT_EQ(tree.workers()[0]->state(), WorkerState::kReady);
  send("hello");
  until([this] { return events.size() == 1; });
  EXPECT_EQ(events[0].kind, EventKind::kDone);
  EXPECT_EQ(events[0].task, TaskId{1});
  EXPECT_EQ(events[0].body, "hello");
}

TEST_F(ProcessTreeTest, FilesReachTheTaskTheyBelongTo) {
  add();
  until([this] { return ready == 1; });
  std::vector<LabelledFd> fds;
  fds.push_back({FdRole::kSource, UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC))});
  send("one", std::move(fds));
  send("two");
  until([this] { return events.size() == 2; });
  EXPECT_EQ(events[0].body, "one with a file");
  EXPECT_EQ(events[1].body, "two");
}

TEST_F(ProcessTreeTest, ACrashIsNoticedNamedAndRepaired) {
  add();
  until([this] { return ready == 1; });
  send("die");
  until([this] { return ready == 2; });
  ASSERT_EQ(deaths.size(), 1U);
  EXPECT_EQ(deaths[0].first, (WorkerLife{WorkerIndex{0}, Epoch{1}}));
  EXPECT_NE(deaths[0].second.find("signal 11"), std::string::npos) << deaths[0].second;
  EXPECT_EQ(tree.workers()[0]->life().epoch, Epoch{2});
  EXPECT_EQ(tree.workers()[0]->restarts(), 1U);
  send("again");
  until([this] { return events.size() == 1; });
}

TEST_F(ProcessTreeTest, WhatADeadLifeIsSentIsRefused) {
  add();
  until([this] { return ready == 1; });
  const WorkerLife first = tree.workers()[0]->life();
  tree.kill(first, "a test");
  until([this] { return ready == 2; });
  EXPECT_NE(deaths.at(0).second.find("a test"), std::string::npos);
  EXPECT_FALSE(tree.send(first, TaskId{9}, CommandKind::kVerify, {}));
}

TEST_F(ProcessTreeTest, AWorkerThatCannotStartIsTriedAgainAndAgain) {
  add("fail");
  until([this] { return deaths.size() == 4; });
  EXPECT_EQ(ready, 0);
  EXPECT_EQ(deaths.back().second, "exit code 7");
}

TEST_F(ProcessTreeTest, ACancelReachesTheRunningTask) {
  add();
  until([this] { return ready == 1; });
  send("hang");
  tree.cancel(tree.workers()[0]->life(), TaskId{1});
  until([this] { return events.size() == 1; });
  EXPECT_EQ(events[0].kind, EventKind::kFailed);
  EXPECT_EQ(events[0].failure().error_class, ErrorClass::kOperator);
}

TEST_F(ProcessTreeTest, ShutdownIsPoliteAndFinal) {
  add();
  add();
  until([this] { return ready == 2; });
  tree.shut_down();
  EXPECT_EQ(stopping, 2);
  until([this] { return tree.all_stopped(); });
  ASSERT_EQ(deaths.size(), 2U);
  for (const auto& [life, text] : deaths) EXPECT_EQ(text, "exit code 0");
  tree.tick();
  EXPECT_EQ(ready, 2);
}

TEST_F(ProcessTreeTest, KillAllEndsEverybodyAtOnce) {
  add("silent");
  add();
  until([this] { return ready == 1; });
  tree.shut_down();
  tree.kill_all("a second signal");
  until([this] { return tree.all_stopped(); });
}

}  // namespace
}  // namespace cuzk::supervisor
