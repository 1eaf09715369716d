// The definition of convert_zkey<Curve>, for the two files that instantiate it.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "common/curve/curves.hpp"
#include "common/groth16/encoding.hpp"
#include "common/groth16/prepared_key_writer.hpp"
#include "common/version.hpp"
#include "synth_worker/keys/convert_curve.hpp"
#include "synth_worker/keys/matrix_builder.hpp"
#include "synth_worker/keys/point_copy.hpp"

namespace cuzk {

template <class Curve>
class ZkeyConverter {
 public:
  explicit ZkeyConverter(const Conversion& conversion)
      : conversion_(conversion),
        zkey_(conversion.zkey),
        header_(conversion.zkey.header()),
        matrices_(conversion.zkey.coefficients().bytes()) {}

  Result<std::uint64_t> run() {
    find_finite_points();
    conversion_.meter.set_total(total_work());
    CUZK_TRY(writer, PreparedKeyWriter::create(conversion_.target, file_header(), plan()));
    write_matrices(writer);
    CUZK_CHECK(write_fixed_points(writer));
    CUZK_CHECK(write_points(writer));
    CUZK_CHECK(conversion_.meter.advance("writing", 0));
    return writer.commit();
  }

 private:
  using G1 = G1Of<Curve>;
  using G2 = G2Of<Curve>;
  using Indices = std::vector<std::uint32_t>;

  RawPoints raw(ZkeySection section, std::span<const std::byte> bytes) const {
    return {zkey_, section, bytes};
  }

  void find_finite_points() {
    for (std::uint32_t i = 0; i < header_.n_variables; ++i) {
      if (!is_infinity_at<G1>(zkey_.a(), i)) a_.push_back(i);
      if (!is_infinity_at<G1>(zkey_.b1(), i) || !is_infinity_at<G2>(zkey_.b2(), i)) b_.push_back(i);
    }
    const std::uint32_t n_private = header_.n_variables - header_.n_public - 1;
    for (std::uint32_t i = 0; i < n_private; ++i) {
      if (!is_infinity_at<G1>(zkey_.c(), i)) l_.push_back(i);
    }
  }

  std::uint64_t total_work() const {
    const std::uint64_t g1 = a_.size() + b_.size() + l_.size() + header_.domain_size +
                             header_.n_public + 1;
    return g1 * kPointWork<G1> + b_.size() * kPointWork<G2>;
  }

  PreparedKeyHeader file_header() const {
    PreparedKeyHeader header;
    header.curve = static_cast<std::uint8_t>(Curve::kId);
    header.quotient = static_cast<std::uint8_t>(QuotientConvention::kSnarkjsOddCoset);
    header.test_only = zkey_.test_only() ? 1 : 0;
    header.n_variables = header_.n_variables;
    header.n_public = header_.n_public;
    header.domain_size = header_.domain_size;
    header.n_rows = matrices_.n_rows();
    header.source_bytes = conversion_.source.size();
    header.source_digest = conversion_.digest;
    // The last byte stays zero.
    const auto copy = [](auto& field, std::string_view text) {
      std::memcpy(field.data(), text.data(), std::min(text.size(), field.size() - 1));
    };
    copy(header.source_name, conversion_.name);
    copy(header.source_format, "snarkjs zkey");
    copy(header.writer, fmt::format("cuzk {} ({})", kBuildVersion, kBuildRevision));
    return header;
  }

  std::vector<SectionPlan> plan() const {
    const auto g1 = static_cast<std::uint32_t>(g1_bytes(Curve::kId));
    const auto g2 = static_cast<std::uint32_t>(g2_bytes(Curve::kId));
    const std::uint64_t row_starts = matrices_.n_rows() + 1;
    return {{KeySection::kFixedG1, g1, 3},
            {KeySection::kFixedG2, g2, 3},
            {KeySection::kIc, g1, std::uint64_t{header_.n_public} + 1},
            {KeySection::kA, g1, a_.size()},
            {KeySection::kAVariables, 4, a_.size()},
            {KeySection::kB1, g1, b_.size()},
            {KeySection::kB2, g2, b_.size()},
            {KeySection::kBVariables, 4, b_.size()},
            {KeySection::kL, g1, l_.size()},
            {KeySection::kLVariables, 4, l_.size()},
            {KeySection::kH, g1, header_.domain_size},
            {KeySection::kCoefficients, kScalarBytes, matrices_.coefficients().size()},
            {KeySection::kARowStart, 4, row_starts},
            {KeySection::kATermVariables, 4, matrices_.n_terms(0)},
            {KeySection::kATermCoefficients, 4, matrices_.n_terms(0)},
            {KeySection::kBRowStart, 4, row_starts},
            {KeySection::kBTermVariables, 4, matrices_.n_terms(1)},
            {KeySection::kBTermCoefficients, 4, matrices_.n_terms(1)}};
  }

