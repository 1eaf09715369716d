// cuzk-gpu-worker: owns one device and proves on it what the supervisor binds to it.
//
// The process exists so that a device that faults, hangs or is killed takes nothing with it: it holds no
// job, no queue and no key that is not mapped from elsewhere. It answers one command after the other; a
// device fault is answered and then ends the process, because the context cannot be trusted any more.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "common/worker/options.hpp"
#include "common/worker/runtime.hpp"
#include "gpu_worker/engine.hpp"
#include "gpu_worker/engine_factory.hpp"
#include "gpu_worker/key_cache.hpp"
#include "gpu_worker/prove_task.hpp"

namespace cuzk {
namespace {

// Mapped keys beyond the one in use: enough for a service that alternates between a few circuits.
constexpr std::size_t kMappedKeys = 4;

Result<ProveResult> prove(const Command& command, WorkerRuntime& runtime, Engine& engine,
                          KeyCache& keys) {
  CUZK_TRY(request, command.as<ProveCommand>());
  CUZK_TRY(slot, runtime.take_fd(FdRole::kSlotReadOnly));
  StepMonitor monitor([&runtime](Step step) { runtime.progress(name_of(step), 0); },
                      [&runtime] { return runtime.cancelled(); });
  return prove_slot(request, slot, command.slot_word, engine, keys, monitor);
}

// The end of a task is the one place where an exception becomes an answer: the standard library throws
// when memory runs out, and then another device, or this one later, may have some.
Result<ProveResult> prove_or_explain(const Command& command, WorkerRuntime& runtime, Engine& engine,
                                     KeyCache& keys) {
  try {
    return prove(command, runtime, engine, keys);
  } catch (const std::bad_alloc&) {
    return Error{ErrorClass::kRetryElsewhere, "out of memory", std::string(engine.name()),
                 "give the device process more memory or lower gpu_workers_per_device"};
  } catch (const std::exception& exception) {
    return bug(exception.what(), "proving");
  }
}

int serve(WorkerRuntime& runtime, Engine& engine) {
  KeyCache keys(kMappedKeys);
  while (auto command = runtime.next()) {
    if (command->kind == CommandKind::kProve) {
      const auto proof = prove_or_explain(*command, runtime, engine, keys);
      if (proof) {
        runtime.done(*proof);
        continue;
      }
      runtime.failed(proof.error());
      if (proof.error().error_class == ErrorClass::kDeviceFault) return EXIT_FAILURE;
    } else if (command->kind == CommandKind::kDropKey) {
      if (auto drop = command->as<DropKeyCommand>()) keys.drop(drop->circuit);
      runtime.finish_silently();
    } else {
      runtime.failed(bug(fmt::format("a device process got command {}",
                                     static_cast<unsigned>(command->kind)),
                         "command"));
    }
  }
  return runtime.exit_code();
}

Result<int> run(int argc, char** argv) {
  CUZK_TRY(options, parse_arguments(argc, argv));
  CUZK_TRY(runtime, WorkerRuntime::attach(options));
  CUZK_TRY(engine, make_engine(options.device, options.threads));
  runtime->ready();
  spdlog::info("ready: engine {}, {} threads", engine->name(), options.threads);
  return serve(*runtime, *engine);
}

}  // namespace
}  // namespace cuzk

int main(int argc, char** argv) {
  const auto exit_code = cuzk::run(argc, argv);
  if (exit_code) return *exit_code;
  std::fprintf(stderr, "cuzk-gpu-worker: %s\n", exit_code.error().message().c_str());
  return EXIT_FAILURE;
}
