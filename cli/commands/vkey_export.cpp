// vkey export: the verification key that a proving key contains, as snarkjs writes it.
#include <memory>
#include <ostream>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "common/formats/json.hpp"
#include "common/formats/zkey.hpp"
#include "common/groth16/verifying_key.hpp"
#include "common/mapped_file.hpp"

namespace cuzk::cli {

namespace {

Result<int> vkey_export(const std::filesystem::path& file, Session& session) {
  CUZK_TRY(mapped, MappedFile::open(file));
  CUZK_TRY(zkey, Zkey::parse(mapped.bytes(), file.string()));
  const ZkeyHeader& header = zkey.header();
  const MontgomeryVerifyingKey points{header.alpha1, header.beta2, header.gamma2, header.delta2,
                                      zkey.ic()};
  CUZK_TRY(key, import_verifying_key(header.curve, points, file.string()));
  CUZK_TRY(pairing, alphabeta_bytes(key));
  session.out() << vkey_to_json(key, pairing);
  // A file is to equal snarkjs', which ends without a line feed; a terminal wants one.
  if (session.terminal.out_is_terminal) session.out() << '\n';
  return kDone;
}

}  // namespace

Run add_vkey_export(CLI::App& app) {
  auto zkey = std::make_shared<std::filesystem::path>();
  app.add_option("--zkey", *zkey, "Proving key of snarkjs")->type_name("FILE")->required();
  return [zkey](Session& session) { return vkey_export(*zkey, session); };
}

}  // namespace cuzk::cli
