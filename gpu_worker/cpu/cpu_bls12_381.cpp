#include "gpu_worker/cpu/cpu_prover.inl.hpp"

namespace cuzk {

template Result<std::unique_ptr<StartedProof>> start_on_cpu<Bls12_381>(const PreparedKey&,
    const Assignment&, ThreadPool&, StepMonitor&);
template std::size_t cpu_proof_bytes<Bls12_381>(const KeyShape&, unsigned);

}  // namespace cuzk
