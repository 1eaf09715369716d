#include "tests/supervisor/fake_workers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include "common/groth16/encoding.hpp"
#include "common/hash.hpp"
#include "common/mapped_file.hpp"
#include "shm/slot.hpp"

namespace cuzk::supervisor {
namespace {

UniqueFd copy_of(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 3)); }

std::string contents(const UniqueFd& fd) {
  const auto mapped = MappedFile::map(fd, "test source");
  if (!mapped) return {};
  const auto bytes = mapped->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

KeyInfo fake_key(const std::string& cache_folder, const Digest& digest) {
  KeyInfo info;
  info.digest = digest;
  info.curve = CurveId::kBn254;
  info.n_variables = kFakeVariables;
  info.n_public = kFakePublics;
  info.domain_size = 8;
  info.path = cache_folder + "/" + to_hex(digest) + ".ckey";
  return info;
}

}  // namespace

FakeWorker::FakeWorker(pid_t pid, const SpawnRequest& request) : pid_(pid) {
  std::vector<std::string> words{request.program.string()};
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  std::vector<const char*> arguments;
  for (const auto& word : words) arguments.push_back(word.c_str());
  auto options = parse_arguments(static_cast<int>(arguments.size()), arguments.data());
  EXPECT_TRUE(options);
  options_ = *std::move(options);
  EXPECT_EQ(request.fds.size(), 4U);
  auto endpoint = shm::WorkerEndpoint::attach(copy_of(request.fds[0]), copy_of(request.fds[1]),
                                              copy_of(request.fds[2]), copy_of(request.fds[3]));
  EXPECT_TRUE(endpoint) << endpoint.error().message();
  endpoint_.emplace(*std::move(endpoint));
  auto death = shm::create_eventfd();
  EXPECT_TRUE(death);
  death_ = *std::move(death);
  int pipe_fds[2];
  EXPECT_EQ(::pipe2(pipe_fds, O_CLOEXEC), 0);
  output_ = UniqueFd(pipe_fds[1]);
  child_.pid = pid;
  child_.pidfd = copy_of(death_.get());
  child_.output = UniqueFd(pipe_fds[0]);
}

std::optional<shm::Command> FakeWorker::next() {
  endpoint_->clear_wake();
  auto command = endpoint_->pop_command();
  EXPECT_TRUE(command);
  while (true) {
    auto received = endpoint_->control().receive();
    EXPECT_TRUE(received);
    if (!received || received->state != shm::ReceivedFds::State::kMessage) break;
    for (auto& entry : received->fds) fds_[{received->task, entry.role}] = std::move(entry.fd);
  }
  return command ? std::move(*command) : std::nullopt;
}

UniqueFd FakeWorker::take_fd(TaskId task, FdRole role) {
  const auto found = fds_.find({task, role});
  if (found == fds_.end()) return UniqueFd();
  UniqueFd fd = std::move(found->second);
  fds_.erase(found);
  return fd;
}

void FakeWorker::say(EventKind kind, TaskId task, const std::string& body) {
  EXPECT_TRUE(endpoint_->push_event(kind, task, body));
}

