// kWipeSlot: removes an assignment from its slot before the slot is used again.
#pragma once

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "common/worker/messages.hpp"
#include "shm/slot_word.hpp"

namespace cuzk {

// Overwrites the header and command.payload_bytes of the payload with zeros.
Status wipe_slot(const WipeSlotCommand& command, const UniqueFd& slot, const shm::SlotWord& word);

}  // namespace cuzk
