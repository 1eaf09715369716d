#include "synth_worker/circom/compile_circuit.hpp"

#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "common/formats/printable.hpp"
#include "common/mapped_file.hpp"
#include "synth_worker/circom/runtime_sources.hpp"
#include "synth_worker/circom/wasm_module.hpp"
#include "synth_worker/process/private_folder.hpp"

namespace cuzk {

namespace fs = std::filesystem;

namespace {

// wasm2c's names and its runtime's interface change between releases; circuit_runtime.c is written for
// this one, the one of Debian 12.
constexpr const char* kWasm2cVersion = "1.0.32";

// -O1: -O2 compiles twice as long and calculates 3 % faster, -O0 compiles as long and calculates 10 times
// slower (merkle20). Points-to analysis is left out: it costs 10 % and finds nothing in code whose only
// pointer is the instance. The two float options and no tail calls are what wasm2c's output assumes. No
// frame may be larger than half of CUZK_STACK_RESERVE in circuit_host.h.
const std::vector<std::string> kCompilerOptions = {
    "-std=gnu11", "-O1", "-fno-tree-pta", "-fno-optimize-sibling-calls", "-frounding-math",
    "-fsignaling-nans", "-fPIC", "-fvisibility=hidden", "-fstack-clash-protection",
    "-Werror=frame-larger-than=524288", "-include", "circuit_host.h", "-shared",
    "-Wl,-z,defs,-z,now,-z,relro,-z,noexecstack", "circuit.c", "circuit_runtime.c", "-lm"};

class Build {
 public:
  Build(const fs::path& folder, const std::string& name, const CompilerSettings& settings,
        const KeepRunning& keep_running)
      : folder_(folder),
        name_(name),
        settings_(settings),
        keep_running_(keep_running),
        deadline_(std::chrono::steady_clock::now() + settings.time_limit) {}

  Status run(const fs::path& wasm, const fs::path& object) {
    CUZK_TRY(wasm2c, find_program("wasm2c", "wabt"));
    CUZK_TRY(compiler, find_program("cc", "gcc"));
    for (const EmbeddedFile& file : runtime_sources()) {
      CUZK_CHECK(write_file_atomically(folder_ / file.name, file.content));
    }
    CUZK_CHECK(step(wasm2c, {"wasm2c", fs::absolute(wasm).string(), "--no-debug-names",
                             "--module-name=circuit", "--output=circuit.c"},
                    "wasm2c"));
    std::vector<std::string> arguments = {"cc", "-o", fs::absolute(object).string()};
    arguments.insert(arguments.end(), kCompilerOptions.begin(), kCompilerOptions.end());
    return step(compiler, std::move(arguments), "the C compiler");
  }

 private:
  Status step(const fs::path& program, std::vector<std::string> arguments, const char* what) {
    ChildCommand command;
    command.program = program;
    command.arguments = std::move(arguments);
    command.environment = plain_environment();
    command.environment.push_back("TMPDIR=" + folder_.string());
    command.folder = folder_;
    command.limits.wall_time = std::max(
        std::chrono::milliseconds(1), std::chrono::duration_cast<std::chrono::milliseconds>(
                                          deadline_ - std::chrono::steady_clock::now()));
    command.limits.address_space_bytes = settings_.memory_bytes;
    command.limits.file_bytes = std::uint64_t{64} << 30;
    CUZK_TRY(outcome, run_child(command, keep_running_));
    if (outcome.succeeded()) return {};
    if (outcome.end == ChildOutcome::End::kStopped) {
      return Error{ErrorClass::kOperator, "stopped on request", name_, {}};
    }
    return bad_request(fmt::format("{} failed: {}: {}", what, outcome.describe(),
                                   printable(outcome.error_output, 1500)),
                       name_,
                       fmt::format("this program understands wasm2c {}; for very large circuits use "
                                   "circom's C++ witness program instead",
                                   kWasm2cVersion));
  }

  fs::path folder_;
  const std::string& name_;
  const CompilerSettings& settings_;
  const KeepRunning& keep_running_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace

Status compile_circuit(const fs::path& wasm, const fs::path& object, const std::string& name,
                       const CompilerSettings& settings, const KeepRunning& keep_running) {
  {
    CUZK_TRY(module, MappedFile::open(wasm));
    CUZK_CHECK(check_circom_module(module.bytes(), name));
  }
  CUZK_TRY(folder, PrivateFolder::create(object.parent_path(), ".build-"));
  const fs::path unfinished = folder.path() / "circuit.so";
  CUZK_CHECK(Build(folder.path(), name, settings, keep_running).run(wasm, unfinished));
  const UniqueFd fd(::open(unfinished.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0 || ::rename(unfinished.c_str(), object.c_str()) != 0) {
    return system_error(ErrorClass::kRetryHere, "store", object.string());
  }
  return {};
}

}  // namespace cuzk