void FakeWorker::print(const std::string& text) {
  EXPECT_EQ(::write(output_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

void FakeWorker::die(ExitStatus status) {
  if (status_) return;
  status_ = status;
  output_.reset();
  endpoint_.reset();  // its side of the channel closes with it
  fds_.clear();
  shm::signal_eventfd(death_.get());
}

Result<Child> FakeWorkers::spawn(const SpawnRequest& request) {
  if (refuse_start) return *refuse_start;
  workers_.push_back(std::make_unique<FakeWorker>(++last_pid_, request));
  FakeWorker& worker = *workers_.back();
  on_start(worker);
  return std::move(worker.child_);
}

std::optional<ExitStatus> FakeWorkers::reap(const Child& child) {
  for (const auto& worker : workers_) {
    if (worker->pid() == child.pid) return worker->status_;
  }
  return std::nullopt;
}

void FakeWorkers::signal(const Child& child, int signal_number) {
  for (const auto& worker : workers_) {
    if (worker->pid() != child.pid || worker->dead()) continue;
    worker->signals.push_back(signal_number);
    if (signal_number == SIGKILL) worker->die({true, SIGKILL});
    if (signal_number == SIGTERM && worker->obeys_sigterm) worker->die({false, 0});
  }
}

FakeWorker* FakeWorkers::find(const std::string& name) {
  const auto found = std::find_if(workers_.rbegin(), workers_.rend(), [&](const auto& worker) {
    return worker->name() == name && !worker->dead();
  });
  return found == workers_.rend() ? nullptr : found->get();
}

std::size_t FakeWorkers::started(const std::string& name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(workers_, [&](const auto& worker) { return worker->name() == name; }));
}

int FakeWorkers::commands_taken() const {
  int total = 0;
  for (const auto& [kind, count] : commands) total += count;
  return total;
}

void FakeWorkers::step() {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    FakeWorker& worker = *workers_[i];
    while (!worker.dead()) {
      const auto command = worker.next();
      if (!command) break;
      ++commands[command->kind];
      if (!intercept || !intercept(worker, *command)) answer(worker, *command);
    }
  }
}

void FakeWorkers::answer(FakeWorker& worker, const shm::Command& command) {
  switch (command.kind) {
    case CommandKind::kPrepareKey: {
      const auto body = *command.as<PrepareKeyCommand>();
      Digest digest{};
      std::string content;
      if (body.expected) {
        digest = *body.expected;
        const auto path = fake_key(body.cache_folder, digest).path;
        if (!std::filesystem::exists(path))
          return worker.failed(command.task, bad_request("there is none"));
      } else {
        content = contents(worker.take_fd(command.task, FdRole::kSource));
        digest = sha256(std::as_bytes(std::span(content)));
        if (content == "bad key")
          return worker.failed(command.task, bad_request("not a zkey", "k.zkey"));
      }
      KeyInfo info = fake_key(body.cache_folder, digest);
      info.converted = !std::filesystem::exists(info.path);
      if (info.converted) std::ofstream(info.path) << "prepared " << content;
      info.file_bytes = std::filesystem::file_size(info.path);
      return worker.done(command.task, encode(info));
    }
    case CommandKind::kAddCircuit: {
      const auto body = *command.as<AddCircuitCommand>();
      std::filesystem::create_directories(body.folder);
      CircuitArtefacts artefacts;
      artefacts.has_wasm = static_cast<bool>(worker.take_fd(command.task, FdRole::kWasm));
      artefacts.has_r1cs = static_cast<bool>(worker.take_fd(command.task, FdRole::kR1cs));
      if (artefacts.has_r1cs) std::ofstream(body.folder + "/" + kCircuitR1csFile) << "constraints";
      return worker.done(command.task, encode(artefacts));
    }
    case CommandKind::kSpoolInput: {
      const auto body = *command.as<SpoolInputCommand>();
      const auto content = contents(worker.take_fd(command.task, FdRole::kSource));
      std::ofstream(body.destination) << content;
      return worker.done(command.task, encode(SpoolInfo{content.size()}));
    }
    case CommandKind::kSynthesise: {
      const auto body = *command.as<SynthesiseCommand>();
      const auto input = contents(worker.take_fd(command.task, FdRole::kSource));
      const auto fd = worker.take_fd(command.task, FdRole::kSlotWritable);
      auto writer = shm::SlotWriter::open(fd, command.slot_word);
      EXPECT_TRUE(writer);
      EXPECT_FALSE(input.empty());
      if (!writer) return;
      writer->begin(body.work, body.circuit, AssignmentLayout::kDense);
      EXPECT_TRUE(writer->commit(kFakeVariables * 32, 5));
      return worker.done(command.task, encode(SynthesiseResult{AssignmentLayout::kDense,
                                                               kFakeVariables * 32, 5, 1}));
    }
    case CommandKind::kProve:
      return worker.done(
          command.task,
          encode(ProveResult{std::string(proof_bytes(CurveId::kBn254), 'p'), {{"msm", 1}}}));
    case CommandKind::kVerify: {
      const std::string publics = proofs_are_valid ? std::string(kFakePublics * 32, 'x') : "";
      return worker.done(command.task, encode(VerifyResult{proofs_are_valid, publics, 1}));
    }
    case CommandKind::kExplain:
      return worker.done(command.task, encode(ExplainResult{false, 4, "constraint 4 is violated"}));
    case CommandKind::kWipeSlot: return worker.done(command.task, {});
    case CommandKind::kDropKey: return;
    case CommandKind::kShutdown: return worker.die({false, 0});
  }
}

}  // namespace cuzk::supervisor
