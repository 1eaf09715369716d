// kSynthesise: from a job's input to a committed assignment in its slot.
#pragma once

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "common/worker/messages.hpp"
#include "shm/slot_word.hpp"
#include "synth_worker/circom/add_circuit.hpp"
#include "synth_worker/circom/calculator_cache.hpp"
#include "synth_worker/task_monitor.hpp"

namespace cuzk {

// `input` is the job's file, which nobody else writes to; `slot` is leased to this process as `leased`
// says. On success the slot is committed; on failure it is wiped and not committed. Errors: kBadRequest
// for an input that is not a witness or does not fit the circuit, kRetryElsewhere when the slot or the
// prepared key is not what the command says, kOperator when the task was given up.
Result<SynthesiseResult> synthesise(const SynthesiseCommand& command, const UniqueFd& input,
                                    const UniqueFd& slot, const shm::SlotWord& leased,
                                    CalculatorCache& calculators, const CircuitSettings& settings,
                                    const TaskMonitor& monitor);

}  // namespace cuzk
