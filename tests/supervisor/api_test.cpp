// Requests and replies over the real socket.

#include "tests/supervisor/supervisor_fixture.hpp"

namespace cuzk::supervisor {
namespace {

TEST_F(SupervisorTest, TellsItsVersion) {
  start();
  RawClient client(config.daemon.socket);
  client.send(MessageType::kVersion, VersionRequest{}, 42);
  const auto frame = next_frame(client);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->sequence, 42U);
  const auto version = decode<VersionReply>(frame->body);
  ASSERT_TRUE(version);
  EXPECT_EQ(version->pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(version->protocol, kProtocolVersion);
}

TEST_F(SupervisorTest, TheSocketIsForOwnerAndGroup) {
  start();
  struct stat found {};
  ASSERT_EQ(::stat(config.daemon.socket.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0660U);
  ASSERT_EQ(::stat(config.daemon.socket.parent_path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0750U);
}

TEST_F(SupervisorTest, ASubmittedJobIsDoneAndItsAnswerKept) {
  start();
  RawClient client(config.daemon.socket);
  const auto accepted = submit(client, submission());
  ASSERT_TRUE(accepted);
  EXPECT_FALSE(accepted->existed);
  for (int i = 0; i < 2; ++i) {
    const auto report = await(client, std::to_string(accepted->job.value));
    ASSERT_TRUE(report);
    EXPECT_EQ(report->state, JobState::kDone);
    EXPECT_EQ(report->circuit_name, "k.zkey");
    EXPECT_FALSE(report->proof.empty());
    EXPECT_EQ(report->publics, std::string(32, 'x'));
    EXPECT_EQ(report->device, "cpu");
    EXPECT_FALSE(report->stages.empty());
  }
}

TEST_F(SupervisorTest, TheSameRequestIdIsTheSameJob) {
  start();
  RawClient client(config.daemon.socket);
  const auto first = submit(client, submission("sealing-7"));
  const auto second = submit(client, submission("sealing-7"));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->job, second->job);
  EXPECT_TRUE(second->existed);
  const auto report = await(client, "sealing-7");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->request_id, "sealing-7");
  const auto third = submit(client, submission("sealing-7"));
  ASSERT_TRUE(third);
  EXPECT_EQ(third->state, JobState::kDone);
}

TEST_F(SupervisorTest, TheSameRequestIdWhileTheKeyIsPreparedIsTheSameJob) {
  std::vector<std::pair<FakeWorker*, shm::Command>> held;
  workers.intercept = [&](FakeWorker& worker, const shm::Command& command) {
    if (command.kind != CommandKind::kPrepareKey) return false;
    held.emplace_back(&worker, command);
    return true;
  };
  start();
  RawClient one(config.daemon.socket);
  RawClient two(config.daemon.socket);
  const UniqueFd key = file("k.zkey", "a key");
  one.send(MessageType::kSubmit, submission("same"), 1, {key.get()});
  two.send(MessageType::kSubmit, submission("same"), 1, {key.get()});
  settle();
  ASSERT_EQ(held.size(), 1U);
  workers.intercept = {};
  workers.answer(*held[0].first, held[0].second);
  const auto first = reply_to<SubmitReply>(one, MessageType::kSubmit);
  const auto second = reply_to<SubmitReply>(two, MessageType::kSubmit);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->job, second->job);
  EXPECT_FALSE(first->existed);
  EXPECT_TRUE(second->existed);
}

TEST_F(SupervisorTest, AKeyThatWasSeenIsNotReadAgain) {
  start();
  RawClient client(config.daemon.socket);
  ASSERT_TRUE(submit(client, submission()));
  ASSERT_EQ(workers.commands[CommandKind::kPrepareKey], 1);
  const UniqueFd key(::open((folder.path() / "k.zkey").c_str(), O_RDONLY | O_CLOEXEC));
  client.send(MessageType::kSubmit, submission(), 1, {key.get()});
  ASSERT_TRUE(reply_to<SubmitReply>(client, MessageType::kSubmit));
  EXPECT_EQ(workers.commands[CommandKind::kPrepareKey], 1);
}

TEST_F(SupervisorTest, AKeyWhosePreparedFileIsGoneIsPreparedAgain) {
  start();
  RawClient client(config.daemon.socket);
  ASSERT_TRUE(submit(client, submission()));
  settle();
  for (const auto& entry : std::filesystem::directory_iterator(state() / "keys")) {
    std::filesystem::remove(entry.path());
  }
  const UniqueFd key(::open((folder.path() / "k.zkey").c_str(), O_RDONLY | O_CLOEXEC));
  client.send(MessageType::kSubmit, submission(), 1, {key.get()});
  const auto accepted = reply_to<SubmitReply>(client, MessageType::kSubmit);
  ASSERT_TRUE(accepted);
  EXPECT_EQ(await(client, std::to_string(accepted->job.value))->state, JobState::kDone);
  EXPECT_EQ(workers.commands[CommandKind::kPrepareKey], 3);  // prepared, found missing, prepared
  EXPECT_EQ(workers.commands[CommandKind::kDropKey], 1);     // the device lets the old file go
}

TEST_F(SupervisorTest, ABadKeyIsRefusedAndLeavesNothing) {
  start();
  RawClient client(config.daemon.socket);
  const UniqueFd key = file("bad.zkey", "bad key");
  client.send(MessageType::kSubmit, submission(), 1, {key.get()});
  const auto error = next_error(client);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, ErrorClass::kBadRequest);
  EXPECT_EQ(error->what, "not a zkey");
  client.send(MessageType::kJobs, JobsRequest{});
  EXPECT_TRUE(reply_to<JobsReply>(client, MessageType::kJobs)->jobs.empty());
}

