#include "gpu_worker/cpu/cpu_engine.hpp"

#include "common/curve/curves.hpp"
#include "gpu_worker/cpu/cpu_prover.hpp"

namespace cuzk {

MemoryNeed CpuEngine::need(const KeyShape& key, AssignmentLayout) const {
  MemoryNeed need;
  need.host_bytes = key.curve == CurveId::kBn254 ? cpu_proof_bytes<Bn254>(key, pool_.threads())
                                                 : cpu_proof_bytes<Bls12_381>(key, pool_.threads());
  return need;
}

Result<std::unique_ptr<StartedProof>> CpuEngine::start(const PreparedKey& key,
                                                       const Assignment& assignment,
                                                       StepMonitor& monitor) {
  return key.curve() == CurveId::kBn254
             ? start_on_cpu<Bn254>(key, assignment, pool_, monitor)
             : start_on_cpu<Bls12_381>(key, assignment, pool_, monitor);
}

}  // namespace cuzk
