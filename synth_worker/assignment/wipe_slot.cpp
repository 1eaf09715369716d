#include "synth_worker/assignment/wipe_slot.hpp"

#include "shm/slot.hpp"

namespace cuzk {

Status wipe_slot(const WipeSlotCommand& command, const UniqueFd& slot, const shm::SlotWord& word) {
  CUZK_TRY(writer, shm::SlotWriter::open(slot, word));
  return writer.wipe(command.payload_bytes);
}

}  // namespace cuzk