TEST_F(SupervisorTest, RequestsThatMakeNoSenseAreRefused) {
  start();
  RawClient client(config.daemon.socket);
  const UniqueFd key = file("k.zkey", "a key");
  const auto refused = [&](const SubmitRequest& request, std::vector<int> fds) {
    client.send(MessageType::kSubmit, request, 1, std::move(fds));
    const auto error = next_error(client);
    return error ? error->what : "no answer";
  };
  auto request = submission();
  request.request_id = std::string(200, 'x');
  EXPECT_NE(refused(request, {key.get()}).find("200 bytes"), std::string::npos);
  request.request_id = "17";
  EXPECT_NE(refused(request, {key.get()}).find("number"), std::string::npos);
  request.request_id = "a b";
  EXPECT_NE(refused(request, {key.get()}).find("printable"), std::string::npos);
  request = submission();
  request.priority = static_cast<Priority>(9);
  EXPECT_NE(refused(request, {key.get()}).find("priority"), std::string::npos);
  request = submission();
  request.circuit_name = "both";
  EXPECT_NE(refused(request, {key.get()}).find("either"), std::string::npos);
  request = submission();
  request.input_inline.clear();
  EXPECT_NE(refused(request, {key.get()}).find("empty"), std::string::npos);
  request = submission();
  request.input_kind = InputKind::kJson;
  EXPECT_NE(refused(request, {key.get()}).find("registered circuit"), std::string::npos);
  request = submission();
  request.key_attached = false;
  request.circuit_name = "unknown";
  EXPECT_NE(refused(request, {}).find("no circuit"), std::string::npos);
  EXPECT_NE(refused(submission(), {}).find("0 files"), std::string::npos);
  EXPECT_NE(refused(submission(), {key.get(), key.get()}).find("2 files"), std::string::npos);
}

TEST_F(SupervisorTest, AwaitingWhatNobodyKnowsIsABadRequest) {
  start();
  RawClient client(config.daemon.socket);
  for (const char* id : {"1", "nobody", "", "99999999999999999999999999", "-1"}) {
    client.send(MessageType::kAwait, AwaitRequest{id, 0, false});
    const auto error = next_error(client);
    ASSERT_TRUE(error) << id;
    EXPECT_EQ(error->error_class, ErrorClass::kBadRequest) << id;
  }
}

