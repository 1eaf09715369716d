// circuit add: gives the daemon a key and what makes its witnesses, under a name.
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include "cli/attachment.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/output/circuit.hpp"
#include "cli/output/json.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/text.hpp"

namespace cuzk::cli {

namespace {

using std::chrono::microseconds;

struct Options {
  std::string name;
  std::filesystem::path zkey;
  std::filesystem::path wasm;
  std::filesystem::path program;
  std::filesystem::path r1cs;
};

// circom's C++ programs read their circuit's data from a file of their own name with .dat behind
// it.
Status attach_program(const std::filesystem::path& program, Attachments& attachments) {
  CUZK_CHECK(attachments.add(program));
  Status data = attachments.add(program.string() + ".dat");
  if (data) return data;
  Error error = data.error();
  error.hint = "circom writes this file beside the witness program, and it must stay there";
  return error;
}

Result<CircuitAddRequest> make_request(const Options& options, Attachments& attachments) {
  CircuitAddRequest request;
  request.name = options.name;
  request.key_name = options.zkey.string();
  CUZK_CHECK(attachments.add(options.zkey));
  if (!options.wasm.empty()) {
    request.wasm_attached = true;
    CUZK_CHECK(attachments.add(options.wasm));
  }
  if (!options.program.empty()) {
    request.program_attached = true;
    CUZK_CHECK(attach_program(options.program, attachments));
  }
  if (!options.r1cs.empty()) {
    request.r1cs_attached = true;
    CUZK_CHECK(attachments.add(options.r1cs));
  }
  return request;
}

void print_added(const CircuitInfo& circuit, std::ostream& out) {
  const KeyInfo& key = circuit.key;
  fmt::print(out, "circuit {}: {}, {} variables, {} public signals, domain {}; {}\n",
             one_line(circuit.name), name_of(key.curve), key.n_variables, key.n_public,
             key.domain_size, witness_source(circuit.artefacts));
  fmt::print(out, "  key        {:>10}  {}\n", time_text(microseconds(key.microseconds)),
             key.converted ? "checked and converted" : "was converted before, checked again");
  fmt::print(out, "  artefacts  {:>10}\n", time_text(microseconds(circuit.artefacts.microseconds)));
  if (key.test_only)
    fmt::print(out, "  the key is for tests only: whoever made it can forge proofs\n");
}

Result<int> circuit_add(const Options& options, Session& session) {
  Attachments attachments;
  CUZK_TRY(request, make_request(options, attachments));
  CUZK_TRY(client, Client::connect(session.socket, kPromptly));
  CUZK_TRY(interrupt, Interrupt::begin());
  ProgressLine progress(session);
  CallOptions call;
  call.interrupt_fd = interrupt.fd();
  call.on_progress = [&](const ProgressEvent& event) { progress.show(event); };
  auto added = client.call<CircuitInfo>(MessageType::kCircuitAdd, request, attachments.fds(), call);
  progress.clear();
  if (!added && interrupt.take()) {
    fmt::print(
        session.err(),
        "cuzkctl: interrupted; the daemon may still add the circuit: see cuzkctl circuit list\n");
    return kInterrupted;
  }
  if (!added) return std::move(added).error();
  if (session.json) {
    print_json(to_json(*added), session);
  } else {
    print_added(*added, session.out());
  }
  return kDone;
}

}  // namespace

Run add_circuit_add(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("NAME", options->name, "Letters, digits, '-', '_', '.'; at most 64")->required();
  app.add_option("--zkey", options->zkey, "Proving key of snarkjs")->type_name("FILE")->required();
  CLI::Option* wasm =
      app.add_option("--wasm", options->wasm, "circom's witness generator for --input");
  CLI::Option* program = app.add_option("--witness-program", options->program,
                                        "Or circom's C++ witness program; its .dat lies beside it");
  wasm->type_name("FILE")->excludes(program);
  program->type_name("FILE");
  app.add_option("--r1cs", options->r1cs, "Constraints, to explain a witness that breaks one")
      ->type_name("FILE");
  return [options](Session& session) { return circuit_add(*options, session); };
}

}  // namespace cuzk::cli
