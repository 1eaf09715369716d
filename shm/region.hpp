// The memory that one worker process shares with the supervisor, page by page.
//
// One sparse memfd for each process (that is, each epoch of a worker): five small parts and two areas
// of body cells, of which only used cells cost memory. README.md has the same layout as a table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "shm/memfd.hpp"
#include "shm/ring.hpp"
#include "shm/worker_page.hpp"

namespace cuzk::shm {

inline constexpr std::uint64_t kRegionMagic = 0x314e4745525a4b43;  // "CKZREGN1"
inline constexpr std::uint32_t kRegionVersion = 1;

// Writer: the supervisor, before the worker exists. Reader: the worker, once, when it attaches: exec
// orders the two.
struct RegionHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t worker;  // WorkerIndex
  std::uint32_t epoch;
  std::uint32_t supervisor_pid;  // whose child the worker must be
  std::uint64_t region_bytes;
  std::array<std::uint64_t, 508> reserved;
};
static_assert(sizeof(RegionHeader) == kPageBytes);

struct Region {
  RegionHeader header;
  SupervisorPage supervisor;
  WorkerPage worker;
  RingPage commands;  // producer: the supervisor, consumer: the worker
  RingPage events;    // producer: the worker, consumer: the supervisor
};
static_assert(sizeof(Region) == 6 * kPageBytes);
static_assert(offsetof(Region, supervisor) == 1 * kPageBytes);
static_assert(offsetof(Region, worker) == 2 * kPageBytes);
static_assert(offsetof(Region, commands) == 4 * kPageBytes);
static_assert(offsetof(Region, events) == 5 * kPageBytes);
static_assert(std::is_trivial_v<Region> && std::is_standard_layout_v<Region>);

inline constexpr std::uint64_t kCommandBodiesOffset = sizeof(Region);
inline constexpr std::uint64_t kEventBodiesOffset = kCommandBodiesOffset + kRingBodyBytes;
inline constexpr std::uint64_t kRegionBytes = kEventBodiesOffset + kRingBodyBytes;

// The descriptors that a worker process finds open: the launcher puts them there.
inline constexpr int kControlSocketFd = 3;
inline constexpr int kRegionFd = 4;
inline constexpr int kCommandEventFd = 5;
inline constexpr int kEventEventFd = 6;

inline RingBodies command_bodies(const Mapping& region, int memfd) {
  return {{region.data() + kCommandBodiesOffset, kRingBodyBytes}, memfd, kCommandBodiesOffset};
}
inline RingBodies event_bodies(const Mapping& region, int memfd) {
  return {{region.data() + kEventBodiesOffset, kRingBodyBytes}, memfd, kEventBodiesOffset};
}

}  // namespace cuzk::shm
