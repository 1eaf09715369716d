// prove_file: proves a .zkey and a .wtns in one process and writes what snarkjs would write.
//
// Usage: prove_file KEY.zkey WITNESS.wtns PROOF.json PUBLIC.json [--threads N] [--repeat N] [--cache DIR]
// The same code as the daemon's workers, without the daemon: to check proofs with other programs, to time
// the steps, and to see what memory they take. Prints a line per step, the best of all repetitions.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <time.h>

#include "common/formats/json.hpp"
#include "common/formats/wtns.hpp"
#include "common/groth16/prepared_key_view.hpp"
#include "common/groth16/verify.hpp"
#include "common/mapped_file.hpp"
#include "gpu_worker/cpu/cpu_engine.hpp"
#include "synth_worker/keys/convert_zkey.hpp"

namespace cuzk {
namespace {

struct Arguments {
  std::vector<std::string> paths;
  unsigned threads = std::thread::hardware_concurrency();
  unsigned repeat = 1;
  std::filesystem::path cache = std::filesystem::temp_directory_path() / "cuzk_prove_file";
};

Result<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (!option.starts_with("--")) {
      arguments.paths.emplace_back(option);
      continue;
    }
    if (i + 1 == argc) return bad_request("has no value", std::string(option));
    const char* value = argv[++i];
    if (option == "--threads") {
      arguments.threads = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
    } else if (option == "--repeat") {
      arguments.repeat = std::max(1u, static_cast<unsigned>(std::strtoul(value, nullptr, 10)));
    } else if (option == "--cache") {
      arguments.cache = value;
    } else {
      return bad_request("is unknown", std::string(option));
    }
  }
  if (arguments.paths.size() != 4) {
    return bad_request("prove_file KEY.zkey WITNESS.wtns PROOF.json PUBLIC.json", "usage");
  }
  return arguments;
}

// A line of /proc/self/status in kB, or 0.
long status_kb(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::strtol(line.c_str() + name.size() + 1, nullptr, 10);
  }
  return 0;
}

// CPU time of all threads of this process.
double cpu_milliseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

// Makes the kernel count the process's peak anew from here.
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

template <class Curve>
VerifyingKeyBytes verifying_key_of(const PreparedKey& key) {
  return encode_verifying_key(view_of<Curve>(key).verifying_key());
}

Result<bool> run(const Arguments& arguments) {
  CUZK_TRY(source, open_for_reading(arguments.paths[0]));
  CUZK_TRY(info, prepare_key(source, arguments.paths[0], arguments.cache, arguments.threads));
  std::printf("key: %s, %llu variables, %llu public, domain %llu, %s in %.1f ms\n",
              name_of(info.curve), static_cast<unsigned long long>(info.n_variables),
              static_cast<unsigned long long>(info.n_public),
              static_cast<unsigned long long>(info.domain_size),
              info.converted ? "converted" : "found in the cache",
              static_cast<double>(info.microseconds) / 1000);
  CUZK_TRY(key, PreparedKey::open(info.path, KeyCheck::kFull));
  CUZK_TRY(file, read_file(arguments.paths[1], std::size_t{1} << 40));
  CUZK_TRY(witness, parse_wtns(std::as_bytes(std::span(file)), arguments.paths[1]));
  CUZK_CHECK(check_wtns_fits(witness, info.curve, info.n_variables, arguments.paths[1]));
  CUZK_CHECK(check_witness(witness.values, info.curve, arguments.paths[1], witness.values_offset));
  // The engine wants the alignment that a slot's payload has.
  std::vector<std::uint64_t> payload(witness.values.size() / sizeof(std::uint64_t));
  std::copy(witness.values.begin(), witness.values.end(),
            std::as_writable_bytes(std::span(payload)).begin());
  const Assignment assignment{AssignmentLayout::kDense, std::as_bytes(std::span(payload))};

  CpuEngine engine(arguments.threads);
  std::map<std::string, std::uint64_t> best;
  std::vector<std::uint64_t> totals;
  std::string proof;
  const double cpu_before = cpu_milliseconds();
  const long before = status_kb("VmRSS");
  reset_peak();
  for (unsigned i = 0; i < arguments.repeat; ++i) {
    StepMonitor monitor;
    CUZK_TRY(started, engine.start(key, assignment, monitor));
    CUZK_TRY(blinding, draw_blinding(info.curve));
    CUZK_TRY(made, started->finish(blinding, monitor));
    proof = std::move(made);
    std::uint64_t total = 0;
    for (const StepTime& time : monitor.times()) {
      const auto [known, is_new] = best.try_emplace(time.step, time.microseconds);
      if (!is_new) known->second = std::min(known->second, time.microseconds);
      total += time.microseconds;
    }
    totals.push_back(total);
  }
  std::sort(totals.begin(), totals.end());
  for (const Step step : kSteps) {
    std::printf("  %-9s %9.2f ms\n", name_of(step), static_cast<double>(best[name_of(step)]) / 1000);
  }
  std::printf("proof: median %.1f ms, best %.1f ms of %zu, %u threads\n",
              static_cast<double>(totals[totals.size() / 2]) / 1000,
              static_cast<double>(totals.front()) / 1000, totals.size(), arguments.threads);
  std::printf("cpu: %.1f ms a proof\n",
              (cpu_milliseconds() - cpu_before) / static_cast<double>(arguments.repeat));
  std::printf("memory: %ld kB above the %ld kB before; the engine said it may take %llu kB\n",
              status_kb("VmHWM") - before, before,
              static_cast<unsigned long long>(
                  engine.need(key.shape(), AssignmentLayout::kDense).host_bytes / 1024));

  const std::string_view publics(reinterpret_cast<const char*>(payload.data()) + kScalarBytes,
                                 info.n_public * kScalarBytes);
  CUZK_CHECK(write_file_atomically(arguments.paths[2], proof_to_json(info.curve, proof)));
  CUZK_CHECK(write_file_atomically(arguments.paths[3], publics_to_json(publics)));
  const VerifyingKeyBytes verifying_key = info.curve == CurveId::kBn254
                                              ? verifying_key_of<Bn254>(key)
                                              : verifying_key_of<Bls12_381>(key);
  CUZK_TRY(verdict, verify_bytes(verifying_key, std::as_bytes(std::span(proof)),
                                 std::as_bytes(std::span(publics))));
  std::printf("verify: %s\n", verdict ? "OK" : verdict.reason.c_str());
  return verdict.valid;
}

}  // namespace
}  // namespace cuzk

int main(int argc, char** argv) {
  const auto arguments = cuzk::parse(argc, argv);
  if (!arguments) {
    std::fprintf(stderr, "%s\n", arguments.error().message().c_str());
    return 2;
  }
  const auto valid = cuzk::run(*arguments);
  if (!valid) {
    std::fprintf(stderr, "%s\n", valid.error().message().c_str());
    return 2;
  }
  return *valid ? EXIT_SUCCESS : EXIT_FAILURE;
}
