// A scheduler whose workers, files and time are a test's.
//
// The fixture plays the synth worker faithfully where slots are concerned: it writes and commits
// the real shared memory, so that what the scheduler believes after a death is what the memory
// says.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "common/groth16/encoding.hpp"
#include "supervisor/scheduler/scheduler.hpp"
#include "tests/supervisor/fake_clock.hpp"
#include "tests/supervisor/fake_port.hpp"

namespace cuzk::supervisor {

inline constexpr std::uint64_t kVariables = 4;
inline constexpr std::uint64_t kPublics = 1;

class SchedulerTest : public ::testing::Test,
                      public JobListener,
                      public JobFiles,
                      public WorkerNames {
 public:
  // JobListener
  void job_changed(const Job& job) override { states[job.record.id].push_back(job.record.state); }
  void job_finished(const Job& job) override { finished.push_back(job.record); }
  void job_killed_worker(const Job& job) override { kills[job.record.id] = job.record.kills; }
  // JobFiles
  Result<UniqueFd> open_input(const JobRecord&) override {
    if (input_is_lost) return bad_request("the input is gone");
    return shm::create_memfd("test-input", 64);
  }
  std::string circuit_folder(const JobRecord&) const override { return {}; }
  std::optional<std::string> r1cs_path(const JobRecord&) const override { return r1cs; }
  // WorkerNames
  std::string worker_name(WorkerIndex worker) const override {
    return (worker.value >= 2 ? "gpu" : "synth") + std::to_string(worker.value % 2);
  }
  std::string device_name(WorkerIndex worker) const override {
    return "device" + std::to_string(worker.value);
  }

 protected:
  static constexpr WorkerLife kSynth0{WorkerIndex{0}, Epoch{1}};
  static constexpr WorkerLife kSynth1{WorkerIndex{1}, Epoch{1}};
  static constexpr WorkerLife kGpu0{WorkerIndex{2}, Epoch{1}};
  static constexpr WorkerLife kGpu1{WorkerIndex{3}, Epoch{1}};

  void SetUp() override {
    dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
    dispatcher.worker_ready(kGpu0, WorkerRole::kGpu, 2);
  }

  static KeyInfo key() {
    KeyInfo info;
    info.digest = Digest{1, 2, 3};
    info.curve = CurveId::kBn254;
    info.n_variables = kVariables;
    info.n_public = kPublics;
    info.path = "/nowhere/key.ckey";
    return info;
  }

  void accept(std::uint64_t id, Priority priority = Priority::kNormal, bool key_ready = true) {
    JobRecord record;
    record.id = JobId{id};
    record.circuit = key().digest;
    record.curve = CurveId::kBn254;
    record.priority = priority;
    record.submitted_ms = clock.unix_ms();
    scheduler.accept(std::move(record), key(), key_ready);
    dispatcher.dispatch();
  }

  FakePort::Sent& last(CommandKind kind) { return port.last(kind); }
  void turn() { dispatcher.dispatch(); }

  void done(FakePort::Sent& sent, std::string body = {}) {
    // What follows may send more and move `sent`.
    const auto life = sent.life;
    const auto task = sent.task;
    ASSERT_TRUE(dispatcher.task_ended(life, task, Ending::kDone, std::move(body), {}));
    turn();
  }
  void fail(FakePort::Sent& sent, ErrorClass error_class) {
    const auto life = sent.life;
    const auto task = sent.task;
    ASSERT_TRUE(dispatcher.task_ended(life, task, Ending::kFailed, {},
                                      Error{error_class, "it failed", {}, {}}));
    turn();
  }
  // The worker dies and its next life is ready.
  void kill(WorkerLife life) {
    scheduler.worker_died(life);
    dispatcher.worker_died(life, Error{ErrorClass::kRetryElsewhere, "signal 9 (Killed)", {}, {}});
    const WorkerLife next{life.worker, Epoch{life.epoch.value + 1}};
    const bool gpu = life.worker.value >= 2;
    dispatcher.worker_ready(next, gpu ? WorkerRole::kGpu : WorkerRole::kSynth, gpu ? 2 : 1);
    turn();
  }

  // What a synth worker does to its slot; returns its answer.
  std::string write_slot(FakePort::Sent& sent, std::uint64_t variables = kVariables) {
    const auto body = decode<SynthesiseCommand>(sent.command.body);
    EXPECT_TRUE(body);
    for (const LabelledFd& entry : sent.command.fds) {
      if (entry.role != FdRole::kSlotWritable) continue;
      auto writer = shm::SlotWriter::open(entry.fd, sent.command.slot_word);
      EXPECT_TRUE(writer);
      writer->begin(body->work, body->circuit, AssignmentLayout::kDense);
      EXPECT_TRUE(writer->commit(variables * 32, 77));
    }
    return encode(SynthesiseResult{AssignmentLayout::kDense, variables * 32, 77, 1000});
  }
  static std::string proof() {
    return encode(ProveResult{std::string(proof_bytes(CurveId::kBn254), 'p'), {{"msm", 500}}});
  }
  static std::string verdict(bool valid) {
    return encode(VerifyResult{valid, valid ? std::string(kPublics * 32, 'x') : "", 10});
  }

  void synthesise() {
    auto& sent = last(CommandKind::kSynthesise);
    done(sent, write_slot(sent));
  }
  void prove() { done(last(CommandKind::kProve), proof()); }
  void verify(bool valid = true) { done(last(CommandKind::kVerify), verdict(valid)); }
  void wipe() { done(last(CommandKind::kWipeSlot)); }

  shm::SlotState slot_state(std::uint16_t index = 0) { return slots.word(SlotIndex{index}).state; }
  JobState state(std::uint64_t id) {
    const Job* job = scheduler.find(JobId{id});
    return job != nullptr ? job->record.state : JobState::kAccepted;
  }
  // Nothing of any job is left: no task, no slot in use.
  void expect_clean() {
    EXPECT_TRUE(scheduler.settled());
    EXPECT_TRUE(dispatcher.idle());
    for (const auto& slot : slots.view()) EXPECT_EQ(slot.word.state, shm::SlotState::kFree);
  }

  FakeClock clock;
  FakePort port;
  Dispatcher dispatcher{port};
  SlotPool slots{{3, UINT64_MAX}};
  Scheduler scheduler{{1}, clock, dispatcher, slots, *this, *this, *this};
  std::map<JobId, std::vector<JobState>> states;
  std::vector<JobRecord> finished;
  std::map<JobId, std::uint32_t> kills;
  std::optional<std::string> r1cs;
  bool input_is_lost = false;
};

}  // namespace cuzk::supervisor
