// Proving on the CPU, for one curve.
//
// The steps run one after the other, each on all threads, in an order that keeps memory low: the three
// arrays of constraint values live until the quotient, then only its scalars until they met the H points,
// and the other sums need nothing but the witness, which stays in the slot.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "common/groth16/prepared_key.hpp"
#include "common/result.hpp"
#include "common/thread_pool.hpp"
#include "gpu_worker/engine.hpp"
#include "gpu_worker/steps.hpp"

namespace cuzk {

// Engine::start for a key of `Curve`. Explicit instantiations are in cpu_bn254.cpp and
// cpu_bls12_381.cpp.
template <class Curve>
Result<std::unique_ptr<StartedProof>> start_on_cpu(const PreparedKey& key,
                                                   const Assignment& assignment, ThreadPool& pool,
                                                   StepMonitor& monitor);

// Bytes that start_on_cpu allocates at most.
template <class Curve>
std::size_t cpu_proof_bytes(const KeyShape& key, unsigned threads);

}  // namespace cuzk
