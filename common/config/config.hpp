// The supervisor's configuration: plain data with defaults, and the TOML file that changes it.
//
// A file is checked as a whole: one reading reports every unknown key (with the nearest known one),
// every wrong type and every value out of range, each with its line. etc/cuzk.toml documents the
// keys.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/log.hpp"
#include "common/result.hpp"

namespace cuzk {

struct DaemonConfig {
  std::filesystem::path socket = "/run/cuzk/cuzk.sock";
  std::filesystem::path state_dir = "/var/lib/cuzk";
  std::string listen;                    // the gateway's address; empty: no gateway
  std::uint32_t max_connections = 2048;  // more are told to come again
  std::uint32_t max_queue = 10000;       // unfinished jobs; more are answered with kBusy
  std::uint32_t keep_jobs = 10000;       // finished jobs that are remembered
  std::chrono::milliseconds keep_jobs_for = std::chrono::hours(7 * 24);

  bool operator==(const DaemonConfig&) const = default;
};

struct SrsConfig {
  std::filesystem::path param_cache;  // prepared keys; empty: state_dir/keys
  std::vector<std::string> preload;   // circuits whose keys are checked at start

  bool operator==(const SrsConfig&) const = default;
};

struct MemoryConfig {
  std::uint64_t total_budget = 0;  // bytes; 0: "auto", the machine's memory less safety_margin
  std::uint64_t safety_margin = std::uint64_t{5} << 30;
  std::chrono::milliseconds eviction_min_idle = std::chrono::minutes(5);

  bool operator==(const MemoryConfig&) const = default;
};

struct SynthesisConfig {
  std::uint32_t partition_workers = 0;  // synth workers; 0: by the number of processors
  std::uint32_t threads = 0;            // that one task may use; 0: one a processor

  bool operator==(const SynthesisConfig&) const = default;
};

struct GpusConfig {
  std::vector<std::string> devices = {"cpu"};
  std::uint32_t gpu_threads = 0;             // CPU threads of each device; 0: one a processor
  std::uint32_t gpu_workers_per_device = 1;  // lanes in a device's process
  std::uint64_t vram_limit = 0;              // bytes of each device; 0: what the device has

  bool operator==(const GpusConfig&) const = default;
};

struct SchedulerConfig {
  std::uint32_t max_batch_size = 1;  // assignments that share one pass over a key
  std::chrono::milliseconds max_batch_wait = std::chrono::seconds(10);

  bool operator==(const SchedulerConfig&) const = default;
};

struct PipelineConfig {
  std::uint32_t synthesis_lookahead = 2;  // slots for each device beyond the one it works on

  bool operator==(const PipelineConfig&) const = default;
};

struct SupervisionConfig {
  // Doubles at each death.
  std::chrono::milliseconds restart_delay = std::chrono::milliseconds(200);
  std::chrono::milliseconds restart_delay_max = std::chrono::seconds(30);
  std::chrono::milliseconds restart_forgiven_after = std::chrono::minutes(1);
  std::chrono::milliseconds stop_patience = std::chrono::seconds(2);  // between SIGTERM and SIGKILL
  std::uint32_t max_attempts = 5;  // of one task, before its job fails

  bool operator==(const SupervisionConfig&) const = default;
};

struct Config {
  DaemonConfig daemon;
  SrsConfig srs;
  MemoryConfig memory;
  SynthesisConfig synthesis;
  GpusConfig gpus;
  SchedulerConfig scheduler;
  PipelineConfig pipeline;
  SupervisionConfig supervision;
  LogSettings logging;

  // Keys that the file changes though nothing acts on them in this version, ready to be logged.
  std::vector<std::string> notes;

  // The folder of prepared keys.
  std::filesystem::path key_folder() const {
    return srs.param_cache.empty() ? daemon.state_dir / "keys" : srs.param_cache;
  }
  // The number of synth workers on a machine with `processors`: a quarter, 2 to 20, unless given.
  std::uint32_t synth_workers(unsigned processors) const;
  // Threads of one task of a synth worker, at least 1.
  std::uint32_t synthesis_threads(unsigned processors) const;
  // Threads of one device's process, at least 1: the processors are shared out unless a number is
  // given.
  std::uint32_t device_threads(unsigned processors) const;
};

// One thing that is wrong with a configuration file.
struct ConfigProblem {
  std::uint32_t line = 0;  // 0: the file as a whole
  std::string text;        // "[gpus] devices: must be a list of text, is a number"
};

// A parsed configuration. `config` holds the defaults wherever something was wrong.
struct ConfigReport {
  Config config;
  std::vector<ConfigProblem> problems;  // in the file's order
};

// Reads TOML.
ConfigReport parse_config(std::string_view text);

// Reads and parses a file. Fails with kBadRequest and all problems in `what`, one a line
// ("FILE:LINE: ...").
Result<Config> load_config(const std::filesystem::path& path);

// What must hold whether values come from a file or from the command line: the socket's path fits
// into an address, this build knows the devices, delays are in order. Empty: all well. load_config
// checks it too.
std::vector<std::string> check_config(const Config& config);

// Every key, as "[section] name", in the order of etc/cuzk.toml.
std::vector<std::string> config_keys();

}  // namespace cuzk
