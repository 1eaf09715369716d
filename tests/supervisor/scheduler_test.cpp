// The life of a job without deaths: the straight way, wrong proofs, cancellation, failures,
// priorities.

#include "tests/supervisor/scheduler_fixture.hpp"

namespace cuzk::supervisor {
namespace {

TEST_F(SchedulerTest, AJobGoesFromQueuedToDone) {
  accept(1);
  synthesise();
  prove();
  verify();
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].state, JobState::kDone);
  EXPECT_EQ(finished[0].proof, std::string(proof_bytes(CurveId::kBn254), 'p'));
  EXPECT_EQ(finished[0].publics, std::string(32, 'x'));
  EXPECT_EQ(finished[0].device, "device2");
  EXPECT_EQ(states[JobId{1}],
            (std::vector{JobState::kQueued, JobState::kSynthesizing, JobState::kReady,
                         JobState::kProving, JobState::kVerifying}));
  wipe();
  expect_clean();
}

TEST_F(SchedulerTest, StagesAddUpToTheTotal) {
  using std::chrono::milliseconds;
  dispatcher.worker_draining(WorkerIndex{0});
  accept(1);
  clock.advance(milliseconds(5));
  dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
  turn();
  clock.advance(milliseconds(7));
  synthesise();
  clock.advance(milliseconds(11));
  prove();
  clock.advance(milliseconds(2));
  verify();
  std::map<std::string, std::uint64_t> stages;
  for (const auto& stage : finished.at(0).stages) stages[stage.step] = stage.microseconds;
  EXPECT_EQ(stages["queue"], 5000U);
  EXPECT_EQ(stages["synthesis"], 7000U);
  EXPECT_EQ(stages["wait"], 10500U);
  EXPECT_EQ(stages["proving"], 500U);
  EXPECT_EQ(stages["proving/msm"], 500U);
  EXPECT_EQ(stages["verify"], 2000U);
  EXPECT_EQ(stages["total"], 25000U);
}

TEST_F(SchedulerTest, TheSlotIsBoundWhileItIsProvedAndWipedAfterwards) {
  accept(1);
  EXPECT_EQ(slot_state(), shm::SlotState::kLeased);
  synthesise();
  EXPECT_EQ(slot_state(), shm::SlotState::kBound);
  prove();
  EXPECT_EQ(slot_state(), shm::SlotState::kDone);
  verify();
  EXPECT_EQ(slot_state(), shm::SlotState::kLeased);
  const auto body = decode<WipeSlotCommand>(last(CommandKind::kWipeSlot).command.body);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->payload_bytes, kVariables * 32);
  wipe();
  EXPECT_EQ(slot_state(), shm::SlotState::kFree);
}

TEST_F(SchedulerTest, OneAssignmentIsBoundAheadOfTheOneBeingProved) {
  for (std::uint64_t id = 1; id <= 3; ++id) accept(id);
  for (int i = 0; i < 3; ++i) synthesise();
  EXPECT_EQ(port.count(CommandKind::kProve), 2U);
  EXPECT_EQ(state(3), JobState::kReady);
  EXPECT_EQ(slot_state(2), shm::SlotState::kReady);
}

TEST_F(SchedulerTest, WithoutASlotAJobWaits) {
  for (std::uint64_t id = 1; id <= 4; ++id) accept(id);
  for (int i = 0; i < 3; ++i) synthesise();
  EXPECT_EQ(state(4), JobState::kQueued);
  done(*std::find_if(port.sent.begin(), port.sent.end(),
                     [](const auto& sent) { return sent.kind == CommandKind::kProve; }),
       proof());
  verify();
  wipe();
  EXPECT_EQ(state(4), JobState::kSynthesizing);
}

TEST_F(SchedulerTest, AHigherPriorityGoesFirst) {
  dispatcher.worker_draining(WorkerIndex{0});
  accept(1, Priority::kLow);
  accept(2, Priority::kNormal);
  accept(3, Priority::kCritical);
  accept(4, Priority::kHigh);
  dispatcher.worker_ready(kSynth0, WorkerRole::kSynth, 1);
  turn();
  std::vector<std::uint64_t> order;
  for (int i = 0; i < 3; ++i) {
    order.push_back(
        decode<SynthesiseCommand>(last(CommandKind::kSynthesise).command.body)->work.job.value);
    synthesise();
  }
  EXPECT_EQ(order, (std::vector<std::uint64_t>{3, 4, 2}));
}

