// An assignment slot: one memfd with a header page and a payload that carries a witness.
//
// The writer fills header and payload and stores the commit word last; whoever reads loads the commit
// word first and then checks every field against what the supervisor told it. A writer may die or go
// wild at any instruction: a slot is either whole, checked and immutable, or it is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/result.hpp"
#include "common/types.hpp"
#include "common/unique_fd.hpp"
#include "common/worker/messages.hpp"
#include "shm/memfd.hpp"
#include "shm/shared_word.hpp"
#include "shm/slot_word.hpp"

namespace cuzk::shm {

inline constexpr std::uint64_t kSlotMagic = 0x31544f4c534b5a43;  // "CZKSLOT1"
inline constexpr std::uint32_t kSlotVersion = 1;

// What the header says about the payload. Writer: the lease's owner, plain stores before the commit
// word. Readers: the supervisor, device processes and verifiers, only as a copy that they then check.
struct SlotFields {
  std::uint64_t magic;      // kSlotMagic
  std::uint32_t version;    // kSlotVersion
  std::uint32_t header_bytes;  // kPageBytes: where the payload begins
  std::uint64_t job;
  std::uint32_t partition;
  std::uint32_t attempt;
  std::uint8_t circuit[32];
  std::uint32_t layout;      // AssignmentLayout
  std::uint32_t generation;  // of the lease
  std::uint64_t producer;    // the slot word of the lease: owner and epoch, for crash records
  std::uint64_t payload_bytes;
  std::uint64_t payload_checksum;  // XXH3-64 of the payload
};
static_assert(sizeof(SlotFields) == 96);
static_assert(std::is_trivial_v<SlotFields> && std::is_standard_layout_v<SlotFields>);

// The first page of a slot.
struct SlotHeader {
  SlotFields fields;
  std::uint8_t reserved_1[32];
  // XXH3-64 of `fields`, or 1 where that is 0; 0 while nothing is committed. Writer: the lease's owner,
  // release, its last store. Readers: acquire, before `fields` and payload; pairs with that release, so
  // a reader that sees the word sees everything it vouches for.
  SharedWord commit;
  std::uint8_t reserved_2[kPageBytes - 136];
};
static_assert(sizeof(SlotHeader) == kPageBytes);
static_assert(offsetof(SlotHeader, commit) == 128);
static_assert(std::is_trivial_v<SlotHeader> && std::is_standard_layout_v<SlotHeader>);

// What a reader must find. A field without a value is not compared (its own bounds still are).
struct SlotExpectation {
  WorkId work;
  Generation generation;
  std::optional<Digest> circuit;
  std::optional<SlotWord> producer;  // the word of the lease
  std::optional<AssignmentLayout> layout;
  std::optional<std::uint64_t> payload_bytes;
  std::optional<std::uint64_t> payload_checksum;
};

// The supervisor's hold of a slot: both descriptors, no mapping.
struct SlotMemory {
  UniqueFd writable;   // goes only to the process that holds the lease
  UniqueFd read_only;  // goes to device processes and verifiers
  std::uint64_t capacity = 0;  // payload bytes, a multiple of the page size

  enum class Pages { kOnDemand, kNow };
  // `capacity` is rounded up to pages. kNow allocates all pages, about 0.4 s a GiB. Errors: kRetryHere.
  static Result<SlotMemory> create(const char* name, std::uint64_t capacity, Pages pages);
  // Gives all pages back to the system: wipes at once, at the price of a new first touch.
  Status discard_payload() const;
};

// Maps only the header and checks it: the supervisor's way, which touches no payload. Returns the
// checked copy. Errors: kRetryElsewhere, naming the field ("nothing is committed" included).
Result<SlotFields> check_slot(const UniqueFd& slot, const SlotExpectation& expected);

// The lease's owner. Usage: open, begin, fill payload(), commit.
class SlotWriter {
 public:
  // `leased` is the command's slot word. Maps the whole slot; fails when it is not sealed or too small.
  static Result<SlotWriter> open(const UniqueFd& slot, const SlotWord& leased,
                                 Mapping::Prefault prefault = Mapping::Prefault::kNo);

  std::uint64_t capacity() const { return mapping_.size() - kPageBytes; }
  // Writable before `commit`; after it, not to be touched.
  std::span<std::byte> payload() { return {mapping_.data() + kPageBytes, capacity()}; }

  // Withdraws an earlier commit and names the work that the payload will carry.
  void begin(const WorkId& work, const Digest& circuit, AssignmentLayout layout);
  // Publishes the first `payload_bytes` of the payload. `payload_checksum` is their xxh3_64.
  Status commit(std::uint64_t payload_bytes, std::uint64_t payload_checksum);
  // Zeroes the header and the first `payload_bytes` (at most the capacity).
  Status wipe(std::uint64_t payload_bytes);

 private:
  SlotWriter(Mapping mapping, const SlotWord& leased)
      : mapping_(std::move(mapping)), leased_(leased) {}
  SlotHeader& header() { return *reinterpret_cast<SlotHeader*>(mapping_.data()); }

  Mapping mapping_;
  SlotWord leased_;
  SlotFields fields_{};  // the private copy that becomes the header
};

// A process that reads an assignment.
class SlotReader {
 public:
  enum class Payload { kTrust, kCheck };  // kCheck: the checksum is computed again

  // Maps the slot read-only and checks the header. Errors: kRetryElsewhere, naming the field.
  static Result<SlotReader> open(const UniqueFd& slot, const SlotExpectation& expected,
                                 Payload payload = Payload::kTrust,
                                 Mapping::Prefault prefault = Mapping::Prefault::kNo);

  const SlotFields& fields() const { return fields_; }
  AssignmentLayout layout() const { return static_cast<AssignmentLayout>(fields_.layout); }
  // Exactly fields().payload_bytes bytes, page-aligned.
  std::span<const std::byte> payload() const {
    return {mapping_.data() + kPageBytes, static_cast<std::size_t>(fields_.payload_bytes)};
  }

 private:
  SlotReader(Mapping mapping, const SlotFields& fields)
      : mapping_(std::move(mapping)), fields_(fields) {}
  Mapping mapping_;
  SlotFields fields_;
};

}  // namespace cuzk::shm
