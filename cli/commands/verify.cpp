// verify: checks a proof against a verification key, without the daemon.
#include <memory>
#include <ostream>

#include <fmt/ostream.h>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output/json.hpp"
#include "cli/output/text.hpp"
#include "common/formats/json.hpp"
#include "common/groth16/verify.hpp"
#include "common/mapped_file.hpp"

namespace cuzk::cli {

namespace {

// Keys and public signals of circuits far larger than any that fits a daemon's answer.
constexpr std::size_t kMaxJsonBytes = std::size_t{256} << 20;

struct Options {
  std::filesystem::path vkey;
  std::filesystem::path publics;
  std::filesystem::path proof;
};

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Result<int> verify_files(const Options& options, Session& session) {
  CUZK_TRY(vkey_text, read_file(options.vkey, kMaxJsonBytes));
  CUZK_TRY(publics_text, read_file(options.publics, kMaxJsonBytes));
  CUZK_TRY(proof_text, read_file(options.proof, kMaxJsonBytes));
  CUZK_TRY(vkey, vkey_from_json(vkey_text, options.vkey.string()));
  CUZK_TRY(publics, publics_from_json(publics_text, vkey.curve, options.publics.string()));
  CUZK_TRY(proof, proof_from_json(proof_text, vkey.curve, options.proof.string()));
  auto verdict = verify_bytes(vkey, bytes_of(proof), bytes_of(publics));
  if (!verdict) {
    Error error = verdict.error();
    if (error.where.empty()) error.where = options.vkey.string();
    return error;
  }
  if (session.json) {
    print_json({{"valid", verdict->valid},
                {"reason", verdict->valid ? Json() : Json(verdict->reason)},
                {"curve", name_of(vkey.curve)},
                {"public_signals", vkey.n_public}},
               session);
  } else if (verdict->valid) {
    fmt::print(session.out(), "valid: {} proves the {} public signals of {}\n",
               options.proof.string(), vkey.n_public, options.publics.string());
  } else {
    fmt::print(session.out(), "INVALID: {}\n", one_line(verdict->reason));
  }
  return verdict->valid ? kDone : kFailed;
}

}  // namespace

Run add_verify(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--vkey", options->vkey, "Verification key (JSON)")->type_name("FILE")->required();
  app.add_option("--public", options->publics, "Public signals (JSON)")
      ->type_name("FILE")
      ->required();
  app.add_option("--proof", options->proof, "Proof (JSON)")->type_name("FILE")->required();
  return [options](Session& session) { return verify_files(*options, session); };
}

}  // namespace cuzk::cli
