// circuit remove: forgets a circuit's name. Its key stays in the cache.
#include <memory>
#include <ostream>

#include <fmt/ostream.h>

#include "cli/ask.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output/json.hpp"
#include "cli/output/text.hpp"

namespace cuzk::cli {

namespace {

Result<int> circuit_remove(const std::string& name, Session& session) {
  CUZK_TRY(removed,
           ask<CircuitInfo>(session, MessageType::kCircuitRemove, CircuitRemoveRequest{name}));
  if (session.json) {
    print_json(to_json(removed), session);
  } else {
    fmt::print(session.out(), "circuit {} removed; accepted jobs of it go on\n",
               one_line(removed.name));
  }
  return kDone;
}

}  // namespace

Run add_circuit_remove(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("NAME", *name, "A registered circuit")->required();
  return [name](Session& session) { return circuit_remove(*name, session); };
}

}  // namespace cuzk::cli
