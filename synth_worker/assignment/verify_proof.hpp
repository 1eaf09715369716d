// kVerify: whether a finished proof is valid for the public values of its assignment.
#pragma once

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "common/worker/messages.hpp"
#include "shm/slot_word.hpp"

namespace cuzk {

// The public values are variables 1 to n_public of the assignment in `slot`, whose word is `word`; they
// are part of the answer. A proof that is malformed or wrong is an answer (valid = false). Errors:
// kRetryElsewhere when the slot or the prepared key is not what the command says.
Result<VerifyResult> verify_proof(const VerifyCommand& command, const UniqueFd& slot,
                                  const shm::SlotWord& word);

}  // namespace cuzk
