// Finds the first constraint that a witness violates.
#include "common/formats/r1cs.hpp"

#include <cstring>

#include "common/field/fp.hpp"
#include "common/field/params.hpp"
#include "common/formats/wtns.hpp"

namespace cuzk {

namespace {

// Canonical integers are taken for Montgomery forms, which saves converting every coefficient and
// wire: x stands for x/R. A product of two is then off by 1/R^2, the sum A.w with it, (A.w)(B.w) by
// 1/R^4, and C.w, off by 1/R^2, catches up by one factor 1/R^2.
template <class Fr>
class ConstraintCheck {
 public:
  ConstraintCheck(const R1csHeader& header, std::span<const std::byte> witness)
      : n_wires_(header.n_wires), witness_(witness) {
    constexpr ScalarInteger kOne = {1, 0, 0, 0};
    const Fr one_over_r = raw(kOne.data());
    catch_up_ = one_over_r * one_over_r;
  }

  bool holds(const R1csConstraint& constraint) const {
    const Fr a = evaluate(constraint.a);
    const Fr b = evaluate(constraint.b);
    const Fr c = evaluate(constraint.c);
    return a * b == c * catch_up_;
  }

 private:
  Fr evaluate(const LinearCombination& combination) const {
    Fr sum = Fr::zero();
    for (std::size_t i = 0; i < combination.size(); ++i) {
      const R1csTerm term = combination[i];
      // The file may have changed since it was checked; a wire that was in range then is looked at
      // again.
      if (term.wire >= n_wires_) continue;
      sum = sum + raw(term.coefficient.data()) *
                      raw(witness_.data() + std::size_t{term.wire} * kScalarFieldBytes);
    }
    return sum;
  }

  static Fr raw(const void* bytes) {
    typename Fr::Integer integer;
    static_assert(sizeof integer == kScalarFieldBytes);
    std::memcpy(&integer, bytes, sizeof integer);
    return Fr::from_raw(integer);
  }

  std::uint32_t n_wires_;
  std::span<const std::byte> witness_;
  Fr catch_up_;
};

template <class Fr>
Result<std::optional<std::uint64_t>> find_violated(const R1cs& r1cs,
                                                   std::span<const std::byte> witness) {
  const ConstraintCheck<Fr> check(r1cs.header(), witness);
  std::optional<std::uint64_t> violated;
  CUZK_CHECK(r1cs.for_each_constraint([&](const R1csConstraint& constraint) {
    if (!check.holds(constraint)) violated = constraint.index;
    return !violated;
  }));
  return violated;
}

}  // namespace

Result<std::optional<std::uint64_t>> first_violated(const R1cs& r1cs,
                                                    std::span<const std::byte> witness) {
  const R1csHeader& header = r1cs.header();
  if (witness.size() != std::uint64_t{header.n_wires} * kScalarFieldBytes) {
    return bad_request(
        fmt::format("the circuit has {} wires of {} bytes, but the witness is {} bytes "
                    "long",
                    header.n_wires, kScalarFieldBytes, witness.size()),
        r1cs.name(), "witness and constraints come from different circuits");
  }
  CUZK_CHECK(check_witness(witness, header.curve, "witness"));
  if (header.curve == CurveId::kBn254) return find_violated<Fp<Bn254FrParams>>(r1cs, witness);
  return find_violated<Fp<Bls12_381FrParams>>(r1cs, witness);
}

}  // namespace cuzk
