#include "synth_worker/assignment/explain.hpp"

#include <cstdint>
#include <string>

#include "common/formats/r1cs.hpp"
#include "common/mapped_file.hpp"
#include "shm/slot.hpp"

namespace cuzk {
namespace {

constexpr std::size_t kWiresShown = 16;  // of each linear combination

std::string wires_of(const LinearCombination& combination) {
  if (combination.size() == 0) return "nothing";
  std::string text = combination.size() == 1 ? "wire" : "wires";
  for (std::size_t i = 0; i < combination.size() && i < kWiresShown; ++i) {
    text += fmt::format("{} {}", i == 0 ? "" : ",", combination[i].wire);
  }
  if (combination.size() > kWiresShown) {
    text += fmt::format(" and {} more", combination.size() - kWiresShown);
  }
  return text;
}

}  // namespace

Result<ExplainResult> explain(const ExplainCommand& command, const UniqueFd& slot,
                              const shm::SlotWord& word) {
  shm::SlotExpectation expected;
  expected.work = command.work;
  expected.circuit = command.circuit;
  expected.generation = word.generation;
  expected.layout = command.layout;
  expected.payload_bytes = command.payload_bytes;
  CUZK_TRY(reader, shm::SlotReader::open(slot, expected));
  CUZK_TRY(file, MappedFile::open(command.r1cs_path));
  CUZK_TRY(r1cs, R1cs::parse(file.bytes(), command.r1cs_path));
  CUZK_TRY(violated, first_violated(r1cs, reader.payload()));
  ExplainResult result;
  if (!violated) {
    result.satisfied = true;
    result.text = fmt::format("the witness satisfies all {} constraints",
                              r1cs.header().n_constraints);
    return result;
  }
  result.constraint = *violated;
  CUZK_CHECK(r1cs.for_each_constraint([&](const R1csConstraint& constraint) {
    if (constraint.index != *violated) return true;
    result.text = fmt::format(
        "constraint {} of {} is violated, (A.w)(B.w) = C.w with A over {}, B over {}, C over {}",
        *violated, r1cs.header().n_constraints, wires_of(constraint.a), wires_of(constraint.b),
        wires_of(constraint.c));
    return false;
  }));
  return result;
}

}  // namespace cuzk
