// Constraint files, and the search for a violated constraint.
#include "common/formats/r1cs.hpp"

#include <vector>

#include "tests/fuzz/fuzz.hpp"

using namespace cuzk;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto r1cs = R1cs::parse(fuzz::bytes_of(data, size), "c.r1cs");
  if (!r1cs) {
    fuzz::require_refusal(r1cs.error());
    return 0;
  }
  const R1csHeader& header = r1cs->header();
  std::uint64_t seen = 0;
  const Status walked = r1cs->for_each_constraint([&](const R1csConstraint& constraint) {
    for (const LinearCombination& side : {constraint.a, constraint.b, constraint.c}) {
      for (std::size_t i = 0; i < side.size(); ++i) {
        fuzz::require(side[i].wire < header.n_wires, "wires are in range");
      }
    }
    ++seen;
    return true;
  });
  fuzz::require(walked && seen == header.n_constraints, "all constraints are visited");
  // The header may name billions of wires when no constraint uses them.
  if (header.n_wires > (1u << 16)) return 0;
  std::vector<std::byte> witness(std::size_t{header.n_wires} * 32);
  for (std::size_t i = 0; i < header.n_wires; ++i) witness[32 * i] = std::byte(i % 3);
  witness[0] = std::byte{1};
  const auto violated = first_violated(*r1cs, witness);
  fuzz::require(violated.ok(), "a canonical witness is looked at");
  fuzz::require(!*violated || **violated < header.n_constraints, "a violated constraint exists");
  return 0;
}
