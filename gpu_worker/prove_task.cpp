#include "gpu_worker/prove_task.hpp"

#include <utility>

#include "shm/slot.hpp"

namespace cuzk {

Result<ProveResult> prove_slot(const ProveCommand& command, const UniqueFd& slot,
                               const shm::SlotWord& bound, Engine& engine, KeyCache& keys,
                               StepMonitor& monitor) {
  shm::SlotExpectation expected;
  expected.work = command.work;
  expected.circuit = command.circuit;
  expected.generation = bound.generation;
  expected.layout = command.layout;
  expected.payload_bytes = command.payload_bytes;
  expected.payload_checksum = command.payload_checksum;
  CUZK_TRY(reader, shm::SlotReader::open(slot, expected, shm::SlotReader::Payload::kCheck));
  CUZK_TRY(key, keys.get(command.circuit, command.key_path));
  const Assignment assignment{reader.layout(), reader.payload()};
  CUZK_TRY(started, engine.start(*key, assignment, monitor));
  CUZK_TRY(blinding, draw_blinding(key->curve()));
  CUZK_TRY(proof, started->finish(blinding, monitor));
  monitor.end();
  return ProveResult{std::move(proof), monitor.times()};
}

}  // namespace cuzk
