// From a slot to a proof: what the slot says is believed only where the command says the same.
#include "gpu_worker/prove_task.hpp"

#include <cstring>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "common/hash.hpp"
#include "gpu_worker/engine_factory.hpp"
#include "shm/slot.hpp"
#include "tests/gpu_worker/proving.hpp"

namespace cuzk {
namespace {

using test::CircuitFiles;
namespace fs = std::filesystem;
using test::PreparedCircuit;

class ProveSlot : public testing::Test {
 protected:
  PreparedCircuit circuit{CircuitFiles{"bn128", "mult2"}};
  std::unique_ptr<Engine> engine = *make_engine("cpu", 1);
  KeyCache keys{2};
  shm::SlotMemory slot;
  shm::SlotWord leased{shm::SlotState::kLeased, WorkerIndex{1}, Epoch{3}, Generation{7}};
  shm::SlotWord bound{shm::SlotState::kBound, WorkerIndex{2}, Epoch{5}, Generation{7}};
  ProveCommand command;

  void SetUp() override {
    auto memory = shm::SlotMemory::create("test", 4096, shm::SlotMemory::Pages::kOnDemand);
    ASSERT_TRUE(memory);
    slot = *std::move(memory);
    command.work = {JobId{11}, 0, 2};
    command.circuit = circuit.info().digest;
    command.key_path = circuit.info().path;
    command.layout = AssignmentLayout::kDense;
    command.payload_bytes = circuit.payload().size();
    command.payload_checksum = xxh3_64(circuit.payload());
    commit(command);
  }
  // Writes the witness under the header that `said` describes.
  void commit(const ProveCommand& said) {
    auto writer = shm::SlotWriter::open(slot.writable, leased);
    ASSERT_TRUE(writer) << writer.error().message();
    writer->begin(said.work, said.circuit, said.layout);
    std::memcpy(writer->payload().data(), circuit.payload().data(), circuit.payload().size());
    ASSERT_TRUE(writer->commit(said.payload_bytes, said.payload_checksum));
  }
  Result<ProveResult> prove() {
    StepMonitor monitor;
    return prove_slot(command, slot.read_only, bound, *engine, keys, monitor);
  }
};

TEST_F(ProveSlot, gives_a_valid_proof_and_the_time_of_every_step) {
  const auto result = prove();
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_TRUE(circuit.accepts(result->proof));
  EXPECT_EQ(result->steps.size(), kSteps.size());
}

TEST_F(ProveSlot, uses_fresh_blinding_for_every_attempt) {
  const auto first = prove();
  const auto second = prove();
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->proof, second->proof);
}

TEST_F(ProveSlot, refuses_a_slot_that_differs_from_the_command_in_any_field) {
  const std::function<void(ProveCommand&)> changes[] = {
      [](ProveCommand& c) { c.work.job.value += 1; },
      [](ProveCommand& c) { c.work.partition += 1; },
      [](ProveCommand& c) { c.work.attempt += 1; },
      [](ProveCommand& c) { c.circuit[0] ^= 1; },
      [](ProveCommand& c) { c.payload_bytes -= 32; },
      [](ProveCommand& c) { c.payload_checksum ^= 1; },
  };
  for (const auto& change : changes) {
    ProveCommand other = command;
    change(other);
    commit(other);
    const auto result = prove();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().error_class, ErrorClass::kRetryElsewhere) << result.error().message();
  }
  commit(command);
  bound.generation.value += 1;
  EXPECT_FALSE(prove());
}

TEST_F(ProveSlot, refuses_a_payload_that_changed_after_its_commit) {
  auto writer = shm::SlotWriter::open(slot.writable, leased);
  ASSERT_TRUE(writer);
  writer->payload()[40] ^= std::byte{1};
  const auto result = prove();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().error_class, ErrorClass::kRetryElsewhere);
}

TEST_F(ProveSlot, refuses_a_slot_without_a_commit) {
  auto memory = shm::SlotMemory::create("empty", 4096, shm::SlotMemory::Pages::kOnDemand);
  ASSERT_TRUE(memory);
  slot = *std::move(memory);
  EXPECT_FALSE(prove());
}

TEST_F(ProveSlot, refuses_a_key_of_another_circuit_or_a_damaged_one) {
  const PreparedCircuit other{CircuitFiles{"bn128", "edge_add2"}};
  command.key_path = other.info().path;
  auto result = prove();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().error_class, ErrorClass::kRetryElsewhere);
  command.key_path = circuit.info().path;
  std::string bytes = test::read_whole(command.key_path);
  bytes[bytes.size() / 2] ^= 1;
  const fs::path damaged = fs::path(command.key_path).parent_path() / "damaged.ckey";
  ASSERT_TRUE(write_file_atomically(damaged, bytes));
  command.key_path = damaged.string();
  result = prove();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message().find("checksum"), std::string::npos);
}

TEST_F(ProveSlot, keeps_a_key_mapped_until_it_is_dropped) {
  ASSERT_TRUE(prove());
  fs::remove(command.key_path);
  EXPECT_TRUE(prove());
  keys.drop(command.circuit);
  EXPECT_FALSE(prove());
}

TEST(KeyCache, forgets_the_key_that_was_used_longest_ago) {
  const PreparedCircuit a{CircuitFiles{"bn128", "mult2"}};
  const PreparedCircuit b{CircuitFiles{"bn128", "edge_add2"}};
  const PreparedCircuit c{CircuitFiles{"bls12381", "mult2"}};
  KeyCache keys(2);
  const auto get = [&keys](const PreparedCircuit& circuit) {
    auto key = keys.get(circuit.info().digest, circuit.info().path);
    EXPECT_TRUE(key) << key.error().message();
    return key ? key->get() : nullptr;
  };
  const auto* first = get(a);
  get(b);
  EXPECT_EQ(get(a), first);
  get(c);
  EXPECT_EQ(keys.size(), 2u);
  EXPECT_EQ(get(a), first);
  fs::remove(b.info().path);
  EXPECT_FALSE(keys.get(b.info().digest, b.info().path));
}

}  // namespace
}  // namespace cuzk
