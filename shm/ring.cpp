#include "shm/ring.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace cuzk::shm {

namespace {

using PlainWords = std::array<std::uint64_t, 8>;

RingEntry load_entry(const RingEntryWords& words) {
  PlainWords plain;
  // Relaxed: ordered by the acquire of `tail`. Word by word, so that even a producer that overwrites
  // the entry meanwhile yields values and no undefined behaviour.
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = words[i].load(std::memory_order_relaxed);
  return std::bit_cast<RingEntry>(plain);
}

void store_entry(RingEntryWords& words, const RingEntry& entry) {
  const auto plain = std::bit_cast<PlainWords>(entry);
  for (std::size_t i = 0; i < plain.size(); ++i) words[i].store(plain[i], std::memory_order_relaxed);
}

}  // namespace

Result<std::size_t> RingProducer::free_entries() {
  // Acquire; pairs with the release in `pop`: the consumer has finished reading what we overwrite.
  const std::uint64_t head = page_->head.load(std::memory_order_acquire);
  if (broken_ || head < seen_head_ || head > tail_) {
    broken_ = true;
    return bug(fmt::format("the reader's counter {} is not within [{}, {}]", head, seen_head_, tail_),
               name_);
  }
  seen_head_ = head;
  return kRingEntries - static_cast<std::size_t>(tail_ - head);
}

Status RingProducer::push(RingEntry entry, std::span<const std::byte> body) {
  if (body.size() > kBodyCellBytes) {
    return bug(fmt::format("a body of {} bytes exceeds {}", body.size(), kBodyCellBytes), name_);
  }
  CUZK_TRY(free, free_entries());
  if (free == 0) return Error{ErrorClass::kBusy, "the ring is full", name_, {}};

  const std::size_t index = static_cast<std::size_t>(tail_ % kRingEntries);
  entry.body_size = static_cast<std::uint32_t>(body.size());
  entry.sequence = tail_;
  if (!body.empty()) {
    std::memcpy(bodies_.memory.data() + index * kBodyCellBytes, body.data(), body.size());
  }
  store_entry(page_->entries[index], entry);
  // If we die here, the message does not exist: AProducerKilledInTheMiddleLeavesWholeMessages.
  // Release; pairs with the acquire in `pop`.
  page_->tail.store(++tail_, std::memory_order_release);
  return {};
}

Error RingConsumer::broken(std::string what) {
  broken_ = bug(std::move(what), name_);
  return *broken_;
}

Result<std::optional<RingMessage>> RingConsumer::pop() {
  if (broken_) return *broken_;
  // Acquire; pairs with the release in `push`: entry and body are visible.
  const std::uint64_t tail = page_->tail.load(std::memory_order_acquire);
  if (tail < seen_tail_ || tail - head_ > kRingEntries) {
    return broken(fmt::format("the writer's counter {} is not within [{}, {}]", tail, seen_tail_,
                              head_ + kRingEntries));
  }
  seen_tail_ = tail;
  if (tail == head_) return std::optional<RingMessage>();

  const std::size_t index = static_cast<std::size_t>(head_ % kRingEntries);
  RingMessage message;
  message.entry = load_entry(page_->entries[index]);
  if (message.entry.sequence != head_) {
    return broken(fmt::format("entry {} says that it is entry {}", head_, message.entry.sequence));
  }
  const std::size_t size = message.entry.body_size;
  if (size > kBodyCellBytes) {
    return broken(fmt::format("a body of {} bytes exceeds {}", size, kBodyCellBytes));
  }
  const std::size_t offset = index * kBodyCellBytes;
  message.body.assign(reinterpret_cast<const char*>(bodies_.memory.data() + offset), size);
  if (size >= kPunchBytes && bodies_.memfd >= 0) {
    // Failing to give memory back costs memory only; the message is good.
    (void)punch(bodies_.memfd, bodies_.memfd_offset + offset, kBodyCellBytes);
  }
  // If we die here, the message was read and not answered; its task is open in the supervisor's
  // tables: AConsumerKilledInTheMiddleLeavesTheRingToItsProducer. Release; pairs with the acquire in
  // `free_entries`.
  page_->head.store(++head_, std::memory_order_release);
  return std::optional<RingMessage>(std::move(message));
}

}  // namespace cuzk::shm