TEST_F(SchedulerTest, AWrongProofIsMadeOnceMoreOnAnotherDevice) {
  dispatcher.worker_ready(kGpu1, WorkerRole::kGpu, 2);
  accept(1);
  synthesise();
  const WorkerLife first = last(CommandKind::kProve).life;
  prove();
  verify(false);
  ASSERT_EQ(port.count(CommandKind::kProve), 2U);
  EXPECT_NE(last(CommandKind::kProve).life, first);
  EXPECT_EQ(port.count(CommandKind::kSynthesise), 1U);
  prove();
  verify(true);
  EXPECT_EQ(finished.at(0).state, JobState::kDone);
}

TEST_F(SchedulerTest, TwoWrongProofsMeanThatTheWitnessIsWrong) {
  accept(1);
  synthesise();
  for (int i = 0; i < 2; ++i) {
    prove();
    verify(false);
  }
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].state, JobState::kFailed);
  EXPECT_EQ(finished[0].error->error_class, ErrorClass::kBadRequest);
  EXPECT_NE(finished[0].error->what.find("does not satisfy"), std::string::npos);
  EXPECT_TRUE(finished[0].proof.empty());
  wipe();
  expect_clean();
}

TEST_F(SchedulerTest, WithTheR1csTheViolatedConstraintIsNamed) {
  r1cs = "/nowhere/circuit.r1cs";
  accept(1);
  synthesise();
  for (int i = 0; i < 2; ++i) {
    prove();
    verify(false);
  }
  ASSERT_TRUE(finished.empty());
  done(last(CommandKind::kExplain), encode(ExplainResult{false, 17, "constraint 17 is violated"}));
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_NE(finished[0].error->what.find("constraint 17"), std::string::npos);
  wipe();
  expect_clean();
}

TEST_F(SchedulerTest, AWitnessThatFitsTheR1csPointsAtTheKey) {
  r1cs = "/nowhere/circuit.r1cs";
  accept(1);
  synthesise();
  for (int i = 0; i < 2; ++i) {
    prove();
    verify(false);
  }
  done(last(CommandKind::kExplain), encode(ExplainResult{true, 0, ""}));
  EXPECT_NE(finished.at(0).error->message().find("same circuit"), std::string::npos);
}

TEST_F(SchedulerTest, AnExplanationThatDoesNotComeHoldsNothingBack) {
  r1cs = "/nowhere/circuit.r1cs";
  accept(1);
  synthesise();
  for (int i = 0; i < 2; ++i) {
    prove();
    verify(false);
  }
  fail(last(CommandKind::kExplain), ErrorClass::kBadRequest);
  EXPECT_EQ(finished.at(0).error->error_class, ErrorClass::kBadRequest);
}

TEST_F(SchedulerTest, ABadWitnessFailsAtOnceAndFreesItsSlot) {
  accept(1);
  fail(last(CommandKind::kSynthesise), ErrorClass::kBadRequest);
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].error->what, "it failed");
  expect_clean();
}

TEST_F(SchedulerTest, FailuresThatMayPassAreTriedFiveTimesInEachStep) {
  for (const auto kind : {CommandKind::kSynthesise, CommandKind::kProve, CommandKind::kVerify}) {
    finished.clear();
    const auto id = static_cast<std::uint64_t>(kind) + 100;
    accept(id);
    if (kind != CommandKind::kSynthesise) synthesise();
    if (kind == CommandKind::kVerify) prove();
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(finished.empty()) << name_of(kind) << " after " << i;
      fail(last(kind), ErrorClass::kRetryElsewhere);
    }
    ASSERT_EQ(finished.size(), 1U) << name_of(kind);
    EXPECT_EQ(finished[0].error->error_class, ErrorClass::kRetryElsewhere);
    if (kind != CommandKind::kSynthesise) wipe();
    expect_clean();
  }
}

TEST_F(SchedulerTest, ALostInputFailsTheJob) {
  input_is_lost = true;
  accept(1);
  EXPECT_EQ(finished.at(0).error->what, "the input is gone");
  expect_clean();
}

TEST_F(SchedulerTest, AnAnswerThatDoesNotFitTheSlotIsRefused) {
  accept(1);
  done(last(CommandKind::kSynthesise),
       encode(SynthesiseResult{AssignmentLayout::kDense, kVariables * 32, 77, 0}));
  EXPECT_EQ(port.count(CommandKind::kSynthesise), 2U);  // nothing was committed
  auto& wrong_size = last(CommandKind::kSynthesise);
  done(wrong_size, write_slot(wrong_size, kVariables - 1));
  EXPECT_EQ(port.count(CommandKind::kSynthesise), 3U);
  auto& wrong_sum = last(CommandKind::kSynthesise);
  (void)write_slot(wrong_sum);
  done(wrong_sum, encode(SynthesiseResult{AssignmentLayout::kDense, kVariables * 32, 78, 0}));
  EXPECT_EQ(port.count(CommandKind::kSynthesise), 4U);
  done(last(CommandKind::kSynthesise), "not a message");
  EXPECT_EQ(port.count(CommandKind::kSynthesise), 5U);
  EXPECT_TRUE(finished.empty());
}

