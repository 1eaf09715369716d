#include "common/worker/options.hpp"

#include <charconv>
#include <cstdint>

namespace cuzk {

namespace {

constexpr unsigned kMaxThreads = 4096;

Result<std::uint32_t> parse_number(std::string_view option, std::string_view text, std::uint32_t low,
                                   std::uint32_t high) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    return bad_request(fmt::format("\"{}\" is not a number from {} to {}", text, low, high),
                       std::string(option));
  }
  return value;
}

Result<LogFormat> parse_format(std::string_view text) {
  if (text == "text") return LogFormat::kText;
  if (text == "json") return LogFormat::kJson;
  return bad_request(fmt::format("\"{}\" is neither text nor json", text), "--log-format");
}

Status set_option(WorkerOptions& options, std::string_view name, std::string_view value) {
  if (name == "--name") {
    options.name = value;
  } else if (name == "--epoch") {
    CUZK_TRY(epoch, parse_number(name, value, 0, 0xffffff));
    options.epoch = Epoch{epoch};
  } else if (name == "--device") {
    options.device = value;
  } else if (name == "--threads") {
    CUZK_TRY(threads, parse_number(name, value, 1, kMaxThreads));
    options.threads = threads;
  } else if (name == "--log-level") {
    options.log.level = value;
  } else if (name == "--log-format") {
    CUZK_TRY(format, parse_format(value));
    options.log.format = format;
  } else {
    return bad_request(fmt::format("unknown option \"{}\"", name), "command line");
  }
  return {};
}

}  // namespace

std::vector<std::string> to_arguments(const WorkerOptions& options) {
  return {"--name",       options.name,
          "--epoch",      std::to_string(options.epoch.value),
          "--device",     options.device,
          "--threads",    std::to_string(options.threads),
          "--log-level",  options.log.level,
          "--log-format", options.log.format == LogFormat::kJson ? "json" : "text"};
}

Result<WorkerOptions> parse_arguments(int argc, const char* const* argv) {
  WorkerOptions options;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) {
      return bad_request(fmt::format("option \"{}\" has no value", argv[i]), "command line");
    }
    CUZK_CHECK(set_option(options, argv[i], argv[i + 1]));
  }
  if (options.name.empty()) {
    return bad_request("--name is missing", "command line",
                       "workers are started by cuzk-supervisor, not by hand");
  }
  return options;
}

}  // namespace cuzk
