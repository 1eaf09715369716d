// From an input to a committed slot, from a slot and a proof to a verdict, and back to an empty slot: with
// real keys, circom's witnesses and snarkjs' proofs.
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/formats/json.hpp"
#include "common/formats/wtns.hpp"
#include "common/groth16/encoding.hpp"
#include "common/hash.hpp"
#include "shm/slot.hpp"
#include "synth_worker/assignment/explain.hpp"
#include "synth_worker/assignment/synthesise.hpp"
#include "synth_worker/assignment/verify_proof.hpp"
#include "synth_worker/assignment/wipe_slot.hpp"
#include "synth_worker/keys/convert_zkey.hpp"
#include "tests/support/manifest.hpp"
#include "tests/synth_worker/support.hpp"

namespace cuzk::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// mult2 over one curve: its prepared key, a slot leased to this process, and its circuit's folder.
class Assignment : public testing::TestWithParam<CurveId> {
 protected:
  void SetUp() override {
    const auto key = prepare_key(open_file(path("mult2.zkey")), "mult2.zkey", folder_.path(), 1);
    ASSERT_TRUE(key.ok()) << key.error().message();
    key_ = *key;
    auto slot = shm::SlotMemory::create("slot", key_.n_variables * kScalarBytes,
                                        shm::SlotMemory::Pages::kOnDemand);
    ASSERT_TRUE(slot.ok()) << slot.error().message();
    slot_ = std::make_unique<shm::SlotMemory>(std::move(*slot));
    leased_.state = shm::SlotState::kLeased;
    leased_.owner.value = 3;
    leased_.epoch.value = 5;
    leased_.generation.value = 7;
  }

  static std::string path(std::string_view name) {
    return data_path("circom/") + name_of(GetParam()) + "/mult2/" + std::string(name);
  }

  SynthesiseCommand command(InputKind kind) const {
    SynthesiseCommand command;
    command.work = work_;
    command.circuit = key_.digest;
    command.key_path = key_.path;
    command.input_kind = kind;
    command.input_name = "the input";
    command.slot_bytes = slot_->capacity;
    return command;
  }
  Result<SynthesiseResult> run(const SynthesiseCommand& command, const UniqueFd& input) {
    return synthesise(command, input, slot_->writable, leased_, calculators_, {}, {});
  }
  Result<SynthesiseResult> run_witness(std::string_view wtns) {
    return run(command(InputKind::kWitness), memory_file(wtns));
  }

  shm::SlotWord word(shm::SlotState state) const {
    shm::SlotWord word;
    word.state = state;
    word.generation = leased_.generation;
    return word;
  }
  VerifyCommand verify_command(std::string proof) const {
    VerifyCommand command;
    command.work = work_;
    command.key_path = key_.path;
    command.proof = std::move(proof);
    command.layout = AssignmentLayout::kDense;
    command.payload_bytes = key_.n_variables * kScalarBytes;
    return command;
  }
  Result<VerifyResult> verify(std::string proof) {
    return verify_proof(verify_command(std::move(proof)), slot_->read_only,
                        word(shm::SlotState::kDone));
  }
  static std::string good_proof() {
    const auto proof = proof_from_json(read_bytes(path("proof.json")), GetParam(), "proof.json");
    EXPECT_TRUE(proof.ok());
    return proof ? *proof : std::string();
  }

  // The whole slot, header and payload, as it is now.
  std::string slot_bytes() const {
    std::string bytes(shm::kPageBytes + slot_->capacity, '\0');
    EXPECT_EQ(::pread(slot_->read_only.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    return bytes;
  }
  void expect_empty_slot() const {
    EXPECT_EQ(slot_bytes().find_first_not_of('\0'), std::string::npos);
  }
  void expect_refused(const Result<SynthesiseResult>& result, const std::string& what) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().error_class, ErrorClass::kBadRequest);
    EXPECT_THAT(result.error().message(), HasSubstr(what));
    expect_empty_slot();
  }

  TemporaryFolder folder_;
  KeyInfo key_;
  std::unique_ptr<shm::SlotMemory> slot_;
  shm::SlotWord leased_;
  WorkId work_{JobId{42}, 0, 2};
  CalculatorCache calculators_{2};
};