TEST_F(SupervisorTest, AnAwaitThatTakesTooLongSaysSoAndTheJobGoesOn) {
  std::vector<std::pair<FakeWorker*, shm::Command>> held;
  workers.intercept = [&](FakeWorker& worker, const shm::Command& command) {
    if (command.kind != CommandKind::kProve) return false;
    held.emplace_back(&worker, command);
    return true;
  };
  start();
  RawClient client(config.daemon.socket);
  const auto accepted = submit(client, submission("slow"));
  ASSERT_TRUE(accepted);
  client.send(MessageType::kAwait, AwaitRequest{"slow", 1500, false});
  settle();
  client.receive();
  EXPECT_TRUE(client.frames.empty());
  pass(std::chrono::milliseconds(1499));
  client.receive();
  EXPECT_TRUE(client.frames.empty());
  pass(std::chrono::milliseconds(1));
  const auto error = next_error(client);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, ErrorClass::kBusy);
  workers.answer(*held.at(0).first, held.at(0).second);
  EXPECT_EQ(await(client, "slow")->state, JobState::kDone);
}

TEST_F(SupervisorTest, ProgressComesBeforeTheReplyWhenItIsWanted) {
  workers.intercept = [&](FakeWorker& worker, const shm::Command& command) {
    if (command.kind == CommandKind::kPrepareKey) {
      worker.say(EventKind::kProgress, command.task, encode(TaskProgress{"points", 500}));
    }
    return false;
  };
  start();
  RawClient client(config.daemon.socket);
  auto request = submission();
  request.progress = true;
  const UniqueFd key = file("k.zkey", "a key");
  client.send(MessageType::kSubmit, request, 5, {key.get()});
  const auto first = next_frame(client, false);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->type, MessageType::kProgress);
  EXPECT_EQ(first->sequence, 5U);
  const auto event = decode<ProgressEvent>(first->body);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->stage, "preparing key");
  EXPECT_EQ(event->step, "points");
  EXPECT_EQ(event->permille, 500U);
  EXPECT_TRUE(reply_to<SubmitReply>(client, MessageType::kSubmit));
}

TEST_F(SupervisorTest, AFullQueueSaysBusy) {
  config.daemon.max_queue = 2;
  workers.intercept = [](FakeWorker&, const shm::Command& command) {
    return command.kind == CommandKind::kProve;
  };
  start();
  RawClient client(config.daemon.socket);
  ASSERT_TRUE(submit(client, submission()));
  ASSERT_TRUE(submit(client, submission("known")));
  const UniqueFd key = file("k.zkey", "a key");
  client.send(MessageType::kSubmit, submission(), 1, {key.get()});
  const auto error = next_error(client);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, ErrorClass::kBusy);
  // A job that is there already needs no room.
  EXPECT_TRUE(submit(client, submission("known")));
}

TEST_F(SupervisorTest, CancelWorksInEveryStateAndIsRemembered) {
  for (const auto kind : {CommandKind::kSynthesise, CommandKind::kProve, CommandKind::kVerify}) {
    std::vector<std::pair<FakeWorker*, shm::Command>> held;
    workers.intercept = [&, kind](FakeWorker& worker, const shm::Command& command) {
      if (command.kind != kind) return false;
      held.emplace_back(&worker, command);
      return true;
    };
    if (!supervisor) start();
    RawClient client(config.daemon.socket);
    const auto accepted = submit(client, submission());
    ASSERT_TRUE(accepted);
    settle();
    ASSERT_EQ(held.size(), 1U) << name_of(kind);
    const std::string id = std::to_string(accepted->job.value);
    client.send(MessageType::kCancel, CancelRequest{id});
    const auto cancelled = reply_to<CancelReply>(client, MessageType::kCancel);
    ASSERT_TRUE(cancelled);
    EXPECT_TRUE(cancelled->was_running);
    EXPECT_EQ(cancelled->state, JobState::kCancelled);
    EXPECT_EQ(await(client, id)->state, JobState::kCancelled);
    EXPECT_TRUE(held[0].first->endpoint().cancelled(held[0].second.task));
    held[0].first->failed(held[0].second.task, Error{ErrorClass::kOperator, "cancelled", {}, {}});
    settle();
    const auto now = status(client);
    ASSERT_TRUE(now);
    for (const auto& slot : now->slots) EXPECT_EQ(slot.state, "FREE") << name_of(kind);
  }
}

