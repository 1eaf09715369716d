// cuzk-synth-worker: turns inputs into assignments, keys into prepared keys, and checks every proof.
//
// It runs what users bring (their keys, their circuits' code), so it is a process of its own, one of
// several, and none of them holds anything that its death would lose.
#include <cstdio>
#include <cstdlib>

#include <spdlog/spdlog.h>

#include "common/worker/options.hpp"
#include "common/worker/runtime.hpp"
#include "synth_worker/worker.hpp"

namespace {

cuzk::Result<int> run(int argc, char** argv) {
  CUZK_TRY(options, cuzk::parse_arguments(argc, argv));
  CUZK_TRY(runtime, cuzk::WorkerRuntime::attach(options));
  cuzk::SynthWorker worker(*runtime);
  runtime->ready();
  spdlog::info("ready");
  return worker.serve();
}

}  // namespace

int main(int argc, char** argv) {
  const auto exit_code = run(argc, argv);
  if (exit_code) return *exit_code;
  std::fprintf(stderr, "cuzk-synth-worker: %s\n", exit_code.error().message().c_str());
  return EXIT_FAILURE;
}