TEST_P(Assignment, FromAWitnessFileIsItsValuesCommitted) {
  const std::string wtns = read_bytes(path("mult2.wtns"));
  const auto result = run_witness(wtns);
  ASSERT_TRUE(result.ok()) << result.error().message();
  const std::string values = wtns.substr(wtns.size() - 4 * kScalarBytes);
  EXPECT_EQ(result->payload_bytes, values.size());
  EXPECT_EQ(result->payload_checksum,
            xxh3_64(std::as_bytes(std::span(values.data(), values.size()))));
  shm::SlotExpectation expected;
  expected.work = work_;
  expected.circuit = key_.digest;
  expected.generation = leased_.generation;
  expected.producer = leased_;
  expected.layout = AssignmentLayout::kDense;
  expected.payload_bytes = values.size();
  const auto reader =
      shm::SlotReader::open(slot_->read_only, expected, shm::SlotReader::Payload::kCheck);
  ASSERT_TRUE(reader.ok()) << reader.error().message();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(reader->payload().data()), values.size()),
            values);
}

TEST_P(Assignment, FromAnInputIsTheSameAsFromTheWitnessFile) {
  CircuitFiles files;
  files.wasm = open_file(path("mult2.wasm"));
  const auto key = PreparedKey::open(key_.path, KeyCheck::kHeader);
  ASSERT_TRUE(key.ok());
  ASSERT_TRUE(
      add_circuit({"mult2", (folder_ / "circuit").string(), key_.path}, files, key->shape(), {}, {})
          .ok());
  ASSERT_TRUE(run_witness(read_bytes(path("mult2.wtns"))).ok());
  const std::string expected = slot_bytes();
  ASSERT_TRUE(wipe_slot({slot_->capacity}, slot_->writable, leased_).ok());

  SynthesiseCommand from_json = command(InputKind::kJson);
  from_json.circuit_folder = (folder_ / "circuit").string();
  const auto result = run(from_json, open_file(path("input.json")));
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(slot_bytes(), expected);

  ASSERT_TRUE(wipe_slot({slot_->capacity}, slot_->writable, leased_).ok());
  expect_refused(run(from_json, memory_file(R"({"a": 1, "c": 2})")), "no input signal \"c\"");
}

TEST_P(Assignment, FromAnInputNeedsACalculator) {
  expect_refused(run(command(InputKind::kJson), open_file(path("input.json"))),
                 "has no witness calculator");
}

TEST_P(Assignment, RefusesTheWitnessOfAnotherCircuitOrCurve) {
  expect_refused(run_witness(read_bytes(data_path("circom/") + name_of(GetParam()) +
                                        "/chain_1000/chain_1000.wtns")),
                 "the input");
  const CurveId other = GetParam() == CurveId::kBn254 ? CurveId::kBls12_381 : CurveId::kBn254;
  expect_refused(
      run_witness(read_bytes(data_path("circom/") + name_of(other) + "/mult2/mult2.wtns")),
      "the input");
}

TEST_P(Assignment, WipesWhatItHadWrittenWhenAValueIsNotCanonical) {
  std::string wtns = read_bytes(path("mult2.wtns"));
  for (std::size_t i = wtns.size() - kScalarBytes; i < wtns.size(); ++i) wtns[i] = '\xff';
  expect_refused(run_witness(wtns), "the input");
}

TEST_P(Assignment, GivesEveryMalformedWitnessWhatTheManifestSays) {
  for (const ManifestRow& row : read_manifest()) {
    if (row.kind != "wtns" || row.curve != GetParam()) continue;
    SCOPED_TRACE(row.file);
    const auto result = run_witness(read_bytes(row.path()));
    EXPECT_EQ(result.ok(), row.outcome != Outcome::kReject);
    if (!result) {
      EXPECT_EQ(result.error().error_class, ErrorClass::kBadRequest);
      expect_empty_slot();
    }
  }
}

TEST_P(Assignment, StopsWithoutCommittingWhenNobodyWantsIt) {
  TaskMonitor monitor;
  monitor.keep_running = [] { return false; };
  const auto result = synthesise(command(InputKind::kWitness), open_file(path("mult2.wtns")),
                                 slot_->writable, leased_, calculators_, {}, monitor);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().error_class, ErrorClass::kOperator);
  expect_empty_slot();
}

TEST_P(Assignment, ForAKeyThatIsAnotherOneGoesElsewhere) {
  SynthesiseCommand other = command(InputKind::kWitness);
  other.circuit[0] ^= 1;
  const auto result = run(other, open_file(path("mult2.wtns")));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().error_class, ErrorClass::kRetryElsewhere);
  expect_empty_slot();
}