TEST_F(SupervisorTest, StatusShowsWorkersSlotsKeysAndCounts) {
  start();
  RawClient client(config.daemon.socket);
  const auto accepted = submit(client, submission());
  ASSERT_TRUE(accepted);
  ASSERT_TRUE(await(client, std::to_string(accepted->job.value)));
  const auto reply = status(client);
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->workers.size(), 3U);
  EXPECT_EQ(reply->workers[0].name, "synth0");
  EXPECT_EQ(reply->workers[2].name, "gpu0");
  EXPECT_EQ(reply->workers[2].device, "cpu");
  EXPECT_EQ(reply->workers[2].state, "ready");
  EXPECT_EQ(reply->workers[2].epoch, 1U);
  EXPECT_EQ(reply->slots.size(), 1U);
  EXPECT_EQ(reply->keys.size(), 1U);
  EXPECT_EQ(reply->jobs_done, 1U);
  EXPECT_EQ(reply->payload_bytes_copied, 0U);
  EXPECT_EQ(reply->state_folder, state().string());
}

TEST_F(SupervisorTest, CircuitsAreAddedListedUsedAndRemoved) {
  start();
  RawClient client(config.daemon.socket);
  const UniqueFd key = file("k.zkey", "a key");
  const UniqueFd wasm = file("c.wasm", "code");
  CircuitAddRequest request;
  request.name = "merkle20";
  request.key_name = "k.zkey";
  request.wasm_attached = true;
  client.send(MessageType::kCircuitAdd, request, 1, {key.get(), wasm.get()});
  const auto added = reply_to<CircuitInfo>(client, MessageType::kCircuitAdd);
  ASSERT_TRUE(added);
  EXPECT_TRUE(added->artefacts.has_wasm);
  client.send(MessageType::kCircuitAdd, request, 1, {key.get(), wasm.get()});
  EXPECT_NE(next_error(client)->what.find("exists"), std::string::npos);

  SubmitRequest job;
  job.circuit_name = "merkle20";
  job.input_kind = InputKind::kJson;
  job.input_inline = "{}";
  client.send(MessageType::kSubmit, job);
  const auto accepted = reply_to<SubmitReply>(client, MessageType::kSubmit);
  ASSERT_TRUE(accepted);
  EXPECT_EQ(await(client, std::to_string(accepted->job.value))->circuit_name, "merkle20");

  client.send(MessageType::kCircuitList, CircuitListRequest{});
  EXPECT_EQ(reply_to<CircuitListReply>(client, MessageType::kCircuitList)->circuits.size(), 1U);
  client.send(MessageType::kCircuitRemove, CircuitRemoveRequest{"merkle20"});
  ASSERT_TRUE(reply_to<CircuitInfo>(client, MessageType::kCircuitRemove));
  pass(std::chrono::seconds(1));
  EXPECT_TRUE(std::filesystem::is_empty(state() / "circuits"));
  client.send(MessageType::kCircuitRemove, CircuitRemoveRequest{"merkle20"});
  EXPECT_TRUE(next_error(client));
}

TEST_F(SupervisorTest, ARemovedCircuitsFolderStaysWhileAJobNeedsIt) {
  workers.intercept = [](FakeWorker&, const shm::Command& command) {
    return command.kind == CommandKind::kProve;
  };
  start();
  RawClient client(config.daemon.socket);
  const UniqueFd key = file("k.zkey", "a key");
  CircuitAddRequest request;
  request.name = "c";
  client.send(MessageType::kCircuitAdd, request, 1, {key.get()});
  ASSERT_TRUE(reply_to<CircuitInfo>(client, MessageType::kCircuitAdd));
  SubmitRequest job;
  job.circuit_name = "c";
  job.input_inline = "witness";
  client.send(MessageType::kSubmit, job);
  ASSERT_TRUE(reply_to<SubmitReply>(client, MessageType::kSubmit));
  client.send(MessageType::kCircuitRemove, CircuitRemoveRequest{"c"});
  ASSERT_TRUE(reply_to<CircuitInfo>(client, MessageType::kCircuitRemove));
  pass(std::chrono::seconds(1));
  EXPECT_FALSE(std::filesystem::is_empty(state() / "circuits"));
  client.send(MessageType::kCancel, CancelRequest{"1"});
  ASSERT_TRUE(reply_to<CancelReply>(client, MessageType::kCancel));
  pass(std::chrono::seconds(1));
  EXPECT_TRUE(std::filesystem::is_empty(state() / "circuits"));
}

