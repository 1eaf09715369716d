#include "shm/slot.hpp"

#include <cstring>
#include <functional>
#include <random>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "common/hash.hpp"

namespace cuzk::shm {
namespace {

constexpr SlotWord kLeased{SlotState::kLeased, WorkerIndex{2}, Epoch{4}, Generation{11}};
const WorkId kWork{JobId{77}, 3, 1};
const std::string kPayload = "one, two, three: a witness";

Digest some_digest() {
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<std::uint8_t>(i * 5 + 1);
  return digest;
}

SlotExpectation full_expectation() {
  SlotExpectation expected;
  expected.work = kWork;
  expected.circuit = some_digest();
  expected.generation = kLeased.generation;
  expected.producer = kLeased;
  expected.layout = AssignmentLayout::kDense;
  expected.payload_bytes = kPayload.size();
  expected.payload_checksum = xxh3_64(std::as_bytes(std::span(kPayload.data(), kPayload.size())));
  return expected;
}

class SlotTest : public testing::Test {
 protected:
  void SetUp() override {
    auto slot = SlotMemory::create("slot test", 10000, SlotMemory::Pages::kOnDemand);
    ASSERT_TRUE(slot) << slot.error().message();
    slot_ = *std::move(slot);
  }
  void write_and_commit(const SlotWord& leased = kLeased) {
    auto writer = SlotWriter::open(slot_.writable, leased);
    ASSERT_TRUE(writer) << writer.error().message();
    writer->begin(kWork, some_digest(), AssignmentLayout::kDense);
    std::memcpy(writer->payload().data(), kPayload.data(), kPayload.size());
    ASSERT_TRUE(writer->commit(kPayload.size(), *full_expectation().payload_checksum));
  }
  // A hostile writer: changes the header and commits to the change as the real one would.
  void tamper(const std::function<void(SlotFields&)>& change) {
    auto page = Mapping::map(slot_.writable, Mapping::Access::kReadWrite, 0, kPageBytes);
    ASSERT_TRUE(page);
    auto& header = *reinterpret_cast<SlotHeader*>(page->data());
    change(header.fields);
    const std::uint64_t digest = xxh3_64(std::as_bytes(std::span(&header.fields, 1)));
    header.commit.store(digest == 0 ? 1 : digest, std::memory_order_release);
  }
  void expect_refused(const SlotExpectation& expected, const std::string& about) {
    SCOPED_TRACE(about);
    auto checked = check_slot(slot_.read_only, expected);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().error_class, ErrorClass::kRetryElsewhere);
    EXPECT_NE(checked.error().message().find(about), std::string::npos)
        << checked.error().message();
    auto reader = SlotReader::open(slot_.read_only, expected);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().message(), checked.error().message());
  }
  SlotMemory slot_;
};

TEST_F(SlotTest, AReaderSeesExactlyWhatWasCommitted) {
  write_and_commit();
  auto reader = SlotReader::open(slot_.read_only, full_expectation(), SlotReader::Payload::kCheck);
  ASSERT_TRUE(reader) << reader.error().message();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(reader->payload().data()),
                        reader->payload().size()),
            kPayload);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(reader->payload().data()) % kPageBytes, 0u);
  EXPECT_EQ(reader->layout(), AssignmentLayout::kDense);
  EXPECT_EQ(reader->fields().producer, kLeased.pack());
  EXPECT_EQ(slot_.capacity, 3 * kPageBytes);
}

TEST_F(SlotTest, OnlyWorkAndGenerationAreNeededToCheck) {
  write_and_commit();
  SlotExpectation expected;
  expected.work = kWork;
  expected.generation = kLeased.generation;
  auto fields = check_slot(slot_.read_only, expected);
  ASSERT_TRUE(fields) << fields.error().message();
  EXPECT_EQ(fields->payload_bytes, kPayload.size());
}

