// The supervisor's side of a worker's event ring, with a worker that writes what it likes.
//
// The input is a script of the worker: publish an event, scribble over an entry, set the counter,
// give the supervisor a turn. Whatever it does, the supervisor gets events within bounds, or an
// error for ever.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <unistd.h>

#include "common/formats/byte_reader.hpp"
#include "shm/channel.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace cuzk;

namespace {

class WildWorker {
 public:
  WildWorker(shm::WorkerChannel& channel, shm::Mapping& mapping)
      : channel_(channel),
        mapping_(mapping),
        ring_(reinterpret_cast<shm::Region*>(mapping.data())->events) {}

  void run(ByteReader script) {
    std::uint8_t step = 0;
    while (script.read(step)) {
      switch (step % 4) {
        case 0: publish(script); break;
        case 1: scribble(script); break;
        case 2: set_counter(script); break;
        default: supervisor_turn(); break;
      }
    }
    supervisor_turn();
  }

 private:
  // An event as a worker should write it, with the kind and body of the script.
  void publish(ByteReader& script) {
    std::uint8_t kind = 0;
    std::uint8_t size = 0;
    std::span<const std::byte> body;
    if (!script.read(kind) || !script.read(size)) return;
    if (!script.take(std::min<std::size_t>(size, script.remaining()), body)) return;
    shm::RingEntry entry;
    entry.kind = kind % 6;
    entry.body_size = static_cast<std::uint32_t>(body.size());
    entry.sequence = tail_;
    entry.task = 1;
    const std::size_t cell = tail_ % shm::kRingEntries;
    if (!body.empty()) {
      std::memcpy(mapping_.data() + shm::kEventBodiesOffset + cell * shm::kBodyCellBytes,
                  body.data(), body.size());
    }
    store(cell, entry);
    ring_.tail.store(++tail_, std::memory_order_release);
  }
  void scribble(ByteReader& script) {
    std::uint8_t cell = 0;
    std::span<const std::byte> bytes;
    shm::RingEntry entry;
    if (!script.read(cell) || !script.take(sizeof entry, bytes)) return;
    std::memcpy(&entry, bytes.data(), sizeof entry);
    store(cell % shm::kRingEntries, entry);
  }
  void set_counter(ByteReader& script) {
    if (script.read(tail_)) ring_.tail.store(tail_, std::memory_order_release);
  }
  void store(std::size_t cell, const shm::RingEntry& entry) {
    std::array<std::uint64_t, 8> words;
    std::memcpy(words.data(), &entry, sizeof entry);
    for (std::size_t i = 0; i < words.size(); ++i) {
      ring_.entries[cell][i].store(words[i], std::memory_order_relaxed);
    }
  }

  void supervisor_turn() {
    for (std::size_t i = 0; i < 2 * shm::kRingEntries; ++i) {
      const auto event = channel_.pop_event();
      if (!event) {
        fuzz::require(event.error().error_class == ErrorClass::kBug, "a wild worker is a bug");
        broken_ = true;
        return;
      }
      fuzz::require(!broken_, "an error is for ever");
      if (!*event) return;
      look_at(**event);
    }
  }
  void look_at(const shm::Event& event) {
    fuzz::require(event.body.size() <= shm::kBodyCellBytes, "bodies are bounded");
    if (event.kind == EventKind::kFailed) {
      const Error error = event.failure();
      fuzz::require(std::string_view(name_of(error.error_class)) != "unknown",
                    "a failure has a class that exists");
    }
    if (event.kind == EventKind::kProgress && event.as<TaskProgress>()) ++readable_;
    if (event.kind == EventKind::kDone && event.as<ProveResult>()) ++readable_;
    if (event.kind == EventKind::kDone && event.as<KeyInfo>()) ++readable_;
  }

  shm::WorkerChannel& channel_;
  shm::Mapping& mapping_;
  shm::RingPage& ring_;
  std::uint64_t tail_ = 0;
  std::size_t readable_ = 0;
  bool broken_ = false;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto channel = shm::WorkerChannel::create(WorkerIndex{1}, Epoch{1});
  fuzz::require(channel.ok(), "a channel can be made");
  const UniqueFd region(::dup(channel->child_fds()[1]));
  auto mapping = shm::Mapping::map(region, shm::Mapping::Access::kReadWrite, 0, shm::kRegionBytes);
  fuzz::require(mapping.ok(), "a worker can map its region");
  WildWorker(*channel, *mapping).run(ByteReader(fuzz::bytes_of(data, size)));
  return 0;
}
