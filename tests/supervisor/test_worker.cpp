// A worker process for the tests of the process tree. Its device's name says how it behaves.

#include <csignal>
#include <cstdio>
#include <string>

#include <unistd.h>

#include "common/worker/runtime.hpp"

int main(int argc, char** argv) {
  using namespace cuzk;
  const auto options = parse_arguments(argc, argv);
  if (!options) return 2;
  if (options->device == "fail") {
    std::fprintf(stderr, "the device is on fire\n");
    return 7;
  }
  auto runtime = WorkerRuntime::attach(*options);
  if (!runtime) return 3;
  if (options->device == "silent") ::pause();
  (*runtime)->ready();
  while (const auto command = (*runtime)->next()) {
    if (command->body == "die") ::raise(SIGSEGV);
    if (command->body == "hang") {
      while (!(*runtime)->cancelled()) ::usleep(1000);
      (*runtime)->failed(WorkerRuntime::cancelled_error());
      continue;
    }
    const bool has_file = (*runtime)->has_fd(FdRole::kSource);
    (*runtime)->done(command->body + (has_file ? " with a file" : ""));
  }
  return (*runtime)->exit_code();
}
