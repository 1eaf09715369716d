// The compiled circuits that a worker has loaded, least recently used first to go.
//
// Loading costs a dynamic link of some megabytes; a service proves the same few circuits all day. An
// entry belongs to a file, not to a path: a circuit that was removed and added again is another one.
#pragma once

#include <cstddef>
#include <ctime>
#include <filesystem>
#include <list>
#include <string>

#include <sys/types.h>

#include "common/result.hpp"
#include "synth_worker/circom/calculator.hpp"

namespace cuzk {

class CalculatorCache {
 public:
  explicit CalculatorCache(std::size_t capacity) : capacity_(capacity) {}

  // The calculator is valid until the next call. Errors: as CircuitCalculator::load, and kBadRequest when
  // there is no such file.
  Result<const CircuitCalculator*> get(const std::filesystem::path& object);

 private:
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    std::time_t seconds = 0;
    long nanoseconds = 0;
    bool operator==(const Identity&) const = default;
  };
  struct Entry {
    std::string path;
    Identity identity;
    CircuitCalculator calculator;
  };

  std::size_t capacity_;
  std::list<Entry> entries_;  // most recently used first
};

}  // namespace cuzk
