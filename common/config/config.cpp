// The table of keys, and the reading of a file against it.
#include "common/config/config.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/config/values.hpp"
#include "common/mapped_file.hpp"
#include "common/protocol/stream_socket.hpp"

namespace cuzk {

namespace {

using config::Problem;
using std::chrono::hours;
using std::chrono::milliseconds;
using Node = toml::node;

constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;
constexpr hours kLongest{24};

// Whether something acts on a key in this version.
enum class Effect { kActive, kReserved };

struct Key {
  std::string_view section;
  std::string_view name;
  Problem (*read)(const Node&, Config&);
  Effect effect = Effect::kActive;
};

Problem read_level(const Node& node, Config& config) {
  static constexpr std::array<std::string_view, 6> kLevels = {"trace", "debug", "info",
                                                              "warn",  "error", "off"};
  return config::read_choice(node, config.logging.level, kLevels);
}

Problem read_format(const Node& node, Config& config) {
  static constexpr std::array<std::string_view, 2> kFormats = {"text", "json"};
  std::string format;
  Problem problem = config::read_choice(node, format, kFormats);
  if (!problem) config.logging.format = format == "json" ? LogFormat::kJson : LogFormat::kText;
  return problem;
}

// In the order of etc/cuzk.toml.
const Key kKeys[] = {
    {"daemon", "socket",
     [](const Node& n, Config& c) { return config::read_path(n, c.daemon.socket); }},
    {"daemon", "state_dir",
     [](const Node& n, Config& c) { return config::read_path(n, c.daemon.state_dir); }},
    {"daemon", "listen",
     [](const Node& n, Config& c) { return config::read_text(n, c.daemon.listen); },
     Effect::kReserved},
    {"daemon", "max_connections",
     [](const Node& n, Config& c) {
       return config::read_count(n, c.daemon.max_connections, 1, 100'000);
     }},
    {"daemon", "max_queue",
     [](const Node& n, Config& c) {
       return config::read_count(n, c.daemon.max_queue, 1, 1'000'000);
     }},
    {"daemon", "keep_jobs",
     [](const Node& n, Config& c) {
       return config::read_count(n, c.daemon.keep_jobs, 0, 10'000'000);
     }},
    {"daemon", "keep_jobs_for",
     [](const Node& n, Config& c) {
       return config::read_duration(n, c.daemon.keep_jobs_for, milliseconds(0), hours(24 * 3650));
     }},
    {"srs", "param_cache",
     [](const Node& n, Config& c) { return config::read_path(n, c.srs.param_cache); }},
    {"srs", "preload",
     [](const Node& n, Config& c) { return config::read_text_list(n, c.srs.preload); }},
    {"memory", "total_budget",
     [](const Node& n, Config& c) { return config::read_size(n, c.memory.total_budget, "auto"); }},
    {"memory", "safety_margin",
     [](const Node& n, Config& c) { return config::read_size(n, c.memory.safety_margin); }},
    {"memory", "eviction_min_idle",
     [](const Node& n, Config& c) {
       return config::read_duration(n, c.memory.eviction_min_idle, milliseconds(0), 30 * kLongest);
     },
     Effect::kReserved},
    {"synthesis", "partition_workers",
     [](const Node& n, Config& c) {
       return config::read_count(n, c.synthesis.partition_workers, 0, 256);
     }},
    {"synthesis", "threads",
     [](const Node& n, Config& c) { return config::read_count(n, c.synthesis.threads, 0, 4096); }},
    {"gpus", "devices",
     [](const Node& n, Config& c) { return config::read_devices(n, c.gpus.devices); }},
    {"gpus", "gpu_threads",
     [](const Node& n, Config& c) { return config::read_count(n, c.gpus.gpu_threads, 0, 4096); }},
    {"gpus", "gpu_workers_per_device",
     [](const Node& n, Config& c) {
       return config::read_count(n, c.gpus.gpu_workers_per_device, 1, 16);
     },
     Effect::kReserved},
    {"gpus", "vram_limit",
     [](const Node& n, Config& c) { return config::read_size(n, c.gpus.vram_limit, "auto"); },
     Effect::kReserved},
    {"scheduler", "max_batch_size",
     [](const Node& n, Config& c) {
       return config::read_count(n, c.scheduler.max_batch_size, 1, 1024);
     },
     Effect::kReserved},
    {"scheduler", "max_batch_wait_ms",
     [](const Node& n, Config& c) {
       return config::read_milliseconds(n, c.scheduler.max_batch_wait, 3'600'000);
     },
     Effect::kReserved},
    {"pipeline", "synthesis_lookahead",
     [](const Node& n, Config& c) {
       return config::read_count(n, c.pipeline.synthesis_lookahead, 1, 256);
     }},
    {"supervision", "restart_delay",
     [](const Node& n, Config& c) {
       return config::read_duration(n, c.supervision.restart_delay, milliseconds(1), kLongest);
     }},
    {"supervision", "restart_delay_max",
     [](const Node& n, Config& c) {
       return config::read_duration(n, c.supervision.restart_delay_max, milliseconds(1), kLongest);
     }},
    {"supervision", "restart_forgiven_after",
     [](const Node& n, Config& c) {
       return config::read_duration(n, c.supervision.restart_forgiven_after, milliseconds(1),
                                    kLongest);
     }},
    {"supervision", "stop_patience",
     [](const Node& n, Config& c) {
       return config::read_duration(n, c.supervision.stop_patience, milliseconds(0), kLongest);
     }},
    {"supervision", "max_attempts",
     [](const Node& n, Config& c) {
       return config::read_count(n, c.supervision.max_attempts, 1, 100);
     }},
    {"logging", "level", read_level},
    {"logging", "format", read_format},
};

std::string title(std::string_view section, std::string_view name) {
  return fmt::format("[{}] {}", section, name);
}

// The known word that is nearest to `word`, when it is near enough to be meant.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = config::edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::vector<std::string_view> sections() {
  std::vector<std::string_view> names;
  for (const Key& key : kKeys) {
    if (names.empty() || names.back() != key.section) names.push_back(key.section);
  }
  return names;
}

std::string unknown_section(std::string_view name) {
  std::string text = fmt::format("[{}]: unknown section", name);
  const std::string_view meant = nearest(name, sections());
  if (!meant.empty()) return text + fmt::format("; did you mean [{}]?", meant);
  return text + fmt::format("; there are {}", fmt::join(sections(), ", "));
}

// `section` is empty for a key outside of every section.
std::string unknown_key(std::string_view section, std::string_view name) {
  std::string text = section.empty() ? fmt::format("{}: stands in no section", name)
                                     : title(section, name) + ": unknown key";
  for (const Key& key : kKeys) {
    if (key.name == name) return text + fmt::format("; it belongs to [{}]", key.section);
  }
  std::vector<std::string_view> here;
  std::vector<std::string_view> anywhere;
  for (const Key& key : kKeys) {
    (key.section == section ? here : anywhere).push_back(key.name);
  }
  if (const auto meant = nearest(name, here); !meant.empty())
    return text + fmt::format("; did you mean {}?", meant);
  if (const auto meant = nearest(name, anywhere); !meant.empty()) {
    const auto key = std::find_if(std::begin(kKeys), std::end(kKeys),
                                  [&](const Key& k) { return k.name == meant; });
    return text + fmt::format("; did you mean {}?", title(key->section, meant));
  }
  if (here.empty()) return text;
  return text + fmt::format("; there are {}", fmt::join(here, ", "));
}

std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }

// Naming a default is no mistake, so that a file may list every key.
bool changes_a_default(const Key& key, const Node& node) {
  const Config defaults;
  Config changed;
  (void)key.read(node, changed);
  return changed.daemon != defaults.daemon || changed.memory != defaults.memory ||
         changed.gpus != defaults.gpus || changed.scheduler != defaults.scheduler;
}

void read_section(const toml::key& section, const toml::table& table, ConfigReport& report) {
  for (const auto& [name, node] : table) {
    const auto key = std::find_if(std::begin(kKeys), std::end(kKeys), [&](const Key& k) {
      return k.section == section.str() && k.name == name.str();
    });
    if (key == std::end(kKeys)) {
      report.problems.push_back({name.source().begin.line, unknown_key(section.str(), name.str())});
      continue;
    }
    if (auto problem = key->read(node, report.config)) {
      report.problems.push_back(
          {line_of(node), fmt::format("{}: {}", title(key->section, key->name), *problem)});
    } else if (key->effect == Effect::kReserved && changes_a_default(*key, node)) {
      report.config.notes.push_back(
          fmt::format("{} has no effect in this version", title(key->section, key->name)));
    }
  }
}

}  // namespace

