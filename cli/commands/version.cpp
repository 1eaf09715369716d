// version: what cuzkctl is, and what the daemon is if one answers.
#include <ostream>

#include <fmt/ostream.h>

#include "cli/ask.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output/json.hpp"
#include "cli/output/text.hpp"
#include "common/version.hpp"

namespace cuzk::cli {

namespace {

// A daemon that is not there is an answer too, so this command needs none.
Result<int> version(Session& session) {
  const auto daemon = ask<VersionReply>(session, MessageType::kVersion, VersionRequest{});
  if (session.json) {
    print_json({{"cuzkctl",
                 {{"version", kBuildVersion},
                  {"revision", kBuildRevision},
                  {"protocol", kProtocolVersion}}},
                {"daemon", daemon ? to_json(*daemon) : Json()},
                {"socket", session.socket.string()},
                {"error", daemon ? Json() : to_json(daemon.error())}},
               session);
    return kDone;
  }
  fmt::print(session.out(), "cuzkctl {} ({}), protocol {}\n", kBuildVersion, kBuildRevision,
             kProtocolVersion);
  if (daemon) {
    fmt::print(session.out(), "daemon  {} ({}), protocol {}, pid {}\n", one_line(daemon->version),
               one_line(daemon->revision), daemon->protocol, daemon->pid);
  } else {
    fmt::print(session.out(), "daemon  none: {}\n", one_line(daemon.error().message()));
  }
  return kDone;
}

}  // namespace

Run add_version(CLI::App&) { return version; }

}  // namespace cuzk::cli
