// The definitions of cpu_prover.hpp, for the two files that instantiate them.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "common/groth16/prepared_key_view.hpp"
#include "common/msm/msm.hpp"
#include "common/ntt/ntt.hpp"
#include "gpu_worker/assembly.hpp"
#include "gpu_worker/cpu/cpu_prover.hpp"
#include "gpu_worker/cpu/evaluate.hpp"
#include "gpu_worker/cpu/quotient.hpp"
#include "gpu_worker/cpu/zeroed_array.hpp"

namespace cuzk {

template <class Curve>
class CpuStartedProof final : public StartedProof {
 public:
  CpuStartedProof(const ProofConstants<Curve>& constants, const ProofSums<Curve>& sums)
      : constants_(constants), sums_(sums) {}

  Result<std::string> finish(const Blinding& blinding, StepMonitor& monitor) override {
    CUZK_CHECK(monitor.begin(Step::kFinish));
    std::string proof = encode_proof(assemble_proof(constants_, sums_, blinding));
    monitor.end();
    return proof;
  }

 private:
  ProofConstants<Curve> constants_;
  ProofSums<Curve> sums_;
};

template <class Curve>
class CpuProver {
 public:
  CpuProver(const PreparedKeyView<Curve>& key, ThreadPool& pool, StepMonitor& monitor)
      : key_(key), pool_(pool), monitor_(monitor) {}

  Result<std::unique_ptr<StartedProof>> run(const Assignment& assignment) {
    CUZK_CHECK(monitor_.begin(Step::kUpload));
    CUZK_CHECK(take(assignment));
    CUZK_CHECK(monitor_.begin(Step::kExpand));
    CUZK_CHECK(check_witness());
    ProofSums<Curve> sums;
    CUZK_CHECK(sum_h(sums.h));
    CUZK_CHECK(sum(Step::kMsmL, sums.l, key_.l, key_.l_variables));
    CUZK_CHECK(sum(Step::kMsmA, sums.a, key_.a, key_.a_variables));
    CUZK_CHECK(sum(Step::kMsmB1, sums.b1, key_.b1, key_.b_variables));
    CUZK_CHECK(sum(Step::kMsmB2, sums.b2, key_.b2, key_.b_variables));
    monitor_.end();
    return std::unique_ptr<StartedProof>(
        std::make_unique<CpuStartedProof<Curve>>(ProofConstants<Curve>(key_), sums));
  }

 private:
  using Fr = typename Curve::Fr;
  using Integer = typename Fr::Integer;
  static_assert(sizeof(Integer) == kScalarBytes && sizeof(Fr) == sizeof(Integer));

  // The dense layout is what the arithmetic reads, so nothing moves.
  Status take(const Assignment& assignment) {
    if (assignment.layout != AssignmentLayout::kDense) {
      return Error{ErrorClass::kBug, "the layout of the assignment is unknown", "slot", {}};
    }
    const std::uint64_t wanted = key_.shape.n_variables * kScalarBytes;
    if (assignment.payload.size() != wanted ||
        reinterpret_cast<std::uintptr_t>(assignment.payload.data()) % alignof(Integer) != 0) {
      return bug(fmt::format("the assignment has {} bytes, the circuit wants {}",
                             assignment.payload.size(), wanted),
                 "slot");
    }
    witness_ = {reinterpret_cast<const Integer*>(assignment.payload.data()),
                key_.shape.n_variables};
    return {};
  }

  // The arithmetic below relies on canonical integers, and the key on variable 0 being one.
  Status check_witness() const {
    constexpr std::size_t kGrain = 16384;
    std::atomic<bool> canonical = true;
    pool_.parallel_for(0, witness_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      const bool all = std::all_of(witness_.begin() + static_cast<std::ptrdiff_t>(begin),
                                   witness_.begin() + static_cast<std::ptrdiff_t>(end),
                                   [](const Integer& value) { return Fr::is_canonical(value); });
      if (!all) canonical.store(false, std::memory_order_relaxed);
    });
    if (!canonical.load(std::memory_order_relaxed)) {
      return bug("a value of the assignment is not below the order of the field", "slot");
    }
    if (Fr::from_integer(witness_[0]) != Fr::one()) {
      return bug("variable 0 of the assignment is not one", "slot");
    }
    return {};
  }

  // Evaluate, quotient and the MSM over H: the array of scalars lives in here only.
  Status sum_h(Jacobian<G1Of<Curve>>& sum) {
    CUZK_CHECK(monitor_.begin(Step::kEvaluate));
    const std::size_t n = key_.shape.domain_size;
    ZeroedArray<Fr> a(n);
    {
      ZeroedArray<Fr> b(n);
      ZeroedArray<Fr> c(n);
      evaluate<Fr>(key_.matrix_a, key_.matrix_b, witness_, a.span(), b.span(), c.span(), pool_);
      CUZK_CHECK(monitor_.begin(Step::kQuotient));
      const auto log_n = static_cast<unsigned>(std::countr_zero(n));
      const auto domain = quotient_domain<Fr>(key_.shape.quotient, log_n, pool_);
      quotient(domain, a.span(), b.span(), c.span(), pool_);
    }
    CUZK_CHECK(monitor_.begin(Step::kMsmH));
    const std::span<const Integer> scalars(reinterpret_cast<const Integer*>(a.span().data()), n);
    sum = msm<G1Of<Curve>>({key_.h, scalars, {}}, pool_);
    return {};
  }

  template <class Group>
  Status sum(Step step, Jacobian<Group>& sum, std::span<const Affine<Group>> points,
             std::span<const std::uint32_t> variables) {
    CUZK_CHECK(monitor_.begin(step));
    sum = points.empty() ? Jacobian<Group>::infinity()
                         : msm<Group>({points, witness_, variables}, pool_);
    return {};
  }

  const PreparedKeyView<Curve>& key_;
  ThreadPool& pool_;
  StepMonitor& monitor_;
  std::span<const Integer> witness_;
};

template <class Curve>
Result<std::unique_ptr<StartedProof>> start_on_cpu(const PreparedKey& key,
                                                   const Assignment& assignment, ThreadPool& pool,
                                                   StepMonitor& monitor) {
  const PreparedKeyView<Curve> view = view_of<Curve>(key);
  return CpuProver<Curve>(view, pool, monitor).run(assignment);
}

template <class Curve>
std::size_t cpu_proof_bytes(const KeyShape& key, unsigned threads) {
  using Fr = typename Curve::Fr;
  using G1 = G1Of<Curve>;
  using G2 = G2Of<Curve>;
  const std::size_t column = key.domain_size * sizeof(Fr);
  const auto log_n = static_cast<unsigned>(std::countr_zero(key.domain_size));
  const std::size_t quotient = 3 * column + NttDomain<Fr>::table_size(log_n) * sizeof(Fr);
  const std::size_t h = column + msm_scratch_bytes<G1>(key.domain_size, threads);
  const std::size_t others =
      std::max(msm_scratch_bytes<G1>(std::max({key.n_l, key.n_a, key.n_b}), threads),
               msm_scratch_bytes<G2>(key.n_b, threads));
  return std::max({quotient, h, others});
}

}  // namespace cuzk
