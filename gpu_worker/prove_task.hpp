// One kProve command: from a bound slot to proof bytes.
#pragma once

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "common/worker/messages.hpp"
#include "gpu_worker/engine.hpp"
#include "gpu_worker/key_cache.hpp"
#include "gpu_worker/steps.hpp"
#include "shm/slot_word.hpp"

namespace cuzk {

// Maps the slot read-only and believes none of its header: everything must be as the command and the
// slot word `bound` say, and the payload must have the checksum that its synthesis reported. Fails with
// kRetryElsewhere when it has not, and as KeyCache and Engine do.
Result<ProveResult> prove_slot(const ProveCommand& command, const UniqueFd& slot,
                               const shm::SlotWord& bound, Engine& engine, KeyCache& keys,
                               StepMonitor& monitor);

}  // namespace cuzk
