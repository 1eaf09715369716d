// The command line of a worker process, in one place for both who writes it and who reads it.
//
// The supervisor's launcher builds it, the workers' mains parse it; nobody types it by hand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/log.hpp"
#include "common/result.hpp"
#include "common/types.hpp"

namespace cuzk {

struct WorkerOptions {
  std::string name;      // "synth0", "gpu0": for logs
  Epoch epoch;           // how many processes this worker has had; for logs and slot words
  std::string device;    // "cpu" for now; empty for a synth worker
  unsigned threads = 1;  // for the work itself, at least 1
  LogSettings log;
};

// The arguments after the program's name.
std::vector<std::string> to_arguments(const WorkerOptions& options);

// Parses argv with the program's name. Every option is "--name value". Errors: kBadRequest.
Result<WorkerOptions> parse_arguments(int argc, const char* const* argv);

}  // namespace cuzk
