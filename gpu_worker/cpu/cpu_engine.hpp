// The CPU engine: a device like any other, made of threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/thread_pool.hpp"
#include "gpu_worker/engine.hpp"

namespace cuzk {

class CpuEngine final : public Engine {
 public:
  // Uses at most `threads` threads, the caller's included.
  explicit CpuEngine(unsigned threads) : pool_(threads) {}

  std::string_view name() const override { return "cpu"; }
  MemoryNeed need(const KeyShape& key, AssignmentLayout layout) const override;
  Result<std::unique_ptr<StartedProof>> start(const PreparedKey& key, const Assignment& assignment,
                                              StepMonitor& monitor) override;

 private:
  ThreadPool pool_;
};

}  // namespace cuzk
