#include "common/log.hpp"

#include <memory>

#include <spdlog/sinks/stdout_sinks.h>

namespace cuzk {

Status set_up_logging(std::string_view process, const LogSettings& settings) {
  const auto level = spdlog::level::from_str(settings.level);
  if (level == spdlog::level::off && settings.level != "off") {
    return bad_request(fmt::format("unknown log level \"{}\"", settings.level), "[logging] level",
                       "use trace, debug, info, warn, error or off");
  }
  auto logger = std::make_shared<spdlog::logger>(std::string(process),
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (settings.format == LogFormat::kJson) {
    // The message is written by our own code, which quotes what comes from outside.
    logger->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","process":"%n","message":"%v"})",
                        spdlog::pattern_time_type::utc);
  } else {
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l [%n] %v", spdlog::pattern_time_type::utc);
  }
  logger->set_level(level);
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

}  // namespace cuzk