TEST_F(SlotTest, AMismatchInEverySingleFieldIsRefused) {
  const std::pair<const char*, std::function<void(SlotFields&)>> changes[] = {
      {"magic", [](SlotFields& f) { f.magic ^= 1; }},
      {"version", [](SlotFields& f) { f.version += 1; }},
      {"header size", [](SlotFields& f) { f.header_bytes = 64; }},
      {"job", [](SlotFields& f) { f.job += 1; }},
      {"partition", [](SlotFields& f) { f.partition += 1; }},
      {"attempt", [](SlotFields& f) { f.attempt += 1; }},
      {"circuit", [](SlotFields& f) { f.circuit[31] ^= 0x80; }},
      {"layout", [](SlotFields& f) { f.layout = 2; }},
      {"layout", [](SlotFields& f) { f.layout = 0; }},
      {"layout", [](SlotFields& f) { f.layout = 0x101; }},
      {"generation", [](SlotFields& f) { f.generation -= 1; }},
      {"producer", [](SlotFields& f) { f.producer ^= 1ull << 24; }},
      {"payload length", [](SlotFields& f) { f.payload_bytes += 1; }},
      {"payload length", [](SlotFields& f) { f.payload_bytes = 3 * kPageBytes + 1; }},
      {"payload length", [](SlotFields& f) { f.payload_bytes = ~0ull; }},
      {"payload checksum", [](SlotFields& f) { f.payload_checksum ^= 1; }},
  };
  for (const auto& [about, change] : changes) {
    write_and_commit();
    ASSERT_TRUE(check_slot(slot_.read_only, full_expectation()));
    tamper(change);
    expect_refused(full_expectation(), about);
  }
}

TEST_F(SlotTest, ALengthBeyondTheCapacityIsRefusedEvenWhenNoLengthIsExpected) {
  write_and_commit();
  tamper([](SlotFields& f) { f.payload_bytes = 3 * kPageBytes + 1; });
  SlotExpectation expected = full_expectation();
  expected.payload_bytes.reset();
  expect_refused(expected, "payload length");
  tamper([](SlotFields& f) { f.layout = 99; });
  expected.layout.reset();
  expect_refused(expected, "layout");
}

TEST_F(SlotTest, ACommitWordThatIsMissingOrOfOtherFieldsIsRefused) {
  expect_refused(full_expectation(), "nothing is committed");
  write_and_commit();
  auto page = Mapping::map(slot_.writable, Mapping::Access::kReadWrite, 0, kPageBytes);
  ASSERT_TRUE(page);
  auto& header = *reinterpret_cast<SlotHeader*>(page->data());
  header.commit.store(header.commit.load(std::memory_order_relaxed) ^ 1, std::memory_order_release);
  expect_refused(full_expectation(), "commit word");
  header.commit.store(0, std::memory_order_release);
  expect_refused(full_expectation(), "nothing is committed");
}

