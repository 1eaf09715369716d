// What people call the workers, for messages and reports.
#pragma once

#include <string>

#include "common/types.hpp"

namespace cuzk::supervisor {

class WorkerNames {
 public:
  virtual ~WorkerNames() = default;
  virtual std::string worker_name(WorkerIndex worker) const = 0;  // "gpu0"
  virtual std::string device_name(WorkerIndex worker) const = 0;  // "cpu"
};

}  // namespace cuzk::supervisor
