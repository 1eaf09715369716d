#include "supervisor/process/proc_stat.hpp"

#include <array>
#include <charconv>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "common/unique_fd.hpp"

namespace cuzk::supervisor {
namespace {

// Fields behind the command's closing bracket, see proc_pid_stat(5); the state is number 3.
constexpr int kUserTime = 14;
constexpr int kSystemTime = 15;
constexpr int kResidentPages = 24;

}  // namespace

std::optional<ProcessUsage> parse_stat(std::string_view line, std::uint64_t page_bytes,
                                       std::uint64_t ticks_per_second) {
  // The command may itself contain brackets and spaces: the last bracket ends it.
  const auto bracket = line.rfind(')');
  if (bracket == std::string_view::npos || ticks_per_second == 0) return std::nullopt;
  line.remove_prefix(bracket + 1);
  std::array<std::uint64_t, kResidentPages + 1> values{};
  int field = 2;
  while (field < kResidentPages) {
    const auto start = line.find_first_not_of(' ');
    if (start == std::string_view::npos) return std::nullopt;
    line.remove_prefix(start);
    const auto length = std::min(line.find(' '), line.size());
    ++field;
    std::from_chars(line.data(), line.data() + length, values[static_cast<std::size_t>(field)]);
    line.remove_prefix(length);
  }
  return ProcessUsage{values[kResidentPages] * page_bytes,
                      (values[kUserTime] + values[kSystemTime]) * 1000 / ticks_per_second};
}

std::optional<ProcessUsage> read_usage(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::array<char, 1024> buffer{};
  const auto got = ::read(fd.get(), buffer.data(), buffer.size());
  if (got <= 0) return std::nullopt;
  return parse_stat({buffer.data(), static_cast<std::size_t>(got)},
                    static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)),
                    static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)));
}

}  // namespace cuzk::supervisor
