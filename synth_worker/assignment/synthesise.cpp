#include "synth_worker/assignment/synthesise.hpp"

#include <chrono>
#include <cstring>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/formats/input_json.hpp"
#include "common/formats/wtns.hpp"
#include "common/groth16/encoding.hpp"
#include "common/groth16/prepared_key.hpp"
#include "common/hash.hpp"
#include "common/mapped_file.hpp"
#include "shm/slot.hpp"
#include "synth_worker/circom/circuit_folder.hpp"
#include "synth_worker/circom/witness_program.hpp"

namespace cuzk {
namespace {

struct Task {
  const SynthesiseCommand& command;
  const KeyShape& key;
  CalculatorCache& calculators;
  const CircuitSettings& settings;
  const TaskMonitor& monitor;
};

Status copy_witness(const Task& task, const MappedFile& input, std::span<std::byte> payload) {
  task.monitor.at("read the witness");
  CUZK_TRY(wtns, parse_wtns(input.bytes(), input.name()));
  CUZK_CHECK(check_wtns_fits(wtns, task.key.curve, task.key.n_variables, input.name()));
  std::memcpy(payload.data(), wtns.values.data(), payload.size());
  return check_witness(payload, task.key.curve, input.name(), wtns.values_offset);
}

Status calculate_witness(const Task& task, const MappedFile& input, std::span<std::byte> payload) {
  task.monitor.at("read the input");
  const std::string_view text(reinterpret_cast<const char*>(input.bytes().data()),
                              input.bytes().size());
  CUZK_TRY(signals, parse_input(text, task.key.curve, input.name()));
  CUZK_CHECK(task.monitor.check());
  task.monitor.at("calculate the witness");
  const CircuitFolder folder{task.command.circuit_folder};
  std::error_code error;
  if (!task.command.circuit_folder.empty() && std::filesystem::exists(folder.object(), error)) {
    CUZK_TRY(calculator, task.calculators.get(folder.object()));
    return calculator->calculate({signals, input.name(), task.key.curve, task.key.n_variables,
                                  task.settings.calculation, task.monitor.keep_running},
                                 payload);
  }
  if (!task.command.circuit_folder.empty() && std::filesystem::exists(folder.program(), error)) {
    return run_witness_program({folder.program(), signals, input.name(), task.key.curve,
                                task.key.n_variables, task.settings.program,
                                task.monitor.keep_running},
                               payload);
  }
  return bad_request("the circuit has no witness calculator, so only a .wtns file can be proved",
                     input.name(), "add the circuit with --wasm or --witness-program");
}

Status fill(const Task& task, const UniqueFd& input, std::span<std::byte> payload) {
  const std::string& given = task.command.input_name;
  CUZK_TRY(file, MappedFile::map(input, given.empty() ? "input" : given));
  switch (task.command.input_kind) {
    case InputKind::kWitness: return copy_witness(task, file, payload);
    case InputKind::kJson: return calculate_witness(task, file, payload);
  }
  return bug("unknown kind of input", "synthesise command");
}

}  // namespace

Result<SynthesiseResult> synthesise(const SynthesiseCommand& command, const UniqueFd& input,
                                    const UniqueFd& slot, const shm::SlotWord& leased,
                                    CalculatorCache& calculators, const CircuitSettings& settings,
                                    const TaskMonitor& monitor) {
  const auto start = std::chrono::steady_clock::now();
  CUZK_TRY(key, PreparedKey::open(command.key_path, KeyCheck::kHeader));
  if (key.digest() != command.circuit) {
    return Error{ErrorClass::kRetryElsewhere, "is the prepared key of another circuit",
                 command.key_path, {}};
  }
  const KeyShape shape = key.shape();
  CUZK_TRY(writer, shm::SlotWriter::open(slot, leased));
  if (writer.capacity() / kScalarBytes < shape.n_variables) {
    return bug(fmt::format("a slot of {} bytes for {} variables", writer.capacity(),
                           shape.n_variables),
               "synthesise command");
  }
  const std::size_t bytes = static_cast<std::size_t>(shape.n_variables) * kScalarBytes;
  const auto payload = writer.payload().first(bytes);
  writer.begin(command.work, command.circuit, AssignmentLayout::kDense);

  Status filled = fill({command, shape, calculators, settings, monitor}, input, payload);
  if (filled) filled = monitor.check();
  if (!filled) {
    CUZK_CHECK(writer.wipe(bytes));
    return filled.error();
  }
  monitor.at("commit");
  const std::uint64_t checksum = xxh3_64(payload);
  // If we die before the last store of commit, the slot is FREE again and the work is queued again; if
  // after it, the supervisor finds a committed slot and nothing is lost.
  CUZK_CHECK(writer.commit(bytes, checksum));
  return SynthesiseResult{
      AssignmentLayout::kDense, bytes, checksum,
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::steady_clock::now() - start)
                                     .count())};
}

}  // namespace cuzk
