// kExplain: which constraint of its circuit a witness violates.
#pragma once

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "common/worker/messages.hpp"
#include "shm/slot_word.hpp"

namespace cuzk {

// Evaluates the .r1cs at command.r1cs_path with the assignment in `slot`. The text names the constraint
// and its wires, never a value. Errors: kBadRequest when the file is not an .r1cs of this circuit,
// kRetryElsewhere when the slot is not what the command says.
Result<ExplainResult> explain(const ExplainCommand& command, const UniqueFd& slot,
                              const shm::SlotWord& word);

}  // namespace cuzk
