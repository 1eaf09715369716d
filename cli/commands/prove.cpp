// prove: hands a key or a circuit's name and an input to the daemon, and waits for the proof.
#include <algorithm>
#include <map>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ostream.h>

#include "cli/attachment.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/job_answer.hpp"
#include "cli/output/json.hpp"
#include "cli/output/progress.hpp"

namespace cuzk::cli {

namespace {

constexpr std::size_t kMaxRequestId = 128;

struct Options {
  std::string circuit;
  std::filesystem::path zkey;
  std::filesystem::path wtns;
  std::filesystem::path input;
  AnswerFiles answer;
  Priority priority = Priority::kNormal;
  std::string request_id;
  bool no_wait = false;
  double timeout = 0;
};

Status check(const Options& options) {
  if (options.circuit.empty() == options.zkey.empty()) {
    return usage(
        options.circuit.empty() ? "nothing to prove with" : "both a circuit's name and --zkey",
        "give either --zkey FILE or the NAME of a registered circuit");
  }
  if (options.wtns.empty() == options.input.empty()) {
    return usage(options.wtns.empty() ? "nothing to prove" : "both --wtns and --input",
                 "give one of --wtns FILE and, for a registered circuit, --input FILE");
  }
  if (!options.zkey.empty() && !options.input.empty()) {
    return usage("a key alone makes no witness from --input",
                 "register the circuit: cuzkctl circuit add NAME --zkey FILE --wasm FILE");
  }
  if (options.request_id.size() > kMaxRequestId) {
    return usage(fmt::format("a --request-id has at most {} bytes, this one {}", kMaxRequestId,
                             options.request_id.size()));
  }
  if (options.no_wait && !(options.answer.proof.empty() && options.answer.publics.empty())) {
    return usage("with --no-wait there is nothing to write yet",
                 "use cuzkctl await ID --proof FILE --public FILE");
  }
  return check_answer_files(options.answer);
}

Result<SubmitRequest> make_request(const Options& options, const Session& session,
                                   Attachments& attachments) {
  SubmitRequest request;
  request.request_id = options.request_id;
  request.priority = options.priority;
  request.circuit_name = options.circuit;
  request.progress = !session.json;
  if (!options.zkey.empty()) {
    CUZK_CHECK(attachments.add(options.zkey));
    request.key_attached = true;
    request.key_name = options.zkey.string();
  }
  const std::filesystem::path& file = options.wtns.empty() ? options.input : options.wtns;
  CUZK_TRY(input, take_input(file, attachments));
  request.input_kind = options.wtns.empty() ? InputKind::kJson : InputKind::kWitness;
  request.input_attached = input.attached;
  request.input_inline = std::move(input.content);
  request.input_name = file.string();
  return request;
}

// Nothing: Ctrl-C came first.
Result<std::optional<SubmitReply>> submit(Client& client, const SubmitRequest& request,
                                          const Attachments& attachments, const Deadline& deadline,
                                          const Session& session) {
  CUZK_TRY(interrupt, Interrupt::begin());
  ProgressLine progress(session);
  CallOptions options;
  options.timeout = deadline.left();
  options.interrupt_fd = interrupt.fd();
  options.on_progress = [&](const ProgressEvent& event) { progress.show(event); };
  auto reply = client.call<SubmitReply>(MessageType::kSubmit, request, attachments.fds(), options);
  progress.clear();
  if (reply) return std::optional(*reply);
  if (interrupt.take()) {
    fmt::print(session.err(),
               "cuzkctl: interrupted before the job was accepted; ask again to prove it\n");
    return std::optional<SubmitReply>();
  }
  return std::move(reply).error();
}

void print_accepted(const SubmitReply& reply, const Session& session) {
  if (session.json) {
    print_json(
        {{"job", reply.job.value}, {"state", name_of(reply.state)}, {"existed", reply.existed}},
        session);
    return;
  }
  fmt::print(session.out(), "job {}: {}{}\n", reply.job.value, name_of(reply.state),
             reply.existed ? "; its request id was known" : "");
}

Result<int> prove(const Options& options, Session& session) {
  CUZK_CHECK(check(options));
  const Deadline deadline(options.timeout);
  Attachments attachments;
  CUZK_TRY(request, make_request(options, session, attachments));
  CUZK_TRY(client,
           Client::connect(session.socket, std::min<std::chrono::milliseconds>(
                                               deadline.left().value_or(kPromptly), kPromptly)));
  CUZK_TRY(reply, submit(client, request, attachments, deadline, session));
  if (!reply) return kInterrupted;
  if (options.no_wait) {
    print_accepted(*reply, session);
    return kDone;
  }
  return wait_for_answer(client, std::to_string(reply->job.value), deadline, options.answer,
                         session);
}

}  // namespace

Run add_prove(CLI::App& app) {
  static const std::map<std::string, Priority> kPriorities = {{"low", Priority::kLow},
                                                              {"normal", Priority::kNormal},
                                                              {"high", Priority::kHigh},
                                                              {"critical", Priority::kCritical}};
  auto options = std::make_shared<Options>();
  app.add_option("NAME", options->circuit, "A registered circuit (see circuit add)");
  app.add_option("--zkey", options->zkey, "Proving key of snarkjs, instead of NAME")
      ->type_name("FILE");
  app.add_option("--wtns", options->wtns, "Witness")->type_name("FILE");
  app.add_option("--input", options->input, "Input signals as JSON, for a registered circuit")
      ->type_name("FILE");
  add_answer_files(app, options->answer);
  app.add_option("--priority", options->priority, "low, normal, high or critical")
      ->type_name("NAME")
      ->transform(CLI::CheckedTransformer(kPriorities, CLI::ignore_case).description(""));
  app.add_option("--request-id", options->request_id,
                 "The same id again gives the same job and answer")
      ->type_name("ID");
  app.add_flag("--no-wait", options->no_wait, "Print the job's number as soon as it is accepted");
  add_timeout(app, options->timeout);
  return [options](Session& session) { return prove(*options, session); };
}

}  // namespace cuzk::cli
