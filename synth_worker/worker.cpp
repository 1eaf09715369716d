#include "synth_worker/worker.hpp"

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "synth_worker/assignment/explain.hpp"
#include "synth_worker/assignment/synthesise.hpp"
#include "synth_worker/assignment/verify_proof.hpp"
#include "synth_worker/assignment/wipe_slot.hpp"
#include "synth_worker/files/spool_input.hpp"
#include "synth_worker/keys/convert_zkey.hpp"

namespace cuzk {
namespace {

// Loaded circuits beyond the one in use: some megabytes of code each.
constexpr std::size_t kLoadedCircuits = 8;

template <class Message>
Result<std::string> encoded(const Result<Message>& result) {
  if (!result) return result.error();
  return encode(*result);
}

Result<std::optional<UniqueFd>> take_optional(WorkerRuntime& runtime, FdRole role) {
  if (!runtime.has_fd(role)) return std::optional<UniqueFd>();
  CUZK_TRY(fd, runtime.take_fd(role));
  return std::optional<UniqueFd>(std::move(fd));
}

}  // namespace

SynthWorker::SynthWorker(WorkerRuntime& runtime)
    : runtime_(runtime), calculators_(kLoadedCircuits) {
  monitor_.progress = [this](std::string_view step, std::uint32_t permille) {
    runtime_.progress(step, permille);
  };
  monitor_.keep_running = [this] { return !runtime_.cancelled(); };
}

int SynthWorker::serve() {
  while (auto command = runtime_.next()) {
    auto answer = run(*command);
    if (answer) {
      runtime_.done(std::string_view(*answer));
    } else if (runtime_.cancelled() && answer.error().error_class == ErrorClass::kOperator) {
      runtime_.failed(WorkerRuntime::cancelled_error());
    } else {
      runtime_.failed(answer.error());
    }
  }
  return runtime_.exit_code();
}

// The end of a task is the one place where an exception becomes an answer: the standard library throws
// when memory runs out, and then another process, or this one later, may have some.
SynthWorker::Answer SynthWorker::run(const Command& command) {
  try {
    return dispatch(command);
  } catch (const std::bad_alloc&) {
    return Error{ErrorClass::kRetryElsewhere, "out of memory", "synthesis process", {}};
  } catch (const std::exception& exception) {
    return bug(exception.what(), "synthesis process");
  }
}

SynthWorker::Answer SynthWorker::dispatch(const Command& command) {
  switch (command.kind) {
    case CommandKind::kPrepareKey: return on_prepare_key(command);
    case CommandKind::kAddCircuit: return on_add_circuit(command);
    case CommandKind::kSpoolInput: return on_spool_input(command);
    case CommandKind::kSynthesise: return on_synthesise(command);
    case CommandKind::kVerify: return on_verify(command);
    case CommandKind::kExplain: return on_explain(command);
    case CommandKind::kWipeSlot: return on_wipe_slot(command);
    default: break;
  }
  return bug(fmt::format("a synthesis process got command {}", static_cast<unsigned>(command.kind)),
             "command");
}

SynthWorker::Answer SynthWorker::on_prepare_key(const Command& command) {
  CUZK_TRY(request, command.as<PrepareKeyCommand>());
  const KeyProgress progress = [this](std::string_view step, std::uint32_t permille) {
    runtime_.progress(step, permille);
    return !runtime_.cancelled();
  };
  if (!runtime_.has_fd(FdRole::kSource)) {
    if (!request.expected) return bug("neither a key nor a digest", "prepare-key command");
    return encoded(check_prepared_key(request.cache_folder, *request.expected));
  }
  CUZK_TRY(source, runtime_.take_fd(FdRole::kSource));
  return encoded(prepare_key(source, request.source_name, request.cache_folder, request.threads,
                             progress));
}

SynthWorker::Answer SynthWorker::on_add_circuit(const Command& command) {
  CUZK_TRY(request, command.as<AddCircuitCommand>());
  CUZK_TRY(key, PreparedKey::open(request.key_path, KeyCheck::kHeader));
  CUZK_TRY(wasm, take_optional(runtime_, FdRole::kWasm));
  CUZK_TRY(program, take_optional(runtime_, FdRole::kProgram));
  CUZK_TRY(program_data, take_optional(runtime_, FdRole::kProgramData));
  CUZK_TRY(r1cs, take_optional(runtime_, FdRole::kR1cs));
  const CircuitFiles files{std::move(wasm), std::move(program), std::move(program_data),
                           std::move(r1cs)};
  return encoded(add_circuit(request, files, key.shape(), settings_, monitor_));
}

SynthWorker::Answer SynthWorker::on_spool_input(const Command& command) {
  CUZK_TRY(request, command.as<SpoolInputCommand>());
  CUZK_TRY(source, runtime_.take_fd(FdRole::kSource));
  return encoded(spool_input(request, source, monitor_));
}

SynthWorker::Answer SynthWorker::on_synthesise(const Command& command) {
  CUZK_TRY(request, command.as<SynthesiseCommand>());
  CUZK_TRY(input, runtime_.take_fd(FdRole::kSource));
  CUZK_TRY(slot, runtime_.take_fd(FdRole::kSlotWritable));
  return encoded(synthesise(request, input, slot, command.slot_word, calculators_, settings_,
                            monitor_));
}

SynthWorker::Answer SynthWorker::on_verify(const Command& command) {
  CUZK_TRY(request, command.as<VerifyCommand>());
  CUZK_TRY(slot, runtime_.take_fd(FdRole::kSlotReadOnly));
  monitor_.at("verify");
  return encoded(verify_proof(request, slot, command.slot_word));
}

SynthWorker::Answer SynthWorker::on_explain(const Command& command) {
  CUZK_TRY(request, command.as<ExplainCommand>());
  CUZK_TRY(slot, runtime_.take_fd(FdRole::kSlotReadOnly));
  monitor_.at("explain");
  return encoded(explain(request, slot, command.slot_word));
}

SynthWorker::Answer SynthWorker::on_wipe_slot(const Command& command) {
  CUZK_TRY(request, command.as<WipeSlotCommand>());
  CUZK_TRY(slot, runtime_.take_fd(FdRole::kSlotWritable));
  monitor_.at("wipe");
  CUZK_CHECK(wipe_slot(request, slot, command.slot_word));
  return std::string();
}

}  // namespace cuzk