ConfigReport parse_config(std::string_view text) {
  ConfigReport report;
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    report.problems.push_back({error.source().begin.line, std::string(error.description())});
    return report;
  }
  const auto known = sections();
  for (const auto& [name, node] : root) {
    const std::uint32_t line = name.source().begin.line;
    if (std::find(known.begin(), known.end(), name.str()) == known.end()) {
      report.problems.push_back(
          {line, node.is_table() ? unknown_section(name.str()) : unknown_key({}, name.str())});
    } else if (const auto* table = node.as_table()) {
      read_section(name, *table, report);
    } else {
      report.problems.push_back(
          {line, fmt::format("{}: must be a section, [{}]", name.str(), name.str())});
    }
  }
  std::stable_sort(report.problems.begin(), report.problems.end(),
                   [](const ConfigProblem& a, const ConfigProblem& b) { return a.line < b.line; });
  return report;
}

Result<Config> load_config(const std::filesystem::path& path) {
  CUZK_TRY(text, read_file(path, kMaxConfigBytes));
  ConfigReport report = parse_config(text);
  // A default that stands for a wrong value makes no second problem.
  if (report.problems.empty()) {
    for (std::string& problem : check_config(report.config))
      report.problems.push_back({0, std::move(problem)});
  }
  if (report.problems.empty()) return std::move(report.config);
  std::string what;
  for (const ConfigProblem& problem : report.problems) {
    if (!what.empty()) what += '\n';
    what += problem.line == 0 ? fmt::format("{}: {}", path.string(), problem.text)
                              : fmt::format("{}:{}: {}", path.string(), problem.line, problem.text);
  }
  return bad_request(std::move(what));
}

