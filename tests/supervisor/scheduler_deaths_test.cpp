// Every state of a job against the death of every worker.

#include "tests/supervisor/scheduler_fixture.hpp"

namespace cuzk::supervisor {
namespace {

TEST_F(SchedulerTest, DeathBeforeTheCommitSynthesisesAgain) {
  accept(1);
  kill(kSynth0);
  EXPECT_EQ(port.count(CommandKind::kSynthesise), 2U);
  EXPECT_EQ(kills[JobId{1}], 1U);
  synthesise();
  prove();
  verify();
  EXPECT_EQ(finished.at(0).state, JobState::kDone);
  wipe();
  expect_clean();
}

TEST_F(SchedulerTest, DeathAfterTheCommitLosesNothing) {
  accept(1);
  (void)write_slot(last(CommandKind::kSynthesise));
  kill(kSynth0);
  EXPECT_EQ(port.count(CommandKind::kSynthesise), 1U);
  EXPECT_EQ(state(1), JobState::kProving);
  prove();
  verify();
  EXPECT_EQ(finished.at(0).state, JobState::kDone);
  wipe();
  expect_clean();
}

TEST_F(SchedulerTest, ACommitForOtherWorkDoesNotCountAfterADeath) {
  accept(1);
  auto& sent = last(CommandKind::kSynthesise);
  auto body = *decode<SynthesiseCommand>(sent.command.body);
  body.work.attempt += 1;
  sent.command.body = encode(body);
  (void)write_slot(sent);
  kill(kSynth0);
  EXPECT_EQ(port.count(CommandKind::kSynthesise), 2U);
}

TEST_F(SchedulerTest, DeathOfTheDeviceRepeatsOneProofAndNoSynthesis) {
  accept(1);
  accept(2);
  synthesise();
  synthesise();
  ASSERT_EQ(port.count(CommandKind::kProve), 2U);
  kill(kGpu0);
  EXPECT_EQ(port.count(CommandKind::kProve), 4U);
  EXPECT_EQ(port.count(CommandKind::kSynthesise), 2U);
  EXPECT_EQ(kills[JobId{1}], 1U);
  EXPECT_FALSE(kills.contains(JobId{2}));  // bound ahead: a victim
  done(port.sent.at(port.sent.size() - 2), proof());
  verify();
  wipe();
  prove();
  verify();
  EXPECT_EQ(finished.size(), 2U);
}

TEST_F(SchedulerTest, DeathOfAnIdleWorkerTouchesNoJob) {
  accept(1);
  synthesise();
  kill(kSynth0);
  prove();
  verify();
  EXPECT_EQ(finished.at(0).state, JobState::kDone);
  EXPECT_TRUE(kills.empty());
}

TEST_F(SchedulerTest, DeathWhileReadyTouchesNothing) {
  dispatcher.worker_draining(WorkerIndex{2});
  accept(1);
  synthesise();
  kill(kSynth0);
  kill(kGpu0);
  EXPECT_EQ(state(1), JobState::kProving);
  EXPECT_EQ(port.count(CommandKind::kSynthesise), 1U);
}

TEST_F(SchedulerTest, DeathOfTheVerifierVerifiesAgain) {
  accept(1);
  synthesise();
  prove();
  kill(kSynth0);
  EXPECT_EQ(port.count(CommandKind::kVerify), 2U);
  EXPECT_EQ(port.count(CommandKind::kProve), 1U);
  verify();
  EXPECT_EQ(finished.at(0).state, JobState::kDone);
}

TEST_F(SchedulerTest, DeathOfTheProverWhileItsProofIsVerifiedChangesNothing) {
  accept(1);
  synthesise();
  prove();
  kill(kGpu0);
  EXPECT_EQ(port.count(CommandKind::kProve), 1U);
  verify();
  EXPECT_EQ(finished.at(0).state, JobState::kDone);
}

TEST_F(SchedulerTest, DeathWhileExplainingExplainsAgain) {
  r1cs = "/nowhere/circuit.r1cs";
  accept(1);
  synthesise();
  for (int i = 0; i < 2; ++i) {
    prove();
    verify(false);
  }
  kill(kSynth0);
  ASSERT_EQ(port.count(CommandKind::kExplain), 2U);
  done(last(CommandKind::kExplain), encode(ExplainResult{false, 3, "constraint 3"}));
  EXPECT_NE(finished.at(0).error->what.find("constraint 3"), std::string::npos);
}

TEST_F(SchedulerTest, DeathWhileWipingLeavesAnEmptyFreeSlot) {
  accept(1);
  synthesise();
  prove();
  verify();
  ASSERT_EQ(slot_state(), shm::SlotState::kLeased);
  kill(kSynth0);
  EXPECT_EQ(slot_state(), shm::SlotState::kFree);
  expect_clean();
  accept(2);
  EXPECT_EQ(state(2), JobState::kSynthesizing);
}

TEST_F(SchedulerTest, AWipeThatFailsGivesThePagesBack) {
  accept(1);
  synthesise();
  prove();
  verify();
  fail(last(CommandKind::kWipeSlot), ErrorClass::kBug);
  EXPECT_EQ(slot_state(), shm::SlotState::kFree);
  expect_clean();
}

TEST_F(SchedulerTest, AJobThatKillsThreeWorkersIsPoison) {
  accept(1);
  for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {
    ASSERT_TRUE(finished.empty());
    kill({WorkerIndex{0}, Epoch{epoch}});
  }
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].error->error_class, ErrorClass::kPoisonJob);
  EXPECT_EQ(kills[JobId{1}], 3U);
  expect_clean();
}

TEST_F(SchedulerTest, KillsCountOverAllSteps) {
  accept(1);
  kill(kSynth0);
  synthesise();
  kill(kGpu0);
  prove();
  kill({WorkerIndex{0}, Epoch{2}});
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].error->error_class, ErrorClass::kPoisonJob);
  wipe();
  expect_clean();
}

TEST_F(SchedulerTest, DeathOfAWorkerWithACancelledTaskFreesTheSlot) {
  accept(1);
  EXPECT_TRUE(scheduler.cancel(JobId{1}));
  kill(kSynth0);
  expect_clean();

  accept(2);
  synthesise();
  EXPECT_TRUE(scheduler.cancel(JobId{2}));
  kill(kGpu0);
  wipe();
  expect_clean();
  EXPECT_EQ(finished.size(), 2U);
}

TEST_F(SchedulerTest, ASlotWhoseOwnerCannotBeReapedIsLeftBehind) {
  accept(1);
  synthesise();
  ASSERT_EQ(slot_state(0), shm::SlotState::kBound);
  slots.owner_unreapable(kGpu0);
  dispatcher.worker_died(kGpu0, bug("cannot be reaped"));
  dispatcher.worker_ready(kGpu1, WorkerRole::kGpu, 2);
  turn();
  EXPECT_EQ(slot_state(0), shm::SlotState::kRetired);
  EXPECT_EQ(port.count(CommandKind::kSynthesise), 2U);
  synthesise();
  prove();
  verify();
  EXPECT_EQ(finished.at(0).state, JobState::kDone);
}

TEST_F(SchedulerTest, KillsOfAnEarlierRunCount) {
  JobRecord record;
  record.id = JobId{9};
  record.circuit = key().digest;
  record.curve = CurveId::kBn254;
  record.kills = 2;
  scheduler.accept(std::move(record), key(), true);
  turn();
  kill(kSynth0);
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].error->error_class, ErrorClass::kPoisonJob);
}

}  // namespace
}  // namespace cuzk::supervisor