TEST_F(SlotTest, EveryFlippedHeaderBitIsRefused) {
  write_and_commit();
  auto page = Mapping::map(slot_.writable, Mapping::Access::kReadWrite, 0, kPageBytes);
  ASSERT_TRUE(page);
  for (std::size_t bit = 0; bit < 8 * sizeof(SlotFields); ++bit) {
    page->data()[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(check_slot(slot_.read_only, full_expectation())) << "bit " << bit;
    page->data()[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_TRUE(check_slot(slot_.read_only, full_expectation()));
}

TEST_F(SlotTest, AChangedPayloadIsSeenByTheChecksum) {
  write_and_commit();
  auto all = Mapping::map(slot_.writable, Mapping::Access::kReadWrite, 0, 2 * kPageBytes);
  ASSERT_TRUE(all);
  all->data()[kPageBytes + 5] ^= std::byte{1};
  EXPECT_TRUE(SlotReader::open(slot_.read_only, full_expectation()));
  auto checked = SlotReader::open(slot_.read_only, full_expectation(), SlotReader::Payload::kCheck);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message().find("checksum"), std::string::npos);
}

TEST_F(SlotTest, AnEarlierLeasesCommitIsNotTakenForThisOne) {
  write_and_commit();
  SlotExpectation expected = full_expectation();
  SlotWord next_lease = kLeased;
  next_lease.generation = next(kLeased.generation);
  expected.generation = next_lease.generation;
  expected.producer = next_lease;
  expect_refused(expected, "generation");
  // Once the new lease begins, the old commit is withdrawn for those who still expect it, too.
  auto writer = SlotWriter::open(slot_.writable, next_lease);
  ASSERT_TRUE(writer);
  writer->begin(kWork, some_digest(), AssignmentLayout::kDense);
  expect_refused(full_expectation(), "nothing is committed");
}

TEST_F(SlotTest, TheWriterRefusesWhatItCannotDo) {
  SlotWord ready = kLeased;
  ready.state = SlotState::kReady;
  EXPECT_FALSE(SlotWriter::open(slot_.writable, ready));
  EXPECT_FALSE(SlotWriter::open(slot_.read_only, kLeased));
  auto writer = SlotWriter::open(slot_.writable, kLeased);
  ASSERT_TRUE(writer);
  EXPECT_FALSE(writer->commit(1, 0)) << "commit without begin";
  writer->begin(kWork, some_digest(), AssignmentLayout::kDense);
  EXPECT_FALSE(writer->commit(slot_.capacity + 1, 0));
  EXPECT_FALSE(writer->wipe(slot_.capacity + 1));
  EXPECT_FALSE(check_slot(slot_.read_only, full_expectation()));
}

TEST_F(SlotTest, AWipedSlotHoldsNothing) {
  write_and_commit();
  auto writer = SlotWriter::open(slot_.writable, kLeased);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->wipe(kPayload.size()));
  auto all = Mapping::map(slot_.read_only, Mapping::Access::kRead, 0, kPageBytes + slot_.capacity);
  ASSERT_TRUE(all);
  for (std::size_t i = 0; i < all->size(); ++i) ASSERT_EQ(all->data()[i], std::byte{0}) << i;
}

TEST_F(SlotTest, DiscardingThePayloadGivesTheMemoryBack) {
  write_and_commit();
  ASSERT_TRUE(slot_.discard_payload());
  struct stat info {};
  ASSERT_EQ(::fstat(slot_.writable.get(), &info), 0);
  EXPECT_EQ(info.st_blocks, 0);
  expect_refused(full_expectation(), "nothing is committed");
}

TEST_F(SlotTest, WhatIsNoSlotIsRefused) {
  auto tiny = create_memfd("tiny", kPageBytes);
  auto odd = create_memfd("odd", 2 * kPageBytes + 1);
  ASSERT_TRUE(tiny && odd);
  EXPECT_FALSE(check_slot(*tiny, full_expectation()));
  EXPECT_FALSE(SlotReader::open(*tiny, full_expectation()));
  EXPECT_FALSE(SlotWriter::open(*tiny, kLeased));
  EXPECT_FALSE(check_slot(*odd, full_expectation()));
  EXPECT_FALSE(SlotMemory::create("none", 0, SlotMemory::Pages::kOnDemand));
  EXPECT_FALSE(SlotMemory::create("huge", ~0ull, SlotMemory::Pages::kOnDemand));
}

TEST_F(SlotTest, PagesNowAllocatesThemAll) {
  auto slot = SlotMemory::create("now", 1 << 20, SlotMemory::Pages::kNow);
  ASSERT_TRUE(slot) << slot.error().message();
  struct stat info {};
  ASSERT_EQ(::fstat(slot->writable.get(), &info), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(info.st_blocks) * 512, slot->capacity + kPageBytes);
}

TEST_F(SlotTest, NoRandomHeaderIsEverTakenForAnAssignment) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  write_and_commit();
  auto page = Mapping::map(slot_.writable, Mapping::Access::kReadWrite, 0, kPageBytes);
  ASSERT_TRUE(page);
  std::vector<std::byte> good(page->data(), page->data() + kPageBytes);
  for (int round = 0; round < 20'000; ++round) {
    std::memcpy(page->data(), good.data(), kPageBytes);
    for (std::uint64_t flips = random() % 6 + 1; flips > 0; --flips) {
      page->data()[random() % 136] ^= std::byte(static_cast<unsigned char>(random() | 1));
    }
    auto fields = check_slot(slot_.read_only, full_expectation());
    // The reserved bytes between fields and commit word may differ; nothing else may.
    if (fields) {
      ASSERT_EQ(std::memcmp(&*fields, good.data(), sizeof *fields), 0);
    }
  }
}

}  // namespace
}  // namespace cuzk::shm