std::vector<std::string> check_config(const Config& config) {
  std::vector<std::string> problems;
  if (const Status fits = check_socket_path(config.daemon.socket); !fits) {
    problems.push_back("[daemon] socket: " + fits.error().message());
  }
  if (config.daemon.state_dir.empty())
    problems.push_back("[daemon] state_dir: must be a path, is empty");
  if (config.gpus.devices.empty())
    problems.push_back("[gpus] devices: there is none; use [\"cpu\"]");
  for (const std::string& device : config.gpus.devices) {
    if (device != "cpu") {
      problems.push_back(
          fmt::format("[gpus] devices: this build knows no device \"{}\"; use \"cpu\"", device));
    }
  }
  if (config.supervision.restart_delay > config.supervision.restart_delay_max) {
    problems.push_back("[supervision] restart_delay: is longer than restart_delay_max");
  }
  return problems;
}

std::vector<std::string> config_keys() {
  std::vector<std::string> keys;
  for (const Key& key : kKeys) keys.push_back(title(key.section, key.name));
  return keys;
}

std::uint32_t Config::synth_workers(unsigned processors) const {
  if (synthesis.partition_workers != 0) return synthesis.partition_workers;
  return std::clamp(processors / 4, 2u, 20u);
}

std::uint32_t Config::synthesis_threads(unsigned processors) const {
  return synthesis.threads != 0 ? synthesis.threads : std::max(1u, processors);
}

std::uint32_t Config::device_threads(unsigned processors) const {
  if (gpus.gpu_threads != 0) return gpus.gpu_threads;
  const auto devices = static_cast<unsigned>(std::max<std::size_t>(1, gpus.devices.size()));
  return std::max(1u, processors / devices);
}

}  // namespace cuzk
