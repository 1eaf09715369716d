// The file format of prepared keys.
//
// A prepared key is what the engines read: page-aligned arrays that can be mapped, pinned and copied to a
// device as they are. One header page is followed by sections; each starts on a page, so that it can be
// registered with a device by itself, and has a checksum of its own, so that damage is found and named.
// All numbers are little-endian. Points are affine, in Montgomery form with R = 2^(8 * coordinate bytes),
// x before y and c0 before c1, zeros for infinity: bitwise an array of Affine<G> in memory.
//
// The variables of points at infinity are left out of A, B and L; a list of variable numbers stands
// beside each of them. H is complete, because its points belong to positions of the domain.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/types.hpp"

namespace cuzk {

inline constexpr std::array<char, 8> kPreparedKeyMagic = {'C', 'U', 'Z', 'K', 'P', 'K', 'E', 'Y'};

// Raised with every change of meaning; a cached file of another version is made again from its source.
inline constexpr std::uint32_t kPreparedKeyVersion = 1;

inline constexpr std::size_t kPreparedKeyPage = 4096;
inline constexpr std::size_t kPreparedKeyMaxSections = 32;

// How the quotient's scalars that multiply the H points are made; see quotient() of the engines.
enum class QuotientConvention : std::uint8_t {
  // snarkjs: H holds Lagrange points on the odd coset of the domain, the scalars are the values of
  // a*b - c there, and nothing is divided. Roots of unity are powers of 5^((r-1)/2^s) on both curves.
  kSnarkjsOddCoset = 1,
};

enum class KeySection : std::uint32_t {
  kFixedG1 = 1,      // G1: alpha, beta, delta
  kFixedG2 = 2,      // G2: beta, gamma, delta
  kIc = 3,           // G1: n_public + 1
  kA = 4,            // G1
  kAVariables = 5,   // u32, ascending: the variable of each A point
  kB1 = 6,           // G1
  kB2 = 7,           // G2
  kBVariables = 8,   // u32, ascending: the variable of each B1 and B2 point
  kL = 9,            // G1 (snarkjs' section C)
  kLVariables = 10,  // u32, ascending: the variable of each L point, always beyond the public ones
  kH = 11,           // G1: domain_size
  // The matrices A and B row by row: row i has the terms row_start[i] up to row_start[i + 1], and each
  // term is a variable and the number of a coefficient in kCoefficients.
  kCoefficients = 12,  // Fr, each value v stored as v * R^2 mod r: a Montgomery multiplication with a
                       // canonical integer w yields v * w in Montgomery form
  kARowStart = 13,     // u32: n_rows + 1
  kATermVariables = 14,  // u32
  kATermCoefficients = 15,  // u32
  kBRowStart = 16,
  kBTermVariables = 17,
  kBTermCoefficients = 18,
};

// `bytes` rounded up to whole pages. The caller's value is below 2^63.
constexpr std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kPreparedKeyPage - 1) / kPreparedKeyPage * kPreparedKeyPage;
}

struct PreparedKeySection {
  std::uint32_t id = 0;             // a KeySection
  std::uint32_t element_bytes = 0;
  std::uint64_t count = 0;          // elements
  std::uint64_t offset = 0;         // from the start of the file, a multiple of the page size
  std::uint64_t checksum = 0;       // XXH3-64 of all its pages, the zeros after the elements too
};
static_assert(sizeof(PreparedKeySection) == 32);

// Written last, by the converter; read by everybody.
struct PreparedKeyHeader {
  std::array<char, 8> magic{};
  std::uint32_t version = 0;
  std::uint32_t header_bytes = 0;   // kPreparedKeyPage
  std::uint8_t curve = 0;           // a CurveId
  std::uint8_t quotient = 0;        // a QuotientConvention
  std::uint8_t test_only = 0;       // 1: the trapdoor is known to the maker, proofs mean nothing
  std::array<std::uint8_t, 5> reserved0{};
  std::uint64_t n_variables = 0;    // with the constant one
  std::uint64_t n_public = 0;       // without it
  std::uint64_t domain_size = 0;    // a power of two
  std::uint64_t n_rows = 0;         // rows of the matrices that are stored; at most domain_size
  std::uint64_t file_bytes = 0;
  std::uint64_t source_bytes = 0;
  Digest source_digest{};           // SHA-256 of the key file that this was made from
  std::array<char, 256> source_name{};   // its name then, for people; zero-terminated
  std::array<char, 32> source_format{};  // for example "snarkjs zkey"
  std::array<char, 64> writer{};         // the version of the program that wrote this
  std::uint32_t n_sections = 0;
  std::uint32_t reserved1 = 0;
  std::array<PreparedKeySection, kPreparedKeyMaxSections> sections{};
  std::array<std::uint8_t, 2600> reserved2{};
  std::uint64_t checksum = 0;       // XXH3-64 of all bytes before
};
static_assert(sizeof(PreparedKeyHeader) == kPreparedKeyPage);
static_assert(offsetof(PreparedKeyHeader, n_variables) == 24);
static_assert(offsetof(PreparedKeyHeader, source_digest) == 72);
static_assert(offsetof(PreparedKeyHeader, n_sections) == 456);
static_assert(offsetof(PreparedKeyHeader, sections) == 464);
static_assert(offsetof(PreparedKeyHeader, checksum) == kPreparedKeyPage - 8);
static_assert(std::is_trivially_copyable_v<PreparedKeyHeader>);
static_assert(std::has_unique_object_representations_v<PreparedKeyHeader>);

}  // namespace cuzk
