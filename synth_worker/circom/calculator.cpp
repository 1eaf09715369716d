#include "synth_worker/circom/calculator.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <dlfcn.h>

#include "common/formats/printable.hpp"
#include "common/formats/wtns.hpp"
#include "synth_worker/circom/input_problems.hpp"

namespace cuzk {
namespace {

using FieldWords = std::array<std::uint32_t, CUZK_FIELD_WORDS>;

FieldWords to_words(const ScalarInteger& value) {
  static_assert(sizeof(FieldWords) == sizeof(ScalarInteger));
  FieldWords words;
  std::memcpy(words.data(), value.data(), sizeof words);
  return words;
}

// circom's witness_calculator.js has these texts.
const char* exception_text(std::uint32_t code) {
  switch (code) {
    case 1: return "signal not found";
    case 2: return "too many signals set";
    case 3: return "signal already set";
    case 4: return "an assertion or constraint of the circuit failed";
    case 5: return "not enough memory";
    case 6: return "input signal array access exceeds the size";
    case 7: return "array access out of bounds";
    default: return "unknown error";
  }
}

const char* stop_text(int why) {
  switch (why) {
    case CUZK_STOP_OUT_OF_BOUNDS: return "it accessed memory out of bounds";
    case CUZK_STOP_ARITHMETIC: return "it divided by zero or overflowed";
    case CUZK_STOP_UNREACHABLE: return "it executed an unreachable instruction";
    case CUZK_STOP_BAD_CALL: return "it made an invalid indirect call";
    case CUZK_STOP_STACK: return "its recursion exhausted the stack";
    case CUZK_STOP_MEMORY: return "it needs more memory than it may use";
    default: return "it stopped for an unknown reason";
  }
}

// The circuit's messages in one line; lines that it printed twice stay.
std::string one_line(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (!result.empty()) result += ", ";
    result += printable(line, 400);
  }
  return result;
}

}  // namespace

std::uint64_t signal_name_hash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

void CircuitCalculator::Unload::operator()(void* handle) const { ::dlclose(handle); }

