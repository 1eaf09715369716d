#include "common/formats/r1cs.hpp"

#include <utility>

namespace cuzk {

namespace {

constexpr std::uint32_t kHeaderSection = 1;
constexpr std::uint32_t kConstraintsSection = 2;
constexpr std::uint32_t kLabelsSection = 3;
constexpr std::uint32_t kCustomGatesList = 4;
constexpr std::uint32_t kCustomGatesUse = 5;
constexpr const char* kTitles[] = {nullptr,  "header",           "constraints",
                                   "labels", "custom gate list", "custom gate use"};

constexpr const char* kDamaged = "the file is damaged or was not copied whole";

}  // namespace

Result<R1cs> R1cs::parse(std::span<const std::byte> bytes, std::string name) {
  CUZK_TRY(file, Container::parse(bytes, "r1cs", 1, std::move(name), kTitles));
  for (const std::uint32_t id : {kCustomGatesList, kCustomGatesUse}) {
    if (file.find(id)) {
      return bad_request("the circuit uses custom gates, which Groth16 cannot prove",
                         file.where(id), "compile it without custom templates");
    }
  }
  R1cs r1cs(std::move(file));
  CUZK_CHECK(r1cs.read_header());
  CUZK_TRY(constraints, r1cs.file_.section(kConstraintsSection));
  r1cs.constraints_ = constraints;
  CUZK_CHECK(r1cs.for_each_constraint([](const R1csConstraint&) { return true; }));
  return r1cs;
}

Status R1cs::read_header() {
  CUZK_TRY(section, file_.section(kHeaderSection));
  ByteReader reader(section);
  std::uint32_t n8 = 0;
  if (!reader.read(n8)) return bad_request("the section is empty", file_.where(kHeaderSection));
  if (n8 != kScalarFieldBytes) {
    return bad_request(
        fmt::format("coefficients have {} bytes, where {} belong to the fields of bn128 "
                    "and bls12381",
                    n8, kScalarFieldBytes),
        file_.where(kHeaderSection, section, "n8"));
  }
  std::span<const std::byte> prime;
  R1csHeader& h = header_;
  const bool whole = reader.take(n8, prime) && reader.read(h.n_wires) &&
                     reader.read(h.n_public_outputs) && reader.read(h.n_public_inputs) &&
                     reader.read(h.n_private_inputs) && reader.read(h.n_labels) &&
                     reader.read(h.n_constraints);
  if (!whole || reader.remaining() != 0) {
    return bad_request(fmt::format("the section is {} bytes long, not {}", section.size(),
                                   4 + kScalarFieldBytes + 28),
                       file_.where(kHeaderSection), kDamaged);
  }
  const auto curve = curve_of_scalar_modulus(prime);
  if (!curve) {
    return bad_request("the prime is neither bn128's nor bls12381's r",
                       file_.where(kHeaderSection, prime, "prime"),
                       "compile the circuit with --prime bn128 or --prime bls12381");
  }
  h.curve = *curve;
  // Private inputs may be optimised away, so their number says nothing about the wires.
  if (h.n_public() >= h.n_wires) {
    return bad_request(
        fmt::format("{} public outputs, {} public inputs and the constant one do not fit "
                    "into {} wires",
                    h.n_public_outputs, h.n_public_inputs, h.n_wires),
        file_.where(kHeaderSection), kDamaged);
  }
  if (!file_.find(kLabelsSection)) return {};
  CUZK_TRY(labels, file_.section(kLabelsSection));
  if (labels.size() != std::uint64_t{h.n_wires} * 8) {
    return bad_request(
        fmt::format("the section is {} bytes long, but {} wires have labels of 8 bytes",
                    labels.size(), h.n_wires),
        file_.where(kLabelsSection), kDamaged);
  }
  return {};
}

Status R1cs::read_constraint(ByteReader& reader, R1csConstraint& constraint) const {
  CUZK_CHECK(read_combination(reader, constraint.index, 'A', constraint.a));
  CUZK_CHECK(read_combination(reader, constraint.index, 'B', constraint.b));
  CUZK_CHECK(read_combination(reader, constraint.index, 'C', constraint.c));
  return {};
}

Status R1cs::read_combination(ByteReader& reader, std::uint64_t constraint, char matrix,
                              LinearCombination& combination) const {
  const std::size_t start = reader.position();
  std::uint32_t n_terms = 0;
  std::span<const std::byte> terms;
  if (!reader.read(n_terms)) {
    return bad_request(fmt::format("the section ends after {} of {} constraints", constraint,
                                   header_.n_constraints),
                       where_combination(constraint, matrix, start), kDamaged);
  }
  if (!reader.take(std::uint64_t{n_terms} * LinearCombination::kTermBytes, terms)) {
    return bad_request(
        fmt::format("{} terms of {} bytes are more than the {} bytes left in the section", n_terms,
                    LinearCombination::kTermBytes, reader.remaining()),
        where_combination(constraint, matrix, start), kDamaged);
  }
  combination = LinearCombination(terms);
  const Modulus& r = scalar_modulus(header_.curve);
  for (std::size_t i = 0; i < combination.size(); ++i) {
    const R1csTerm term = combination[i];
    const bool wire_known = term.wire < header_.n_wires;
    if (wire_known && is_below(term.coefficient.data(), r)) [[likely]]
      continue;
    const std::size_t offset = start + 4 + i * LinearCombination::kTermBytes;
    return bad_request(wire_known ? fmt::format("the coefficient of term {} is not below {}'s r", i,
                                                name_of(header_.curve))
                                  : fmt::format("term {} names wire {}, but there are {}", i,
                                                term.wire, header_.n_wires),
                       where_combination(constraint, matrix, offset), kDamaged);
  }
  return {};
}

Status R1cs::check_end(const ByteReader& reader) const {
  if (reader.remaining() == 0) return {};
  return bad_request(fmt::format("{} bytes are left after the last of {} constraints",
                                 reader.remaining(), header_.n_constraints),
                     file_.where(kConstraintsSection, constraints_.subspan(reader.position()), ""),
                     kDamaged);
}

std::string R1cs::where_combination(std::uint64_t constraint, char matrix,
                                    std::size_t offset) const {
  return file_.where(kConstraintsSection, constraints_.subspan(offset),
                     fmt::format("constraint {}, linear combination {}", constraint, matrix));
}

}  // namespace cuzk
