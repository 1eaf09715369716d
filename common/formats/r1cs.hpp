// The .r1cs constraint file of circom.
//
// It is not needed to prove; it tells which constraint a rejected witness violates. Section 1 has
// the counts, section 2 the constraints (A.w)(B.w) = C.w as lists of (wire, coefficient), in any
// order of the wires. Parsing walks all of it once and copies nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/formats/byte_reader.hpp"
#include "common/formats/container.hpp"
#include "common/formats/modulus.hpp"
#include "common/result.hpp"
#include "common/types.hpp"

namespace cuzk {

struct R1csHeader {
  CurveId curve{};
  std::uint32_t n_wires = 0;           // with the constant one
  std::uint32_t n_public_outputs = 0;  // wires 1 ...
  std::uint32_t n_public_inputs = 0;   // ... and after the outputs
  std::uint32_t n_private_inputs = 0;  // as declared; those that are optimised away count too
  std::uint64_t n_labels = 0;          // informative, never used as a size
  std::uint32_t n_constraints = 0;

  std::uint64_t n_public() const { return std::uint64_t{n_public_outputs} + n_public_inputs; }
};

struct R1csTerm {
  std::uint32_t wire = 0;
  ScalarInteger coefficient{};  // canonical
};

// A linear combination of wires, as a view into the file.
class LinearCombination {
 public:
  static constexpr std::size_t kTermBytes = 4 + kScalarFieldBytes;

  LinearCombination() = default;
  // `bytes` is a whole number of terms that were checked.
  explicit LinearCombination(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t size() const { return bytes_.size() / kTermBytes; }
  R1csTerm operator[](std::size_t i) const {
    R1csTerm term;
    const std::byte* at = bytes_.data() + i * kTermBytes;
    term.wire = load_le<std::uint32_t>(at);
    std::memcpy(term.coefficient.data(), at + 4, kScalarFieldBytes);
    return term;
  }

 private:
  std::span<const std::byte> bytes_;
};

struct R1csConstraint {
  std::uint64_t index = 0;
  LinearCombination a, b, c;
};

// Views the bytes that it was parsed from.
class R1cs {
 public:
  // Fails with kBadRequest unless every wire is below n_wires, every coefficient below r, and the
  // constraints fill their section exactly.
  static Result<R1cs> parse(std::span<const std::byte> bytes, std::string name);

  const R1csHeader& header() const { return header_; }
  const std::string& name() const { return file_.name(); }

  // Calls visit(const R1csConstraint&) in order until it returns false. Everything is checked again
  // on the way, so that bytes which changed after parsing cannot lead outside.
  template <class Visitor>
  Status for_each_constraint(Visitor&& visit) const {
    ByteReader reader(constraints_);
    R1csConstraint constraint;
    for (std::uint64_t i = 0; i < header_.n_constraints; ++i) {
      constraint.index = i;
      CUZK_CHECK(read_constraint(reader, constraint));
      if (!visit(static_cast<const R1csConstraint&>(constraint))) return {};
    }
    return check_end(reader);
  }

 private:
  explicit R1cs(Container file) : file_(std::move(file)) {}
  Status read_header();
  Status read_constraint(ByteReader& reader, R1csConstraint& constraint) const;
  Status read_combination(ByteReader& reader, std::uint64_t constraint, char matrix,
                          LinearCombination& combination) const;
  Status check_end(const ByteReader& reader) const;
  std::string where_combination(std::uint64_t constraint, char matrix, std::size_t offset) const;

  Container file_;
  R1csHeader header_;
  std::span<const std::byte> constraints_;
};

// The first constraint that the witness does not satisfy, if any. `witness` holds n_wires canonical
// integers of 32 bytes, the first of them 1; anything else is kBadRequest.
Result<std::optional<std::uint64_t>> first_violated(const R1cs& r1cs,
                                                    std::span<const std::byte> witness);

}  // namespace cuzk
