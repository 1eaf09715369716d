// Slots whose owner is killed, and what the table makes of them.
#include <csignal>
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "common/hash.hpp"
#include "shm/slot.hpp"
#include "shm/slot_table.hpp"

namespace cuzk::shm {
namespace {

constexpr SlotIndex kSlot{0};
constexpr WorkerIndex kSynth{1};
constexpr Epoch kEpoch{3};
const WorkId kWork{JobId{5}, 0, 2};
const std::string kPayload(5000, 'w');

class SlotProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    auto slot = SlotMemory::create("slot", kPayload.size(), SlotMemory::Pages::kOnDemand);
    ASSERT_TRUE(slot);
    slot_ = *std::move(slot);
    auto leased = table_.lease(kSlot, kSynth, kEpoch);
    ASSERT_TRUE(leased);
    leased_ = *leased;
  }

  // Runs the owner's work in a child that kills itself where `work` ends.
  template <class Work>
  void die_after(Work work) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto writer = SlotWriter::open(slot_.writable, leased_);
      if (!writer) ::_exit(1);
      work(*writer);
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    outcomes_ = table_.on_owner_death(kSynth, kEpoch, [&](SlotIndex, const SlotWord& leased) {
      return check_slot(slot_.read_only, expectation(leased)).ok();
    });
    ASSERT_EQ(outcomes_.size(), 1u);
  }
  static SlotExpectation expectation(const SlotWord& leased) {
    SlotExpectation expected;
    expected.work = kWork;
    expected.circuit = Digest{1, 2, 3};
    expected.generation = leased.generation;
    expected.producer = leased;
    return expected;
  }
  static void fill(SlotWriter& writer) {
    writer.begin(kWork, Digest{1, 2, 3}, AssignmentLayout::kDense);
    std::memcpy(writer.payload().data(), kPayload.data(), kPayload.size());
  }
  static std::uint64_t checksum() {
    return xxh3_64(std::as_bytes(std::span(kPayload.data(), kPayload.size())));
  }

  std::array<SharedWord, 1> words_{};
  SlotTable table_ = SlotTable::format(words_);
  SlotMemory slot_;
  SlotWord leased_;
  std::vector<SlotTable::Outcome> outcomes_;
};

TEST_F(SlotProcessTest, DeathBeforeAnythingFreesTheSlot) {
  ASSERT_NO_FATAL_FAILURE(die_after([](SlotWriter&) {}));
  EXPECT_EQ(table_.word(kSlot).state, SlotState::kFree);
}

TEST_F(SlotProcessTest, DeathBeforeTheCommitWordFreesTheSlot) {
  ASSERT_NO_FATAL_FAILURE(die_after([](SlotWriter& writer) { fill(writer); }));
  EXPECT_EQ(table_.word(kSlot).state, SlotState::kFree);
  ASSERT_TRUE(slot_.discard_payload());
}

TEST_F(SlotProcessTest, DeathAfterTheCommitWordKeepsThePayload) {
  ASSERT_NO_FATAL_FAILURE(die_after([](SlotWriter& writer) {
    fill(writer);
    if (!writer.commit(kPayload.size(), checksum())) ::_exit(1);
  }));
  ASSERT_EQ(table_.word(kSlot).state, SlotState::kReady);
  auto reader = SlotReader::open(slot_.read_only, expectation(leased_), SlotReader::Payload::kCheck);
  ASSERT_TRUE(reader) << reader.error().message();
  EXPECT_EQ(std::memcmp(reader->payload().data(), kPayload.data(), kPayload.size()), 0);
}

TEST_F(SlotProcessTest, DeathWithTheCommitOfTheLeaseBeforeFreesTheSlot) {
  ASSERT_NO_FATAL_FAILURE(die_after([](SlotWriter& writer) {
    fill(writer);
    if (!writer.commit(kPayload.size(), checksum())) ::_exit(1);
  }));
  ASSERT_TRUE(table_.discard(kSlot, table_.word(kSlot)));
  ASSERT_TRUE(table_.release(kSlot, table_.word(kSlot)));
  auto leased = table_.lease(kSlot, kSynth, kEpoch);
  ASSERT_TRUE(leased);
  leased_ = *leased;
  ASSERT_NO_FATAL_FAILURE(die_after([](SlotWriter&) {}));
  EXPECT_EQ(table_.word(kSlot).state, SlotState::kFree);
}

TEST_F(SlotProcessTest, AReadersDeathInTheMiddleChangesNothing) {
  ASSERT_NO_FATAL_FAILURE(die_after([](SlotWriter& writer) {
    fill(writer);
    if (!writer.commit(kPayload.size(), checksum())) ::_exit(1);
  }));
  auto bound = table_.bind(kSlot, table_.word(kSlot), WorkerIndex{9}, Epoch{1});
  ASSERT_TRUE(bound);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto reader = SlotReader::open(slot_.read_only, expectation(leased_));
    if (!reader) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto outcomes = table_.on_owner_death(WorkerIndex{9}, Epoch{1}, nullptr);
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].after.state, SlotState::kReady);
  EXPECT_TRUE(SlotReader::open(slot_.read_only, expectation(leased_), SlotReader::Payload::kCheck));
}

}  // namespace
}  // namespace cuzk::shm
