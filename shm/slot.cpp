#include "shm/slot.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include "common/hash.hpp"

namespace cuzk::shm {

namespace {

constexpr const char* kWhere = "slot header";

std::uint64_t commit_word(const SlotFields& fields) {
  const std::uint64_t digest = xxh3_64(std::as_bytes(std::span(&fields, 1)));
  return digest == 0 ? 1 : digest;
}

// A slot that fails its check is the writer's fault or an old one: another attempt may succeed.
Error refused(std::string what) { return {ErrorClass::kRetryElsewhere, std::move(what), kWhere, {}}; }

Status expect(const char* field, std::uint64_t found, std::uint64_t expected) {
  if (found == expected) return {};
  return refused(fmt::format("{} is {}, expected {}", field, found, expected));
}

bool known_layout(std::uint32_t layout) {
  return layout == static_cast<std::uint32_t>(AssignmentLayout::kDense);
}

Status check_optional(const SlotFields& fields, const SlotExpectation& expected) {
  if (expected.circuit &&
      std::memcmp(fields.circuit, expected.circuit->data(), sizeof fields.circuit) != 0) {
    return refused("circuit is another one than expected");
  }
  if (expected.producer) {
    CUZK_CHECK(expect("producer", fields.producer, expected.producer->pack()));
  }
  if (expected.layout) {
    CUZK_CHECK(expect("layout", fields.layout, static_cast<std::uint64_t>(*expected.layout)));
  }
  if (expected.payload_bytes) {
    CUZK_CHECK(expect("payload length", fields.payload_bytes, *expected.payload_bytes));
  }
  if (expected.payload_checksum) {
    CUZK_CHECK(expect("payload checksum", fields.payload_checksum, *expected.payload_checksum));
  }
  return {};
}

// Checks a mapped header; returns the copy that was checked, which the writer can no longer change.
Result<SlotFields> check_header(const SlotHeader& header, std::uint64_t capacity,
                                const SlotExpectation& expected) {
  // Pairs with the release in SlotWriter::commit.
  const std::uint64_t commit = header.commit.load(std::memory_order_acquire);
  SlotFields fields;
  std::memcpy(&fields, &header.fields, sizeof fields);
  if (commit == 0) return refused("nothing is committed");
  CUZK_CHECK(expect("magic", fields.magic, kSlotMagic));
  CUZK_CHECK(expect("version", fields.version, kSlotVersion));
  CUZK_CHECK(expect("header size", fields.header_bytes, kPageBytes));
  CUZK_CHECK(expect("job", fields.job, expected.work.job.value));
  CUZK_CHECK(expect("partition", fields.partition, expected.work.partition));
  CUZK_CHECK(expect("attempt", fields.attempt, expected.work.attempt));
  CUZK_CHECK(expect("generation", fields.generation, expected.generation.value));
  if (!known_layout(fields.layout)) return refused(fmt::format("layout {} is unknown", fields.layout));
  if (fields.payload_bytes > capacity) {
    return refused(fmt::format("payload length {} exceeds the capacity {}", fields.payload_bytes,
                               capacity));
  }
  CUZK_CHECK(check_optional(fields, expected));
  if (commit != commit_word(fields)) return refused("the commit word does not match the fields");
  return fields;
}

// Payload bytes of a sealed slot; the size fits the address space.
Result<std::uint64_t> capacity_of(const UniqueFd& slot) {
  CUZK_TRY(size, sealed_size(slot));
  if (size <= kPageBytes || size % kPageBytes != 0 ||
      size > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max())) {
    return bug(fmt::format("a file of {} bytes is no slot", size), "slot");
  }
  return size - kPageBytes;
}

}  // namespace

Result<SlotMemory> SlotMemory::create(const char* name, std::uint64_t capacity, Pages pages) {
  std::uint64_t rounded = 0;
  if (capacity == 0 || !round_up_to_pages(capacity, rounded) ||
      rounded > std::numeric_limits<std::int64_t>::max() - kPageBytes) {
    return bug(fmt::format("{} bytes are no slot size", capacity), name);
  }
  SlotMemory slot;
  slot.capacity = rounded;
  CUZK_TRY(writable, create_memfd(name, rounded + kPageBytes));
  if (pages == Pages::kNow) CUZK_CHECK(populate(writable, rounded + kPageBytes));
  CUZK_TRY(read_only, reopen_read_only(writable));
  slot.writable = std::move(writable);
  slot.read_only = std::move(read_only);
  return slot;
}

