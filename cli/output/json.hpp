// The JSON that --json prints. The field names are an interface: cli/README.md lists them.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "common/protocol/messages.hpp"
#include "common/result.hpp"

namespace cuzk::cli {

using Json = nlohmann::ordered_json;

Json to_json(const Error& error);
Json to_json(const KeyInfo& key);
Json to_json(const VersionReply& version);
Json to_json(const CircuitInfo& circuit);
Json to_json(const StatusReply& status);
// Without proof and public signals.
Json to_json(const JobReport& report);

// One line on standard output. Bytes that are no UTF-8 are replaced.
void print_json(const Json& json, const Session& session);

}  // namespace cuzk::cli
