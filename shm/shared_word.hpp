// A 64-bit integer in memory that two processes map.
//
// Everything that one process publishes to another is such a word: aligned, lock-free, and without a
// constructor, so that structs made of them are trivial and a freshly created (all-zero) memfd already
// holds valid objects. Every access names its memory order; the field's comment names its partner.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace cuzk::shm {

class SharedWord {
 public:
  std::uint64_t load(std::memory_order order) const {
    // The cast is for atomic_ref's signature; a load never writes, so read-only mappings are fine.
    return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(value_)).load(order);
  }
  void store(std::uint64_t value, std::memory_order order) {
    std::atomic_ref<std::uint64_t>(value_).store(value, order);
  }

 private:
  std::uint64_t value_;
};

static_assert(sizeof(SharedWord) == 8 && alignof(SharedWord) == 8);
static_assert(std::is_trivial_v<SharedWord> && std::is_standard_layout_v<SharedWord>);
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free,
              "a lock in shared memory would be held for ever by a process that dies");
static_assert(std::atomic_ref<std::uint64_t>::required_alignment == 8);

}  // namespace cuzk::shm