Status SlotMemory::discard_payload() const {
  return punch(writable.get(), 0, capacity + kPageBytes);
}

Result<SlotFields> check_slot(const UniqueFd& slot, const SlotExpectation& expected) {
  CUZK_TRY(capacity, capacity_of(slot));
  CUZK_TRY(page, Mapping::map(slot, Mapping::Access::kRead, 0, kPageBytes));
  return check_header(*reinterpret_cast<const SlotHeader*>(page.data()), capacity, expected);
}

Result<SlotWriter> SlotWriter::open(const UniqueFd& slot, const SlotWord& leased,
                                    Mapping::Prefault prefault) {
  if (leased.state != SlotState::kLeased) {
    return bug(fmt::format("a slot that is {} cannot be written", name_of(leased.state)), "slot");
  }
  CUZK_TRY(capacity, capacity_of(slot));
  CUZK_TRY(mapping,
           Mapping::map(slot, Mapping::Access::kReadWrite, 0, capacity + kPageBytes, prefault));
  return SlotWriter(std::move(mapping), leased);
}

void SlotWriter::begin(const WorkId& work, const Digest& circuit, AssignmentLayout layout) {
  // If we die before this store, an earlier lease's commit word is still there; its generation is not
  // the one that a reader expects: AnEarlierLeasesCommitIsNotTakenForThisOne.
  header().commit.store(0, std::memory_order_relaxed);
  fields_ = {};
  fields_.magic = kSlotMagic;
  fields_.version = kSlotVersion;
  fields_.header_bytes = kPageBytes;
  fields_.job = work.job.value;
  fields_.partition = work.partition;
  fields_.attempt = work.attempt;
  std::memcpy(fields_.circuit, circuit.data(), circuit.size());
  fields_.layout = static_cast<std::uint32_t>(layout);
  fields_.generation = leased_.generation.value;
  fields_.producer = leased_.pack();
}

Status SlotWriter::commit(std::uint64_t payload_bytes, std::uint64_t payload_checksum) {
  if (fields_.magic != kSlotMagic) return bug("commit without begin", "slot");
  if (payload_bytes > capacity()) {
    return bug(fmt::format("a payload of {} bytes exceeds the slot's {}", payload_bytes, capacity()),
               "slot");
  }
  fields_.payload_bytes = payload_bytes;
  fields_.payload_checksum = payload_checksum;
  std::memcpy(&header().fields, &fields_, sizeof fields_);
  // If we die here, all is written and nothing is committed: the slot becomes FREE and the partition is
  // queued again (DeathBeforeTheCommitWordFreesTheSlot). After the store nothing is lost
  // (DeathAfterTheCommitWordKeepsThePayload). Release; pairs with the acquire in `check_header`.
  header().commit.store(commit_word(fields_), std::memory_order_release);
  return {};
}

Status SlotWriter::wipe(std::uint64_t payload_bytes) {
  if (payload_bytes > capacity()) {
    return bug(fmt::format("cannot wipe {} bytes of a slot of {}", payload_bytes, capacity()), "slot");
  }
  header().commit.store(0, std::memory_order_relaxed);
  // explicit_bzero is not optimised away although nobody here reads the bytes again.
  ::explicit_bzero(mapping_.data(), kPageBytes + static_cast<std::size_t>(payload_bytes));
  fields_ = {};
  return {};
}

Result<SlotReader> SlotReader::open(const UniqueFd& slot, const SlotExpectation& expected,
                                    Payload payload, Mapping::Prefault prefault) {
  CUZK_TRY(capacity, capacity_of(slot));
  CUZK_TRY(mapping,
           Mapping::map(slot, Mapping::Access::kRead, 0, capacity + kPageBytes, prefault));
  CUZK_TRY(fields, check_header(*reinterpret_cast<const SlotHeader*>(mapping.data()), capacity,
                                expected));
  SlotReader reader(std::move(mapping), fields);
  if (payload == Payload::kCheck && xxh3_64(reader.payload()) != fields.payload_checksum) {
    return Error{ErrorClass::kRetryElsewhere, "the payload does not match its checksum", "slot", {}};
  }
  return reader;
}

}  // namespace cuzk::shm
