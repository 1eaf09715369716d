// Memory for one ring, in a memfd so that a forked child shares it.
#pragma once

#include <gtest/gtest.h>

#include "shm/memfd.hpp"
#include "shm/ring.hpp"

namespace cuzk::shm {

class RingMemory {
 public:
  RingMemory() {
    auto memfd = create_memfd("ring test", kPageBytes + kRingBodyBytes);
    if (!memfd) throw std::runtime_error(memfd.error().message());
    memfd_ = *std::move(memfd);
    auto mapping =
        Mapping::map(memfd_, Mapping::Access::kReadWrite, 0, kPageBytes + kRingBodyBytes);
    if (!mapping) throw std::runtime_error(mapping.error().message());
    mapping_ = *std::move(mapping);
  }
  RingPage& page() { return *reinterpret_cast<RingPage*>(mapping_.data()); }
  RingBodies bodies() {
    return {{mapping_.data() + kPageBytes, kRingBodyBytes}, memfd_.get(), kPageBytes};
  }
  int memfd() const { return memfd_.get(); }
  RingProducer producer() { return RingProducer(page(), bodies(), "test ring"); }
  RingConsumer consumer() { return RingConsumer(page(), bodies(), "test ring"); }

 private:
  UniqueFd memfd_;
  Mapping mapping_;
};

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// What message `i` of a test carries: sizes from 0 to beyond the punching threshold, every byte known.
inline std::string body_of(std::uint64_t i) {
  static constexpr std::size_t kSizes[] = {0, 1, 63, 64, 65, 200, 1000, 4096};
  std::string body(i % 64 == 3 ? kPunchBytes + 1 : kSizes[i % std::size(kSizes)], '\0');
  for (std::size_t k = 0; k < body.size(); ++k) body[k] = static_cast<char>(i * 131 + k * 7);
  return body;
}

inline RingEntry entry_of(std::uint64_t i) {
  RingEntry entry;
  entry.kind = static_cast<std::uint16_t>(i);
  entry.slot = static_cast<std::uint16_t>(i >> 3);
  entry.task = i * 0x9e3779b97f4a7c15u;
  entry.slot_word = ~i;
  entry.args = {i, i + 1, i + 2, i + 3};
  return entry;
}

inline void expect_message(const RingMessage& message, std::uint64_t i) {
  const RingEntry expected = entry_of(i);
  ASSERT_EQ(message.entry.sequence, i);
  ASSERT_EQ(message.entry.kind, expected.kind);
  ASSERT_EQ(message.entry.slot, expected.slot);
  ASSERT_EQ(message.entry.task, expected.task);
  ASSERT_EQ(message.entry.slot_word, expected.slot_word);
  ASSERT_EQ(message.entry.args, expected.args);
  ASSERT_TRUE(message.body == body_of(i)) << "body of message " << i;
}

}  // namespace cuzk::shm