TEST_F(SupervisorTest, CircuitNamesThatAreNoFileNamesAreRefused) {
  start();
  RawClient client(config.daemon.socket);
  const UniqueFd key = file("k.zkey", "a key");
  for (const char* name : {"", "..", ".hidden", "a/b", "a b", "a\nb"}) {
    CircuitAddRequest request;
    request.name = name;
    client.send(MessageType::kCircuitAdd, request, 1, {key.get()});
    EXPECT_EQ(next_error(client)->error_class, ErrorClass::kBadRequest) << name;
  }
}

TEST_F(SupervisorTest, LargeInputsAreSpooledAndGoWithTheirJob) {
  start();
  RawClient client(config.daemon.socket);
  const UniqueFd key = file("k.zkey", "a key");
  const UniqueFd input = file("big.wtns", std::string(400'000, 'w'));
  auto request = submission();
  request.input_inline.clear();
  request.input_attached = true;
  std::size_t spooled_meanwhile = 0;
  workers.intercept = [&](FakeWorker&, const shm::Command& command) {
    if (command.kind == CommandKind::kProve) spooled_meanwhile = spooled();
    return false;
  };
  client.send(MessageType::kSubmit, request, 1, {key.get(), input.get()});
  const auto accepted = reply_to<SubmitReply>(client, MessageType::kSubmit);
  ASSERT_TRUE(accepted);
  EXPECT_EQ(await(client, std::to_string(accepted->job.value))->state, JobState::kDone);
  EXPECT_EQ(workers.commands[CommandKind::kSpoolInput], 1);
  EXPECT_EQ(spooled_meanwhile, 1U);
  EXPECT_EQ(spooled(), 0U);
}

TEST_F(SupervisorTest, AnInputThatCannotBeOneIsRefusedByItsSize) {
  start();
  RawClient client(config.daemon.socket);
  const UniqueFd key = file("k.zkey", "a key");
  const UniqueFd input = file("huge.wtns", "");
  ASSERT_EQ(::truncate((folder.path() / "huge.wtns").c_str(), off_t{1} << 40), 0);
  auto request = submission();
  request.input_inline.clear();
  request.input_attached = true;
  client.send(MessageType::kSubmit, request, 1, {key.get(), input.get()});
  EXPECT_NE(next_error(client)->what.find("at most"), std::string::npos);
  EXPECT_EQ(spooled(), 0U);
}

TEST_F(SupervisorTest, ShuttingDownAnswersThoseWhoWait) {
  workers.intercept = [](FakeWorker&, const shm::Command& command) {
    return command.kind == CommandKind::kProve;
  };
  start();
  RawClient client(config.daemon.socket);
  ASSERT_TRUE(submit(client, submission("kept")));
  client.send(MessageType::kAwait, AwaitRequest{"kept", 0, false});
  settle();
  supervisor->shut_down();
  const auto error = next_error(client);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error_class, ErrorClass::kUnavailable);
  settle();
  EXPECT_TRUE(supervisor->finished());
  EXPECT_FALSE(std::filesystem::exists(config.daemon.socket));
}

TEST_F(SupervisorTest, ASecondSupervisorOnTheSameFolderOrSocketIsRefused) {
  start();
  const auto same_folder = Supervisor::create(config, programs(), workers, clock);
  ASSERT_FALSE(same_folder);
  EXPECT_NE(same_folder.error().message().find(std::to_string(::getpid())), std::string::npos);
  Config other = config;
  other.daemon.state_dir = folder.path() / "other";
  const auto same_socket = Supervisor::create(other, programs(), workers, clock);
  ASSERT_FALSE(same_socket);
  EXPECT_NE(same_socket.error().message().find("another supervisor answers"), std::string::npos);
  RawClient client(config.daemon.socket);
  EXPECT_TRUE(status(client));
}

TEST_F(SupervisorTest, ASocketThatNobodyListensOnIsReplaced) {
  std::filesystem::create_directories(config.daemon.socket.parent_path());
  const UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  config.daemon.socket.string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  start();
  RawClient client(config.daemon.socket);
  EXPECT_TRUE(status(client));
}

TEST_F(SupervisorTest, AFileInTheSocketsPlaceIsNotRemoved) {
  std::filesystem::create_directories(config.daemon.socket.parent_path());
  std::ofstream(config.daemon.socket) << "precious";
  const auto refused = Supervisor::create(config, programs(), workers, clock);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(std::filesystem::exists(config.daemon.socket));
}

}  // namespace
}  // namespace cuzk::supervisor
