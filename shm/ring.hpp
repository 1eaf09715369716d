// A single-producer, single-consumer ring of 64-byte entries between two processes.
//
// Each entry owns a body cell of 1 MiB for messages that need more; cells are in a sparse memfd, so
// only touched ones cost memory, and a big body's pages are given back once read. The two 64-bit
// counters only grow and are each written by one side, which keeps its own private copy and never reads
// it back: a peer that dies leaves the ring readable, and a peer that goes wild is caught by arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common/result.hpp"
#include "shm/memfd.hpp"
#include "shm/shared_word.hpp"

namespace cuzk::shm {

inline constexpr std::size_t kRingEntries = 32;
inline constexpr std::size_t kBodyCellBytes = std::size_t{1} << 20;
inline constexpr std::size_t kRingBodyBytes = kRingEntries * kBodyCellBytes;
// A body of at least this size is punched out of the memfd once it is read. Smaller ones keep their
// pages, at most 8 MiB a worker: punching and faulting in again costs more than 100 us (bench_shm).
inline constexpr std::size_t kPunchBytes = std::size_t{128} << 10;

// One message without its body. Eight words in shared memory; the consumer copies them before a check.
struct RingEntry {
  std::uint16_t kind = 0;       // CommandKind or EventKind
  std::uint16_t slot = 0;       // SlotIndex
  std::uint32_t body_size = 0;  // at most kBodyCellBytes
  std::uint64_t sequence = 0;   // the counter at which it was written
  std::uint64_t task = 0;       // TaskId
  std::uint64_t slot_word = 0;
  std::array<std::uint64_t, 4> args{};
};
static_assert(sizeof(RingEntry) == 64 && std::is_trivially_copyable_v<RingEntry>);
static_assert(std::has_unique_object_representations_v<RingEntry>, "padding would leak memory");

using RingEntryWords = std::array<SharedWord, 8>;

struct RingPage {
  // Entries ever written. Writer: the producer, release, after entry and body. Reader: the consumer,
  // acquire; pairs with that release and makes entry and body visible.
  SharedWord tail;
  std::array<std::uint64_t, 15> reserved_1;
  // Entries ever read. Writer: the consumer, release, after its copies. Reader: the producer, acquire;
  // pairs with that release: an entry is overwritten only after it was copied.
  SharedWord head;
  std::array<std::uint64_t, 15> reserved_2;
  // Writer: the producer, relaxed, ordered by `tail`. Reader: the consumer, relaxed, ordered by `tail`.
  std::array<RingEntryWords, kRingEntries> entries;
  std::array<std::uint64_t, 224> reserved_3;
};
static_assert(sizeof(RingPage) == kPageBytes);
static_assert(offsetof(RingPage, tail) == 0 && offsetof(RingPage, head) == 128);
static_assert(offsetof(RingPage, entries) == 256);
static_assert(std::is_trivial_v<RingPage> && std::is_standard_layout_v<RingPage>);

// The kRingEntries body cells.
struct RingBodies {
  std::span<std::byte> memory;   // kRingBodyBytes
  int memfd = -1;                // where to punch; -1: never
  std::uint64_t memfd_offset = 0;
};

// An entry and its body, both the reader's own.
struct RingMessage {
  RingEntry entry;
  std::string body;
};

class RingProducer {
 public:
  // `name` is for errors: "command ring of worker 3". The ring must be new (all zero).
  RingProducer(RingPage& page, RingBodies bodies, std::string name)
      : page_(&page), bodies_(bodies), name_(std::move(name)) {}

  // Writes one message; `sequence` and `body_size` are filled in. Errors: kBusy when the ring is full;
  // kBug when the body is too large, or, from then on always, when the consumer's counter is impossible.
  Status push(RingEntry entry, std::span<const std::byte> body);
  // How many messages fit now. Errors: kBug as above.
  Result<std::size_t> free_entries();

 private:
  RingPage* page_;
  RingBodies bodies_;
  std::string name_;
  std::uint64_t tail_ = 0;       // the truth of which page_->tail is the copy for the peer
  std::uint64_t seen_head_ = 0;  // the consumer's counter may never be below
  bool broken_ = false;
};

class RingConsumer {
 public:
  RingConsumer(RingPage& page, RingBodies bodies, std::string name)
      : page_(&page), bodies_(bodies), name_(std::move(name)) {}

  // The next message, or nothing when the ring is empty. Errors: kBug, from then on always, when the
  // producer's counter or the entry's size or sequence is impossible. One call does bounded work.
  Result<std::optional<RingMessage>> pop();

 private:
  Error broken(std::string what);

  RingPage* page_;
  RingBodies bodies_;
  std::string name_;
  std::uint64_t head_ = 0;       // the truth of which page_->head is the copy for the peer
  std::uint64_t seen_tail_ = 0;  // the producer's counter may never be below
  std::optional<Error> broken_;
};

}  // namespace cuzk::shm
