// circuit list: the registered circuits.
#include <ostream>

#include "cli/ask.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output/circuit.hpp"
#include "cli/output/json.hpp"
#include "cli/output/text.hpp"

namespace cuzk::cli {

namespace {

Result<int> circuit_list(Session& session) {
  CUZK_TRY(reply, ask<CircuitListReply>(session, MessageType::kCircuitList, CircuitListRequest{}));
  if (session.json) {
    Json list = Json::array();
    for (const CircuitInfo& circuit : reply.circuits) list.push_back(to_json(circuit));
    print_json({{"circuits", std::move(list)}}, session);
    return kDone;
  }
  Table table(
      {"CIRCUIT", "CURVE", "VARIABLES>", "PUBLIC>", "DOMAIN>", "KEY SIZE>", "KEY", "TAKES"});
  for (const CircuitInfo& circuit : reply.circuits) {
    table.add({circuit.name, name_of(circuit.key.curve), std::to_string(circuit.key.n_variables),
               std::to_string(circuit.key.n_public), std::to_string(circuit.key.domain_size),
               size_text(circuit.key.file_bytes), to_hex(circuit.key.digest).substr(0, 12),
               witness_source(circuit.artefacts)});
  }
  if (table.empty()) {
    session.out() << "no circuits; cuzkctl circuit add registers one\n";
  } else {
    table.print(session.out());
  }
  return kDone;
}

}  // namespace

Run add_circuit_list(CLI::App&) { return circuit_list; }

}  // namespace cuzk::cli