Result<CircuitCalculator> CircuitCalculator::load(const std::filesystem::path& object,
                                                  std::string name) {
  const char* const hint = "remove the circuit and add it again";
  std::unique_ptr<void, Unload> handle(::dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (handle == nullptr) {
    return Error{ErrorClass::kOperator, fmt::format("cannot load: {}", ::dlerror()), object.string(),
                 hint};
  }
  const auto* circuit =
      static_cast<const cuzk_circuit*>(::dlsym(handle.get(), CUZK_CIRCUIT_SYMBOL));
  if (circuit == nullptr || circuit->abi_version != CUZK_CIRCUIT_ABI_VERSION) {
    return Error{ErrorClass::kOperator, "was compiled by another version of this program",
                 object.string(), hint};
  }
  return CircuitCalculator(std::move(handle), circuit, std::move(name));
}

Status CircuitCalculator::check_fits(CurveId curve, std::uint64_t n_variables,
                                     const CalculationLimits& limits) const {
  return in_sandbox(limits, {}, [&](cuzk_instance* instance) {
    return check_shape(instance, curve, n_variables);
  });
}

Status CircuitCalculator::calculate(const CalculationRequest& request,
                                    std::span<std::byte> witness) const {
  if (witness.size() / kScalarFieldBytes != request.n_variables) {
    return bug("the witness buffer has another size than the witness", name_);
  }
  CUZK_CHECK(in_sandbox(request.limits, request.keep_running, [&](cuzk_instance* instance) {
    return run_once(instance, request, witness);
  }));
  return check_witness(witness, request.curve, name_);
}

Status CircuitCalculator::run_once(cuzk_instance* instance, const CalculationRequest& request,
                                   std::span<std::byte> witness) const {
  CUZK_CHECK(check_shape(instance, request.curve, request.n_variables));
  if (const int why = circuit_->begin(instance)) return stopped(why, instance, request.input_name);
  CUZK_CHECK(check_inputs(instance, request));
  CUZK_CHECK(set_inputs(instance, request));
  // check_shape compared n_variables with a 32-bit count.
  const int why =
      circuit_->read_witness(instance, 0, static_cast<std::uint32_t>(request.n_variables),
                             reinterpret_cast<unsigned char*>(witness.data()));
  if (why != CUZK_STOP_NONE) return stopped(why, instance, request.input_name);
  return {};
}

Status CircuitCalculator::in_sandbox(const CalculationLimits& limits,
                                     const KeepRunning& keep_running, const Body& body) const {
  Status status = bug("the calculation did not run", name_);
  CUZK_TRY(end, SandboxThread::run(
                    [&](SandboxThread::Guard& guard) { status = open_and_run(guard, limits, body); },
                    limits.time, keep_running));
  switch (end) {
    case SandboxThread::End::kFinished: return status;
    // A calculation that was done just before it was told to stop is done.
    case SandboxThread::End::kTimedOut:
      if (status) return status;
      return bad_request(fmt::format("the witness calculation took longer than {:.1f} s",
                                     static_cast<double>(limits.time.count()) / 1e3),
                         name_);
    case SandboxThread::End::kStopped:
      if (status) return status;
      return Error{ErrorClass::kOperator, "stopped on request", name_, {}};
  }
  return status;
}

Status CircuitCalculator::open_and_run(SandboxThread::Guard& guard, const CalculationLimits& limits,
                                       const Body& body) const {
  const cuzk_limits circuit_limits{limits.memory_bytes, guard.stack_end()};
  cuzk_instance* instance = nullptr;
  const int why = circuit_->open(&circuit_limits, &instance);
  if (instance == nullptr) {
    return Error{ErrorClass::kRetryElsewhere, "out of memory", name_, {}};
  }
  guard.watch(circuit_, instance);
  Status status = why != CUZK_STOP_NONE ? Status(stopped(why, instance, name_)) : body(instance);
  guard.unwatch();
  circuit_->close(instance);
  return status;
}

Status CircuitCalculator::check_shape(cuzk_instance* instance, CurveId curve,
                                      std::uint64_t n_variables) const {
  std::uint32_t words = 0;
  FieldWords prime{};
  if (const int why = circuit_->field(instance, &words, prime.data())) {
    return stopped(why, instance, name_);
  }
  std::optional<CurveId> found;
  if (words == prime.size()) found = curve_of_scalar_modulus(std::as_bytes(std::span(prime)));
  if (found != curve) {
    return bad_request(fmt::format("the circuit was compiled for {}, the key is for {}",
                                   found ? name_of(*found) : "another prime", name_of(curve)),
                       name_, fmt::format("compile it with circom's --prime {}", name_of(curve)));
  }
  std::uint32_t n_inputs = 0;
  std::uint32_t n_witness = 0;
  if (const int why = circuit_->sizes(instance, &n_inputs, &n_witness)) {
    return stopped(why, instance, name_);
  }
  if (n_witness != n_variables) {
    return bad_request(fmt::format("the circuit has {} variables, the key has {}", n_witness,
                                   n_variables),
                       name_, "are they of the same circuit, compiled with the same options?");
  }
  return {};
}

Status CircuitCalculator::check_inputs(cuzk_instance* instance,
                                       const CalculationRequest& request) const {
  InputProblems problems;
  std::uint64_t n_given = 0;
  for (const InputSignal& signal : request.inputs) {
    std::int32_t size = 0;
    if (const int why = circuit_->input_size(instance, signal_name_hash(signal.name), &size)) {
      return stopped(why, instance, request.input_name);
    }
    if (size <= 0 && !signal.values.empty()) {
      problems.unknown_signal(signal.name);
    } else if (size > 0 && signal.values.size() != static_cast<std::uint64_t>(size)) {
      problems.wrong_count(signal.name, static_cast<std::uint64_t>(size), signal.values.size());
    }
    // What a known signal has too few or too many of is its own problem, not a missing signal.
    if (size > 0) n_given += static_cast<std::uint64_t>(size);
  }
  std::uint32_t n_inputs = 0;
  std::uint32_t n_witness = 0;
  if (const int why = circuit_->sizes(instance, &n_inputs, &n_witness)) {
    return stopped(why, instance, request.input_name);
  }
  if (n_given < n_inputs) {
    problems.missing(fmt::format("signals with {} of the circuit's {} input values are missing",
                                 n_inputs - n_given, n_inputs));
  }
  if (problems.any()) return problems.error(request.input_name);
  return {};
}

Status CircuitCalculator::set_inputs(cuzk_instance* instance,
                                     const CalculationRequest& request) const {
  for (const InputSignal& signal : request.inputs) {
    const std::uint64_t hash = signal_name_hash(signal.name);
    for (std::size_t i = 0; i < signal.values.size(); ++i) {
      const FieldWords words = to_words(signal.values[i]);
      if (const int why =
              circuit_->set_input(instance, hash, static_cast<std::uint32_t>(i), words.data())) {
        return stopped(why, instance, request.input_name);
      }
    }
  }
  return {};
}

Error CircuitCalculator::stopped(int why, const cuzk_instance* instance,
                                 std::string_view where) const {
  if (why == CUZK_STOP_INTERRUPTED) {
    return {ErrorClass::kOperator, "the calculation was interrupted", std::string(where), {}};
  }
  std::string text;
  if (why == CUZK_STOP_EXCEPTION) {
    const std::uint32_t code = circuit_->exception_code(instance);
    text = fmt::format("{} (circom's error {})", exception_text(code), code);
  } else {
    text = fmt::format("the circuit's code failed: {}", stop_text(why));
  }
  if (const std::string messages = one_line(circuit_->error_text(instance)); !messages.empty()) {
    text += ": " + messages;
  }
  if (const std::string log = one_line(circuit_->log_text(instance)); !log.empty()) {
    text += "; it logged: " + log;
  }
  return bad_request(std::move(text), std::string(where));
}

}  // namespace cuzk