TEST_F(SchedulerTest, AProofOfTheWrongSizeOrAVerdictWithoutItsPublicsIsRefused) {
  accept(1);
  synthesise();
  done(last(CommandKind::kProve), encode(ProveResult{"short", {}}));
  EXPECT_EQ(port.count(CommandKind::kProve), 2U);
  done(last(CommandKind::kProve), encode(ProveResult{std::string(proof_bytes(CurveId::kBn254), 'p'),
                                                     std::vector<StepTime>(1000)}));
  EXPECT_EQ(port.count(CommandKind::kProve), 3U);
  prove();
  done(last(CommandKind::kVerify), encode(VerifyResult{true, "short", 0}));
  EXPECT_EQ(port.count(CommandKind::kVerify), 2U);
  verify();
  EXPECT_EQ(finished.at(0).state, JobState::kDone);
}

TEST_F(SchedulerTest, AJobWaitsForItsKeyAndFailsWithIt) {
  accept(1, Priority::kNormal, false);
  accept(2, Priority::kNormal, false);
  EXPECT_TRUE(port.sent.empty());
  EXPECT_TRUE(scheduler.cancel(JobId{2}));
  scheduler.key_ready(key());
  turn();
  EXPECT_EQ(state(1), JobState::kSynthesizing);
  accept(3, Priority::kNormal, false);
  scheduler.key_failed(key().digest, bad_request("the key is damaged"));
  EXPECT_EQ(finished.back().id, JobId{3});
  EXPECT_EQ(finished.back().error->what, "the key is damaged");
  EXPECT_EQ(state(1), JobState::kSynthesizing);
}

TEST_F(SchedulerTest, CancellingAQueuedJobIsDoneAtOnce) {
  dispatcher.worker_draining(WorkerIndex{0});
  accept(1);
  EXPECT_TRUE(scheduler.cancel(JobId{1}));
  EXPECT_FALSE(scheduler.cancel(JobId{1}));
  EXPECT_EQ(finished.at(0).state, JobState::kCancelled);
  expect_clean();
}

TEST_F(SchedulerTest, CancellingARunningStepIsTrueAtOnceAndFreesTheSlotAtItsEnd) {
  accept(1);
  EXPECT_TRUE(scheduler.cancel(JobId{1}));
  EXPECT_EQ(finished.at(0).state, JobState::kCancelled);
  EXPECT_EQ(scheduler.find(JobId{1}), nullptr);
  EXPECT_EQ(port.cancelled.size(), 1U);
  EXPECT_EQ(slot_state(), shm::SlotState::kLeased);
  fail(last(CommandKind::kSynthesise), ErrorClass::kOperator);
  expect_clean();
}

TEST_F(SchedulerTest, ACancelledStepThatFinishesAllTheSameIsForgotten) {
  accept(1);
  auto& synthesis = last(CommandKind::kSynthesise);
  const auto answer = write_slot(synthesis);
  EXPECT_TRUE(scheduler.cancel(JobId{1}));
  done(synthesis, answer);
  wipe();
  expect_clean();

  accept(2);
  synthesise();
  EXPECT_TRUE(scheduler.cancel(JobId{2}));
  prove();
  EXPECT_EQ(port.count(CommandKind::kVerify), 0U);
  wipe();
  expect_clean();

  accept(3);
  synthesise();
  prove();
  EXPECT_TRUE(scheduler.cancel(JobId{3}));
  verify();
  wipe();
  expect_clean();
  EXPECT_EQ(finished.size(), 3U);
  for (const auto& record : finished) EXPECT_EQ(record.state, JobState::kCancelled);
}

TEST_F(SchedulerTest, CancellingAReadyJobWipesItsAssignment) {
  dispatcher.worker_draining(WorkerIndex{2});
  accept(1);
  synthesise();
  EXPECT_EQ(state(1), JobState::kReady);
  EXPECT_TRUE(scheduler.cancel(JobId{1}));
  turn();
  wipe();
  expect_clean();
}

}  // namespace
}  // namespace cuzk::supervisor