  void write_matrices(PreparedKeyWriter& writer) const {
    const auto u32 = [&writer](KeySection id) { return writer.array<std::uint32_t>(id); };
    const auto values = matrices_.coefficients();
    std::copy(values.begin(), values.end(),
              writer.array<MatrixBuilder::Value>(KeySection::kCoefficients).begin());
    matrices_.fill(0, u32(KeySection::kARowStart), u32(KeySection::kATermVariables),
                   u32(KeySection::kATermCoefficients));
    matrices_.fill(1, u32(KeySection::kBRowStart), u32(KeySection::kBTermVariables),
                   u32(KeySection::kBTermCoefficients));
  }

  Status write_fixed_points(PreparedKeyWriter& writer) const {
    const auto fixed = [this](std::span<const std::byte> bytes) {
      return raw(ZkeySection::kHeader, bytes);
    };
    const auto g1 = writer.array<Affine<G1>>(KeySection::kFixedG1);
    CUZK_CHECK(copy_fixed_point(fixed(header_.alpha1), "alpha1", g1[0]));
    CUZK_CHECK(copy_fixed_point(fixed(header_.beta1), "beta1", g1[1]));
    CUZK_CHECK(copy_fixed_point(fixed(header_.delta1), "delta1", g1[2]));
    const auto g2 = writer.array<Affine<G2>>(KeySection::kFixedG2);
    CUZK_CHECK(copy_fixed_point(fixed(header_.beta2), "beta2", g2[0]));
    CUZK_CHECK(copy_fixed_point(fixed(header_.gamma2), "gamma2", g2[1]));
    return copy_fixed_point(fixed(header_.delta2), "delta2", g2[2]);
  }

  Status write_points(PreparedKeyWriter& writer) const {
    Indices everything(std::max(header_.domain_size, header_.n_public + 1));
    std::iota(everything.begin(), everything.end(), 0);
    const std::span<const std::uint32_t> all(everything);
    CUZK_CHECK(copy<G1>(writer, KeySection::kIc, raw(ZkeySection::kIc, zkey_.ic()),
                        all.first(header_.n_public + 1)));
    CUZK_CHECK(copy<G1>(writer, KeySection::kA, raw(ZkeySection::kA, zkey_.a()), a_));
    CUZK_CHECK(copy<G1>(writer, KeySection::kB1, raw(ZkeySection::kB1, zkey_.b1()), b_));
    CUZK_CHECK(copy<G2>(writer, KeySection::kB2, raw(ZkeySection::kB2, zkey_.b2()), b_));
    CUZK_CHECK(copy<G1>(writer, KeySection::kL, raw(ZkeySection::kC, zkey_.c()), l_));
    CUZK_CHECK(copy<G1>(writer, KeySection::kH, raw(ZkeySection::kH, zkey_.h()),
                        all.first(header_.domain_size)));
    const auto u32 = [&writer](KeySection id) { return writer.array<std::uint32_t>(id); };
    std::copy(a_.begin(), a_.end(), u32(KeySection::kAVariables).begin());
    std::copy(b_.begin(), b_.end(), u32(KeySection::kBVariables).begin());
    // Point i of section 8 belongs to the variable i + n_public + 1.
    std::transform(l_.begin(), l_.end(), u32(KeySection::kLVariables).begin(),
                   [this](std::uint32_t i) { return i + header_.n_public + 1; });
    return {};
  }

  template <class Group>
  Status copy(PreparedKeyWriter& writer, KeySection id, const RawPoints& points,
              std::span<const std::uint32_t> indices) const {
    return copy_points<Group>(points, indices, writer.array<Affine<Group>>(id), conversion_.pool,
                              conversion_.meter);
  }

  const Conversion& conversion_;
  const Zkey& zkey_;
  const ZkeyHeader& header_;
  MatrixBuilder matrices_;
  Indices a_, b_, l_;  // numbers of the points that are not infinity, in their sections
};

template <class Curve>
Result<std::uint64_t> convert_zkey(const Conversion& conversion) {
  return ZkeyConverter<Curve>(conversion).run();
}

}  // namespace cuzk
