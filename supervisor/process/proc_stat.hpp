// What a process uses, read from /proc/<pid>/stat.
//
// That file only: unlike smaps or cmdline it never waits for the memory lock of a process that
// dies.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <sys/types.h>

namespace cuzk::supervisor {

struct ProcessUsage {
  std::uint64_t resident_bytes = 0;
  std::uint64_t cpu_ms = 0;  // user and system
};

std::optional<ProcessUsage> read_usage(pid_t pid);
// `page_bytes` and `ticks_per_second` as sysconf names them.
std::optional<ProcessUsage> parse_stat(std::string_view line, std::uint64_t page_bytes,
                                       std::uint64_t ticks_per_second);

}  // namespace cuzk::supervisor
