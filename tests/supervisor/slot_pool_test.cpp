#include <gtest/gtest.h>

#include "supervisor/slots/slot_pool.hpp"

namespace cuzk::supervisor {
namespace {

constexpr WorkerLife kSynth{WorkerIndex{0}, Epoch{1}};
constexpr WorkerLife kGpu{WorkerIndex{1}, Epoch{1}};
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

SlotIndex must_lease(SlotPool& pool, std::uint64_t bytes, std::uint64_t job = 1) {
  const auto leased = pool.lease(kSynth, bytes, JobId{job});
  EXPECT_TRUE(leased && *leased);
  return leased && *leased ? **leased : SlotIndex{0};
}

void give_back(SlotPool& pool, SlotIndex slot) { ASSERT_TRUE(pool.release_unwiped(slot)); }

TEST(SlotPool, MakesSlotsWhenTheyAreNeededAndNoMoreThanAllowed) {
  SlotPool pool({2, UINT64_MAX});
  EXPECT_TRUE(pool.view().empty());
  must_lease(pool, 100);
  must_lease(pool, 100);
  const auto third = pool.lease(kSynth, 100, JobId{3});
  ASSERT_TRUE(third);
  EXPECT_FALSE(*third);
  EXPECT_EQ(pool.view().size(), 2U);
}

TEST(SlotPool, AFreeSlotThatFitsIsUsedAgain) {
  SlotPool pool({4, UINT64_MAX});
  const SlotIndex first = must_lease(pool, 3 * kMiB);
  const auto generation = pool.word(first).generation;
  give_back(pool, first);
  EXPECT_EQ(must_lease(pool, kMiB), first);
  EXPECT_NE(pool.word(first).generation, generation);
  EXPECT_EQ(pool.view().size(), 1U);
}

TEST(SlotPool, ASlotThatIsTooSmallIsReplacedByALargerOne) {
  SlotPool pool({1, UINT64_MAX});
  const SlotIndex slot = must_lease(pool, kMiB);
  give_back(pool, slot);
  EXPECT_EQ(must_lease(pool, 10 * kMiB), slot);
  EXPECT_GE(pool.capacity(slot), 10 * kMiB);
}

TEST(SlotPool, TheBudgetBoundsAllSlotsTogether) {
  SlotPool pool({8, 10 * kMiB});
  must_lease(pool, 6 * kMiB);
  const auto too_much = pool.lease(kSynth, 6 * kMiB, JobId{2});
  ASSERT_TRUE(too_much);
  EXPECT_FALSE(*too_much);
  must_lease(pool, 4 * kMiB);
}

TEST(SlotPool, AnAssignmentBeyondTheBudgetIsRefusedForGood) {
  SlotPool pool({8, 10 * kMiB});
  const auto refused = pool.lease(kSynth, 11 * kMiB, JobId{1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::kBadRequest);
  EXPECT_FALSE(pool.lease(kSynth, UINT64_MAX, JobId{1}));
}

TEST(SlotPool, FreeSlotsStayWhenReplacingThemWouldNotHelp) {
  SlotPool pool({3, 10 * kMiB});
  must_lease(pool, 6 * kMiB);
  const SlotIndex small = must_lease(pool, kMiB);
  give_back(pool, small);
  const auto waits = pool.lease(kSynth, 5 * kMiB, JobId{3});
  ASSERT_TRUE(waits);
  EXPECT_FALSE(*waits);
  EXPECT_EQ(pool.view().size(), 2U);
}

TEST(SlotPool, AnUncommittedSlotOfADeadWorkerIsFreeAndEmpty) {
  SlotPool pool({1, UINT64_MAX});
  const SlotIndex slot = must_lease(pool, kMiB);
  const WorkId work{JobId{1}, 0, 1};
  pool.expect(slot, work, Digest{});
  {
    const auto fd = pool.writable(slot);
    ASSERT_TRUE(fd);
    auto writer = shm::SlotWriter::open(*fd, pool.word(slot));
    ASSERT_TRUE(writer);
    writer->begin(work, Digest{}, AssignmentLayout::kDense);
    writer->payload()[0] = std::byte{42};
  }
  pool.owner_died(kSynth);
  EXPECT_EQ(pool.word(slot).state, shm::SlotState::kFree);
  const auto fd = pool.read_only(slot);
  ASSERT_TRUE(fd);
  const auto mapped = shm::Mapping::map(*fd, shm::Mapping::Access::kRead, 0, 2 * shm::kPageBytes);
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->data()[shm::kPageBytes], std::byte{0});
}

TEST(SlotPool, ACommittedSlotOutlivesItsProducerAndItsProver) {
  SlotPool pool({1, UINT64_MAX});
  const SlotIndex slot = must_lease(pool, kMiB);
  const WorkId work{JobId{1}, 0, 1};
  pool.expect(slot, work, Digest{});
  const auto fd = pool.writable(slot);
  ASSERT_TRUE(fd);
  auto writer = shm::SlotWriter::open(*fd, pool.word(slot));
  ASSERT_TRUE(writer);
  writer->begin(work, Digest{}, AssignmentLayout::kDense);
  ASSERT_TRUE(writer->commit(32, 7));
  pool.owner_died(kSynth);
  EXPECT_EQ(pool.word(slot).state, shm::SlotState::kReady);
  ASSERT_TRUE(pool.bind(slot, kGpu));
  pool.owner_died(kGpu);
  EXPECT_EQ(pool.word(slot).state, shm::SlotState::kReady);
  const auto fields = pool.check(slot, work, Digest{});
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->payload_checksum, 7U);
}

TEST(SlotPool, ASlotWhoseOwnerCannotBeReapedIsNobodysUntilItIs) {
  SlotPool pool({1, UINT64_MAX});
  const SlotIndex slot = must_lease(pool, kMiB);
  pool.owner_unreapable(kSynth);
  EXPECT_EQ(pool.word(slot).state, shm::SlotState::kRetired);
  const auto waits = pool.lease(kSynth, kMiB, JobId{2});
  ASSERT_TRUE(waits);
  EXPECT_FALSE(*waits);
  pool.owner_died(kSynth);
  EXPECT_EQ(pool.word(slot).state, shm::SlotState::kFree);
}

}  // namespace
}  // namespace cuzk::supervisor
