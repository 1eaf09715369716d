#include "cli/job_answer.hpp"

#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/output/json.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/text.hpp"
#include "common/formats/json.hpp"
#include "common/mapped_file.hpp"

namespace cuzk::cli {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// The daemon ends a wait that is over with an answer; its word may need so long to get here.
constexpr milliseconds kAnswerGrace{2000};

struct AnswerText {
  std::string proof;
  std::string publics;
};

// The answer in snarkjs' form, once the bytes are seen to have the right size.
Result<AnswerText> answer_text(const JobReport& report) {
  const bool known_curve = report.curve == CurveId::kBn254 || report.curve == CurveId::kBls12_381;
  if (!known_curve || report.proof.size() != proof_bytes(report.curve) ||
      report.publics.size() % kScalarBytes != 0) {
    return bug("the daemon's answer is not a proof", fmt::format("job {}", report.job.value));
  }
  return AnswerText{proof_to_json(report.curve, report.proof), publics_to_json(report.publics)};
}

Status write_answer(const AnswerText& answer, const AnswerFiles& files, const std::string& id) {
  for (const auto& [path, text] :
       {std::pair(&files.proof, &answer.proof), {&files.publics, &answer.publics}}) {
    if (path->empty()) continue;
    if (Status written = write_file_atomically(*path, *text); !written) {
      Error error = written.error();
      error.hint = fmt::format("the proof is kept: cuzkctl await {}", id);
      return error;
    }
  }
  return {};
}

// "proving/msm" belongs to "proving": indented, with its last word.
void print_stages(const JobReport& report, std::ostream& out) {
  std::size_t width = 0;
  const auto label = [](const std::string& step) {
    const std::size_t slash = step.rfind('/');
    return slash == std::string::npos ? "  " + step : "    " + step.substr(slash + 1);
  };
  for (const StepTime& stage : report.stages) width = std::max(width, label(stage.step).size());
  for (const StepTime& stage : report.stages) {
    fmt::print(out, "{:<{}}  {:>10}\n", one_line(label(stage.step)), width,
               time_text(microseconds(stage.microseconds)));
  }
}

void print_done(const JobReport& report, const AnswerText& answer, const AnswerFiles& files,
                std::ostream& out) {
  fmt::print(out, "job {}: {} proved on {} in {}\n", report.job.value,
             one_line(report.circuit_name), one_line(report.device),
             time_text(milliseconds(report.finished_ms - report.submitted_ms)));
  print_stages(report, out);
  if (files.proof.empty()) {
    fmt::print(out, "proof:\n{}\n", answer.proof);
  } else {
    fmt::print(out, "proof written to {}\n", files.proof.string());
  }
  if (files.publics.empty()) {
    fmt::print(out, "public signals:\n{}\n", answer.publics);
  } else {
    fmt::print(out, "public signals written to {}\n", files.publics.string());
  }
}

Result<int> deliver(const JobReport& report, const AnswerFiles& files, const Session& session) {
  const std::string id = std::to_string(report.job.value);
  CUZK_TRY(answer, answer_text(report));
  CUZK_CHECK(write_answer(answer, files, id));
  if (session.json) {
    Json json = to_json(report);
    json["proof"] = Json::parse(answer.proof);
    json["public"] = Json::parse(answer.publics);
    print_json(json, session);
  } else {
    print_done(report, answer, files, session.out());
  }
  return kDone;
}

// A job that ended without a proof. Input that was refused before anything was proved is a bad
// request; a proof that was made and found to be false is a failure.
int report_failure(const JobReport& report, const Session& session) {
  const Error error =
      report.error.value_or(Error{ErrorClass::kOperator, "no reason is known", {}, {}});
  fmt::print(session.err(), "cuzkctl: job {} {}: {}\n", report.job.value, name_of(report.state),
             one_line(error.message()));
  if (session.json) print_json(to_json(report), session);
  const bool refused = error.error_class == ErrorClass::kBadRequest && report.device.empty();
  return report.state == JobState::kFailed && refused ? kUsage : kFailed;
}

// Adds to an error of the wait that the job does not end with it.
Error still_running(Error error, const std::string& id) {
  if (error.error_class == ErrorClass::kBusy) {
    error.hint = fmt::format("the job goes on: cuzkctl await {}, or cuzkctl cancel {}", id, id);
  } else if (error.error_class == ErrorClass::kUnavailable) {
    error.hint =
        fmt::format("the job is on its disk and goes on when it runs again: cuzkctl await {}", id);
  }
  return error;
}

}  // namespace

void add_answer_files(CLI::App& app, AnswerFiles& files) {
  app.add_option("--proof", files.proof,
                 "Write the proof here, as snarkjs does; else it is printed")
      ->type_name("FILE");
  app.add_option("--public", files.publics, "Write the public signals here; else they are printed")
      ->type_name("FILE");
}

Status check_answer_files(const AnswerFiles& files) {
  if (!files.proof.empty() && files.proof == files.publics) {
    return usage("--proof and --public name the same file");
  }
  return {};
}

Result<int> wait_for_answer(Client& client, const std::string& id, const Deadline& deadline,
                            const AnswerFiles& files, Session& session) {
  CUZK_TRY(interrupt, Interrupt::begin());
  ProgressLine progress(session);
  AwaitRequest request{id, 0, !session.json};
  CallOptions options;
  options.interrupt_fd = interrupt.fd();
  options.on_progress = [&](const ProgressEvent& event) { progress.show(event); };
  if (const auto left = deadline.left()) {
    request.timeout_ms = static_cast<std::uint64_t>(left->count());
    options.timeout = *left + kAnswerGrace;
  }
  const auto report = client.call<JobReport>(MessageType::kAwait, request, {}, options);
  progress.clear();
  if (!report) {
    if (interrupt.take()) {
      fmt::print(session.err(),
                 "cuzkctl: interrupted; job {} goes on: \"cuzkctl await {}\" waits for it, "
                 "\"cuzkctl cancel {}\" stops it\n",
                 id, id, id);
      return kInterrupted;
    }
    return still_running(report.error(), id);
  }
  if (report->state == JobState::kDone) return deliver(*report, files, session);
  return report_failure(*report, session);
}

}  // namespace cuzk::cli
