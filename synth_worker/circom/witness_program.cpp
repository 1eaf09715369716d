#include "synth_worker/circom/witness_program.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/formats/number_text.hpp"
#include "common/formats/printable.hpp"
#include "common/formats/wtns.hpp"
#include "common/mapped_file.hpp"
#include "common/unique_fd.hpp"

namespace cuzk {

namespace fs = std::filesystem;

namespace {

// Container and section headers of a .wtns file are 76 bytes; a program that writes more than its witness
// is stopped soon.
constexpr std::uint64_t kOutputSlack = 4096;

// circom's smallest table of input names has 256 entries of 24 bytes; a signal number per variable
// follows.
constexpr std::uint64_t kSmallestNameTable = 256 * 24;

constexpr std::chrono::milliseconds kTrialTime{60'000};
constexpr const char* kLibraryMissing = "error while loading shared libraries";
constexpr int kLoaderFailed = 127;

Result<UniqueFd> create_memory_file(const char* name) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error(ErrorClass::kRetryHere, "memfd_create", name);
  return fd;
}

Status write_all(const UniqueFd& fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd.get(), text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error(ErrorClass::kRetryHere, "write", "input of a witness program");
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

// Names are quoted as JSON wants it; circom's own are identifiers.
std::string json_string(std::string_view name) {
  std::string result = "\"";
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string to_json(std::span<const InputSignal> inputs) {
  std::string text = "{";
  for (const InputSignal& signal : inputs) {
    if (text.size() > 1) text += ',';
    text += json_string(signal.name) + ":[";
    bool first = true;
    for (const ScalarInteger& value : signal.values) {
      if (!std::exchange(first, false)) text += ',';
      text += '"' + to_decimal(std::as_bytes(std::span(value))) + '"';
    }
    text += ']';
  }
  return text + '}';
}

struct ProgramRun {
  ChildOutcome outcome;
  UniqueFd output;
};

Result<ProgramRun> run(const fs::path& program, std::string_view input, std::uint64_t output_bytes,
                       const ProgramLimits& limits, const KeepRunning& keep_running) {
  CUZK_TRY(input_file, create_memory_file("witness-input"));
  CUZK_TRY(output_file, create_memory_file("witness-output"));
  CUZK_CHECK(write_all(input_file, input));
  ChildCommand command;
  command.program = program;
  // The program opens its arguments by name; these names are its own descriptors 3 and 4.
  command.arguments = {program.string(), "/proc/self/fd/3", "/proc/self/fd/4"};
  command.environment = plain_environment();
  command.descriptors = {input_file.get(), output_file.get()};
  command.limits = {limits.time, limits.memory_bytes, output_bytes};
  CUZK_TRY(outcome, run_child(command, keep_running));
  return ProgramRun{std::move(outcome), std::move(output_file)};
}

Error program_error(const ChildOutcome& outcome, std::string_view where) {
  if (outcome.end == ChildOutcome::End::kStopped) {
    return {ErrorClass::kOperator, "stopped on request", std::string(where), {}};
  }
  std::string text = "the witness program failed: " + outcome.describe();
  if (!outcome.error_output.empty()) text += ": " + printable(outcome.error_output, 1500);
  return bad_request(std::move(text), std::string(where));
}

Status check_elf(std::span<const std::byte> bytes, const std::string& name) {
#if defined(__x86_64__)
  constexpr unsigned kMachine = EM_X86_64;
#elif defined(__aarch64__)
  constexpr unsigned kMachine = EM_AARCH64;
#else
#error "name this machine's ELF number"
#endif
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    return bad_request("is not a program (an ELF file)", name,
                       "compile circom's C++ output with its Makefile");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine ||
      (header.e_type != ET_EXEC && header.e_type != ET_DYN)) {
    return bad_request("is not a program for this machine", name);
  }
  return {};
}

}  // namespace

Status run_witness_program(const ProgramRequest& request, std::span<std::byte> witness) {
  if (witness.size() / 32 != request.n_variables) {
    return bug("the witness buffer has another size than the witness", request.program.string());
  }
  const std::string where(request.input_name);
  CUZK_TRY(result, run(request.program, to_json(request.inputs), witness.size() + kOutputSlack,
                       request.limits, request.keep_running));
  if (!result.outcome.succeeded()) return program_error(result.outcome, where);
  // The program is dead, but something that it started may have escaped.
  if (::fcntl(result.output.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    return bad_request("the witness program left a process behind that holds its output", where);
  }
  CUZK_TRY(file, MappedFile::map(result.output, "the witness program's output"));
  if (file.bytes().empty()) {
    return bad_request("the witness program ended with exit code 0 but wrote no witness", where);
  }
  CUZK_TRY(wtns, parse_wtns(file.bytes(), file.name()));
  CUZK_CHECK(check_wtns_fits(wtns, request.curve, request.n_variables, file.name()));
  CUZK_CHECK(check_witness(wtns.values, request.curve, file.name(), wtns.values_offset));
  std::memcpy(witness.data(), wtns.values.data(), witness.size());
  return {};
}

Status check_witness_program(const fs::path& program, const fs::path& data, const std::string& name,
                             std::uint64_t n_variables, const ProgramLimits& limits,
                             const KeepRunning& keep_running) {
  {
    CUZK_TRY(file, MappedFile::open(program));
    CUZK_CHECK(check_elf(file.bytes(), name));
  }
  CUZK_TRY(data_file, MappedFile::open(data));
  // The file has neither magic nor counts: a lower bound is all that can be checked.
  const std::uint64_t smallest = kSmallestNameTable + 8 * n_variables;
  if (data_file.bytes().size() < smallest) {
    return bad_request(fmt::format("is {} bytes; a circuit with {} variables needs at least {}",
                                   data_file.bytes().size(), n_variables, smallest),
                       name + "'s .dat");
  }
  // Without inputs a sound program says that they are missing (and aborts); what must not happen is that
  // it cannot be started at all.
  ProgramLimits trial = limits;
  trial.time = std::min(trial.time, kTrialTime);
  CUZK_TRY(result, run(program, "{}", 32 * n_variables + kOutputSlack, trial, keep_running));
  const ChildOutcome& outcome = result.outcome;
  if (outcome.end == ChildOutcome::End::kStopped ||
      outcome.end == ChildOutcome::End::kTimedOut ||
      (outcome.end == ChildOutcome::End::kExited && outcome.code == kLoaderFailed &&
       outcome.error_output.find(kLibraryMissing) != std::string::npos)) {
    return program_error(outcome, name);
  }
  return {};
}

}  // namespace cuzk
