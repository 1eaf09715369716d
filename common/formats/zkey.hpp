// The .zkey Groth16 proving key of snarkjs.
//
// Parsing checks everything about a key that does not take curve arithmetic: the container, the
// field, that every section has exactly the size which the header's counts give it, and that every
// coefficient has its indices in range and a canonical value. Whether the points are points is
// checked where they are converted. Nothing is copied: a parsed key is a set of views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "common/formats/byte_reader.hpp"
#include "common/formats/container.hpp"
#include "common/formats/modulus.hpp"
#include "common/result.hpp"
#include "common/types.hpp"

namespace cuzk {

// Section ids.
enum class ZkeySection : std::uint32_t {
  kProtocol = 1,
  kHeader = 2,
  kIc = 3,
  kCoefficients = 4,
  kA = 5,
  kB1 = 6,
  kB2 = 7,
  kC = 8,
  kH = 9,
  kContributions = 10,
};

// All points in a zkey are affine, coordinates in Montgomery form (R = 2^(8 * n8q)), little-endian,
// x before y, c0 before c1; the point at infinity is all zeros.
struct ZkeyHeader {
  CurveId curve{};
  std::uint32_t n_variables = 0;                     // with the constant one
  std::uint32_t n_public = 0;                        // without it
  std::uint32_t domain_size = 0;                     // a power of two
  std::span<const std::byte> alpha1, beta1, delta1;  // G1
  std::span<const std::byte> beta2, gamma2, delta2;  // G2
};

// One entry of the matrices A and B.
struct ZkeyCoefficient {
  std::uint32_t matrix = 0;      // 0: A, 1: B
  std::uint32_t constraint = 0;  // below domain_size
  std::uint32_t signal = 0;      // below n_variables
  ScalarInteger value{};         // v * R^2 mod r: one Montgomery multiplication with a canonical
                                 // integer w gives v * w in Montgomery form
};

// The entries of section 4 in the order of the file.
class ZkeyCoefficients {
 public:
  static constexpr std::size_t kEntryBytes = 12 + kScalarFieldBytes;

  ZkeyCoefficients() = default;
  // `bytes` is a whole number of entries.
  explicit ZkeyCoefficients(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t size() const { return bytes_.size() / kEntryBytes; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<const std::byte> entry(std::size_t i) const {
    return bytes_.subspan(i * kEntryBytes, kEntryBytes);
  }
  ZkeyCoefficient operator[](std::size_t i) const {
    const std::byte* at = bytes_.data() + i * kEntryBytes;
    ZkeyCoefficient coefficient;
    coefficient.matrix = load_le<std::uint32_t>(at);
    coefficient.constraint = load_le<std::uint32_t>(at + 4);
    coefficient.signal = load_le<std::uint32_t>(at + 8);
    std::memcpy(coefficient.value.data(), at + 12, kScalarFieldBytes);
    return coefficient;
  }

 private:
  std::span<const std::byte> bytes_;
};

// Views the bytes that it was parsed from; they must outlive it and not change.
class Zkey {
 public:
  // `name` stands for the file in errors, which are kBadRequest. Time is linear in the size of
  // section 4 and does not depend on the other sections.
  static Result<Zkey> parse(std::span<const std::byte> bytes, std::string name);

  const ZkeyHeader& header() const { return header_; }
  const std::string& name() const { return file_.name(); }

  std::span<const std::byte> ic() const { return ic_; }  // G1: n_public + 1
  std::span<const std::byte> a() const { return a_; }    // G1: n_variables
  std::span<const std::byte> b1() const { return b1_; }  // G1: n_variables
  std::span<const std::byte> b2() const { return b2_; }  // G2: n_variables
  std::span<const std::byte> c() const { return c_; }    // G1: the other variables, may be none
  std::span<const std::byte> h() const { return h_; }    // G1: domain_size
  const ZkeyCoefficients& coefficients() const { return coefficients_; }

  // Whether the file itself says that nobody contributed randomness to the key, as test keys and
  // keys straight from `groth16 setup` do: whoever made it, and with the latter everybody, can
  // forge proofs.
  bool test_only() const { return test_only_; }

  // "k.zkey, section 5 (A), point 17, offset 0x2f40", for errors about a part of a section:
  // where(ZkeySection::kA, a().subspan(...), "point 17").
  std::string where(ZkeySection section, std::span<const std::byte> part,
                    std::string_view what) const {
    return file_.where(static_cast<std::uint32_t>(section), part, what);
  }

 private:
  explicit Zkey(Container file) : file_(std::move(file)) {}
  Status read_protocol();
  Status read_header();
  Status read_fields(ByteReader& reader, std::span<const std::byte> header);
  Status check_counts(std::span<const std::byte> header);
  Status read_points();
  Status read_coefficients();
  Status check_coefficients() const;
  void read_contributions();
  Status points(ZkeySection section, std::uint64_t count, std::size_t point_bytes,
                std::string_view count_name, std::span<const std::byte>& bytes) const;

  Container file_;
  ZkeyHeader header_;
  std::span<const std::byte> ic_, a_, b1_, b2_, c_, h_;
  ZkeyCoefficients coefficients_;
  bool test_only_ = false;
};

}  // namespace cuzk
