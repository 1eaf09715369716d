#include "synth_worker/circom/add_circuit.hpp"

#include <chrono>
#include <filesystem>
#include <string>

#include "common/formats/r1cs.hpp"
#include "common/mapped_file.hpp"
#include "synth_worker/circom/circuit_folder.hpp"
#include "synth_worker/circom/wasm_module.hpp"
#include "synth_worker/files/copy_file.hpp"
#include "synth_worker/process/private_folder.hpp"

namespace cuzk {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxProgramBytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kMaxR1csBytes = std::uint64_t{256} << 30;
constexpr const char* kUnfinishedPrefix = ".adding-";
// Longer than any compilation may take: what is older belongs to a process that died.
constexpr long kAbandonedAfterSeconds = 4 * 3600;

class Addition {
 public:
  Addition(const AddCircuitCommand& command, const CircuitFiles& files, const KeyShape& key,
           const CircuitSettings& settings, const TaskMonitor& monitor, const fs::path& folder)
      : command_(command),
        files_(files),
        key_(key),
        settings_(settings),
        monitor_(monitor),
        folder_{folder} {}

  Status add_wasm() {
    const std::string name = command_.name + ".wasm";
    CUZK_CHECK(copy(*files_.wasm, name, folder_.wasm(), kMaxWasmBytes, 0400));
    monitor_.at("compile the wasm");
    CUZK_CHECK(compile_circuit(folder_.wasm(), folder_.object(), name, settings_.compiler,
                               monitor_.keep_running));
    CUZK_TRY(calculator, CircuitCalculator::load(folder_.object(), name));
    return calculator.check_fits(key_.curve, key_.n_variables, settings_.calculation);
  }

  Status add_program() {
    const std::string name = command_.name + "'s witness program";
    if (!files_.program_data) {
      return bad_request("its .dat file is missing", name,
                         "circom writes it beside the .cpp: keep it beside the program");
    }
    CUZK_CHECK(copy(*files_.program, name, folder_.program(), kMaxProgramBytes, 0500));
    CUZK_CHECK(
        copy(*files_.program_data, name + "'s .dat", folder_.program_data(), kMaxProgramBytes, 0400));
    monitor_.at("try the witness program");
    return check_witness_program(folder_.program(), folder_.program_data(), name, key_.n_variables,
                                 settings_.program, monitor_.keep_running);
  }

  Status add_r1cs() {
    const std::string name = command_.name + ".r1cs";
    CUZK_CHECK(copy(*files_.r1cs, name, folder_.r1cs(), kMaxR1csBytes, 0400));
    CUZK_TRY(file, MappedFile::open(folder_.r1cs()));
    CUZK_TRY(r1cs, R1cs::parse(file.bytes(), name));
    const R1csHeader& header = r1cs.header();
    if (header.curve != key_.curve) {
      return bad_request(fmt::format("is for {}, the key is for {}", name_of(header.curve),
                                     name_of(key_.curve)),
                         name);
    }
    if (header.n_wires != key_.n_variables || header.n_public() != key_.n_public) {
      return bad_request(fmt::format("has {} wires with {} public ones, the key has {} with {}",
                                     header.n_wires, header.n_public(), key_.n_variables,
                                     key_.n_public),
                         name, "are they of the same circuit, compiled with the same options?");
    }
    return {};
  }

 private:
  Status copy(const UniqueFd& source, const std::string& name, const fs::path& target,
              std::uint64_t max_bytes, mode_t mode) const {
    CopySettings copying;
    copying.max_bytes = max_bytes;
    copying.mode = mode;
    CUZK_TRY(bytes, copy_to_new_file(source, name, target, copying, monitor_));
    if (bytes == 0) return bad_request("is empty", name);
    return {};
  }

  const AddCircuitCommand& command_;
  const CircuitFiles& files_;
  const KeyShape& key_;
  const CircuitSettings& settings_;
  const TaskMonitor& monitor_;
  CircuitFolder folder_;
};

}  // namespace

Result<CircuitArtefacts> add_circuit(const AddCircuitCommand& command, const CircuitFiles& files,
                                     const KeyShape& key, const CircuitSettings& settings,
                                     const TaskMonitor& monitor) {
  const auto start = std::chrono::steady_clock::now();
  const fs::path target = command.folder;
  remove_abandoned_folders(target.parent_path(), kUnfinishedPrefix, kAbandonedAfterSeconds);
  CUZK_TRY(folder, PrivateFolder::create(target.parent_path(), kUnfinishedPrefix));
  Addition addition(command, files, key, settings, monitor, folder.path());
  // The quick checks come first: nobody waits for a compiler to learn that the .r1cs is another's.
  if (files.r1cs) CUZK_CHECK(addition.add_r1cs());
  if (files.program) CUZK_CHECK(addition.add_program());
  if (files.wasm) CUZK_CHECK(addition.add_wasm());
  CUZK_CHECK(folder.keep_as(target));
  CircuitArtefacts artefacts;
  artefacts.has_wasm = files.wasm.has_value();
  artefacts.has_program = files.program.has_value();
  artefacts.has_r1cs = files.r1cs.has_value();
  artefacts.microseconds = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start)
          .count());
  return artefacts;
}

}  // namespace cuzk