TEST_P(Assignment, VerifiesTheProofOfSnarkjsAndNamesThePublicValues) {
  ASSERT_TRUE(run_witness(read_bytes(path("mult2.wtns"))).ok());
  const auto result = verify(good_proof());
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_TRUE(result->valid);
  EXPECT_EQ(publics_to_json(result->publics), read_bytes(path("public.json")));
}

TEST_P(Assignment, FindsAProofOfAnotherStatementInvalid) {
  std::string wtns = read_bytes(path("mult2.wtns"));
  wtns[wtns.size() - 3 * kScalarBytes] ^= 1;  // the public output
  ASSERT_TRUE(run_witness(wtns).ok());
  const auto result = verify(good_proof());
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_FALSE(result->valid);
}

TEST_P(Assignment, FindsABrokenProofInvalid) {
  ASSERT_TRUE(run_witness(read_bytes(path("mult2.wtns"))).ok());
  const std::string good = good_proof();
  std::string flipped = good;
  flipped[5] = static_cast<char>(flipped[5] ^ 1);
  for (const std::string& bad :
       {std::string(), good.substr(1), good + "x", flipped, std::string(good.size(), '\0'),
        std::string(good.size(), '\xff')}) {
    const auto result = verify(bad);
    ASSERT_TRUE(result.ok()) << result.error().message();
    EXPECT_FALSE(result->valid);
  }
}

TEST_P(Assignment, IsNotVerifiedWhenTheSlotHoldsOtherWork) {
  ASSERT_TRUE(run_witness(read_bytes(path("mult2.wtns"))).ok());
  VerifyCommand other = verify_command(good_proof());
  other.work.attempt = 3;
  const auto result = verify_proof(other, slot_->read_only, word(shm::SlotState::kDone));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().error_class, ErrorClass::kRetryElsewhere);
}

TEST_P(Assignment, IsExplainedByTheFirstViolatedConstraint) {
  ExplainCommand command;
  command.work = work_;
  command.circuit = key_.digest;
  command.r1cs_path = path("mult2.r1cs");
  command.layout = AssignmentLayout::kDense;
  command.payload_bytes = key_.n_variables * kScalarBytes;

  ASSERT_TRUE(run_witness(read_bytes(path("mult2.wtns"))).ok());
  const auto good = explain(command, slot_->read_only, word(shm::SlotState::kDone));
  ASSERT_TRUE(good.ok()) << good.error().message();
  EXPECT_TRUE(good->satisfied);

  std::string wtns = read_bytes(path("mult2.wtns"));
  wtns[wtns.size() - kScalarBytes] ^= 1;
  ASSERT_TRUE(run_witness(wtns).ok());
  const auto bad = explain(command, slot_->read_only, word(shm::SlotState::kDone));
  ASSERT_TRUE(bad.ok()) << bad.error().message();
  EXPECT_FALSE(bad->satisfied);
  EXPECT_EQ(bad->constraint, 0U);
  EXPECT_THAT(bad->text, AllOf(HasSubstr("constraint 0 of 1"), HasSubstr("A over wire 2"),
                               HasSubstr("B over wire 3"), HasSubstr("C over wire 1")));

  command.r1cs_path = data_path("circom/") + name_of(GetParam()) + "/chain_1000/chain_1000.r1cs";
  const auto other = explain(command, slot_->read_only, word(shm::SlotState::kDone));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().error_class, ErrorClass::kBadRequest);
}

TEST_P(Assignment, IsGoneAfterTheWipe) {
  ASSERT_TRUE(run_witness(read_bytes(path("mult2.wtns"))).ok());
  EXPECT_NE(slot_bytes().find_first_not_of('\0'), std::string::npos);
  ASSERT_TRUE(
      wipe_slot({key_.n_variables * kScalarBytes}, slot_->writable, leased_).ok());
  expect_empty_slot();
  EXPECT_FALSE(verify(good_proof()).ok()) << "nothing is committed any more";
}

TEST_P(Assignment, IsNotWipedBeyondItsSlot) {
  const auto status = wipe_slot({slot_->capacity + 1}, slot_->writable, leased_);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().error_class, ErrorClass::kBug);
}

INSTANTIATE_TEST_SUITE_P(Curves, Assignment, testing::Values(CurveId::kBn254, CurveId::kBls12_381),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

}  // namespace
}  // namespace cuzk::test
