// The slot table: who may do what with each assignment slot. The supervisor alone writes it.
//
//     FREE ──lease──▶ LEASED ──commit──▶ READY ──bind──▶ BOUND ──finish──▶ DONE ──release──▶ FREE
//                       │ ▲                ▲ ▲─unbind/death─┘                │ │
//      release, death ──┘ └── lease_for_wipe (from DONE) ───│────────────────┘ │
//                                          └───────────── reopen ──────────────┘
//     READY ──discard──▶ DONE      LEASED, BOUND ──owner cannot be reaped──▶ RETIRED ──reaped──▶ FREE
//
// A transition that the picture does not have is refused with kBug and changes nothing. Each names the
// word that the caller believes to be current, so that a decision about an earlier use of the slot
// cannot hit a later one. The table works on memory that it is given; put into a memfd it outlives the
// supervisor, because every transition is one store.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "common/result.hpp"
#include "common/types.hpp"
#include "shm/shared_word.hpp"
#include "shm/slot_word.hpp"

namespace cuzk::shm {

inline constexpr std::size_t kMaxSlots = std::size_t{1} << 16;  // what a SlotIndex can name

class SlotTable {
 public:
  // What became of one slot of a dead worker.
  struct Outcome {
    SlotIndex slot;
    SlotWord before;
    SlotWord after;
  };
  // Says whether the slot's header holds the commit word and fields of this lease; see `check_slot`.
  using CommitCheck = std::function<bool(SlotIndex, const SlotWord& leased)>;

  // Takes over the words as they are. Fails with kBug, naming the slot, when one is no slot word.
  static Result<SlotTable> adopt(std::span<SharedWord> words);
  // Makes every slot FREE with generation 0; words beyond kMaxSlots are left alone.
  static SlotTable format(std::span<SharedWord> words);

  std::size_t size() const { return words_.size(); }
  // The slot's present word; `slot` must be below size().
  SlotWord word(SlotIndex slot) const;

  // FREE → LEASED to this process, with the next generation.
  Result<SlotWord> lease(SlotIndex slot, WorkerIndex owner, Epoch epoch);
  // LEASED → READY. The caller has seen the owner's answer and checked the header (`check_slot`).
  Result<SlotWord> commit(SlotIndex slot, const SlotWord& current);
  // READY → BOUND to a device process.
  Result<SlotWord> bind(SlotIndex slot, const SlotWord& current, WorkerIndex owner, Epoch epoch);
  // BOUND → READY: the device process gave it back unproved.
  Result<SlotWord> unbind(SlotIndex slot, const SlotWord& current);
  // BOUND → DONE: the device process answered with a proof.
  Result<SlotWord> finish(SlotIndex slot, const SlotWord& current);
  // READY → DONE: nobody wants the proof any more.
  Result<SlotWord> discard(SlotIndex slot, const SlotWord& current);
  // DONE → READY: the proof was wrong, prove again. The payload is still what was committed.
  Result<SlotWord> reopen(SlotIndex slot, const SlotWord& current);
  // DONE → LEASED to the process that zeroes the payload, with the next generation, so that no reader
  // takes what is left for an assignment.
  Result<SlotWord> lease_for_wipe(SlotIndex slot, const SlotWord& current, WorkerIndex owner,
                                  Epoch epoch);
  // LEASED → FREE: the living owner gave it back (wiped, or its synthesis failed); DONE → FREE.
  Result<SlotWord> release(SlotIndex slot, const SlotWord& current);

  // The process (owner, epoch) is dead and reaped: LEASED → READY when `committed` says so, else FREE;
  // BOUND → READY; RETIRED → FREE. Slots of others are untouched. A slot that became FREE may hold
  // parts of a witness: give its pages back with SlotMemory::discard_payload.
  std::vector<Outcome> on_owner_death(WorkerIndex owner, Epoch epoch, const CommitCheck& committed);
  // The process (owner, epoch) was killed but is not reaped: its LEASED and BOUND slots → RETIRED.
  // They come back with on_owner_death, when its pidfd fires.
  std::vector<Outcome> on_owner_unreapable(WorkerIndex owner, Epoch epoch);

 private:
  explicit SlotTable(std::span<SharedWord> words) : words_(words) {}
  Result<SlotWord> move(const char* transition, SlotIndex slot, const SlotWord& current,
                        std::initializer_list<SlotState> from, const SlotWord& after);
  void store(SlotIndex slot, const SlotWord& word);

  // Writer: the supervisor, release. Readers: the supervisor; a later supervisor that adopts the
  // memory, acquire (in `word`): a state is never seen before what led to it.
  std::span<SharedWord> words_;
};

}  // namespace cuzk::shm
