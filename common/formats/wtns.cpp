#include "common/formats/wtns.hpp"

#include <algorithm>
#include <cstring>

#include "common/formats/byte_reader.hpp"
#include "common/formats/container.hpp"
#include "common/formats/modulus.hpp"

namespace cuzk {

namespace {

constexpr std::uint32_t kHeaderSection = 1;
constexpr std::uint32_t kValuesSection = 2;
constexpr const char* kTitles[] = {nullptr, "header", "values"};

Error bad_value(std::string what, std::uint64_t index, std::string_view name,
                std::uint64_t offset) {
  return bad_request(std::move(what),
                     fmt::format("{}, witness value {}, offset {:#x}", name, index,
                                 offset + index * kScalarFieldBytes),
                     "compute the witness again");
}

// The index of the first value that is not below r, or `count`.
std::size_t first_too_large(const std::byte* values, std::size_t count, const Modulus& r) {
  // Nearly always the top limb alone decides, so blocks are scanned by it, without branches; a
  // block with a suspect in it is looked at closely.
  constexpr std::size_t kBlock = 256;
  const std::uint64_t top = r.limb[3];
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(count, begin + kBlock);
    bool suspect = false;
    for (std::size_t i = begin; i < end; ++i) {
      suspect |= load_le<std::uint64_t>(values + i * kScalarFieldBytes + 24) >= top;
    }
    if (!suspect) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_below({values + i * kScalarFieldBytes, kScalarFieldBytes}, r)) return i;
    }
  }
  return count;
}

}  // namespace

Result<Wtns> parse_wtns(std::span<const std::byte> bytes, std::string_view name) {
  CUZK_TRY(file, Container::parse(bytes, "wtns", 2, std::string(name), kTitles));
  CUZK_TRY(header, file.section(kHeaderSection));
  CUZK_TRY(values, file.section(kValuesSection));

  ByteReader reader(header);
  std::uint32_t n8 = 0;
  if (!reader.read(n8)) return bad_request("the section is empty", file.where(kHeaderSection));
  if (n8 != kScalarFieldBytes) {
    return bad_request(
        fmt::format("values have {} bytes, where {} belong to the fields of bn128 and "
                    "bls12381",
                    n8, kScalarFieldBytes),
        file.where(kHeaderSection, header, "n8"));
  }
  std::span<const std::byte> prime;
  Wtns wtns;
  if (!reader.take(n8, prime) || !reader.read(wtns.count) || reader.remaining() != 0) {
    return bad_request(
        fmt::format("the section is {} bytes long, not {}", header.size(), 8 + kScalarFieldBytes),
        file.where(kHeaderSection));
  }
  const auto curve = curve_of_scalar_modulus(prime);
  if (!curve) {
    return bad_request("the prime is neither bn128's nor bls12381's r",
                       file.where(kHeaderSection, prime, "prime"),
                       "compile the circuit with --prime bn128 or --prime bls12381");
  }
  if (values.size() != std::uint64_t{wtns.count} * kScalarFieldBytes) {
    return bad_request(
        fmt::format("the section is {} bytes long, but the header names {} values of {} "
                    "bytes",
                    values.size(), wtns.count, kScalarFieldBytes),
        file.where(kValuesSection), "the file is damaged or was not copied whole");
  }
  if (wtns.count == 0) {
    return bad_request("there are no values, not even the constant one",
                       file.where(kValuesSection));
  }
  wtns.curve = *curve;
  wtns.values = values;
  wtns.values_offset = file.offset_of(values);
  return wtns;
}

Status check_wtns_fits(const Wtns& wtns, CurveId curve, std::uint64_t n_variables,
                       std::string_view name) {
  if (wtns.curve != curve) {
    return bad_request(fmt::format("the witness is over {}'s field, but the key is for {}",
                                   name_of(wtns.curve), name_of(curve)),
                       std::string(name), "compile the circuit and make its key for one curve");
  }
  if (wtns.count != n_variables) {
    return bad_request(
        fmt::format("the witness has {} values, but the key is for {}", wtns.count, n_variables),
        std::string(name), "witness and key come from different circuits");
  }
  return {};
}

Status check_witness(std::span<const std::byte> values, CurveId curve, std::string_view name,
                     std::uint64_t offset) {
  if (values.empty() || values.size() % kScalarFieldBytes != 0) {
    return bad_request(fmt::format("{} bytes are not a whole number of {}-byte witness values",
                                   values.size(), kScalarFieldBytes),
                       std::string(name));
  }
  constexpr ScalarInteger kOne = {1, 0, 0, 0};
  if (std::memcmp(values.data(), kOne.data(), kScalarFieldBytes) != 0) {
    return bad_value("the first value is not the constant 1", 0, name, offset);
  }
  const std::size_t count = values.size() / kScalarFieldBytes;
  const std::size_t bad = first_too_large(values.data(), count, scalar_modulus(curve));
  if (bad != count) {
    return bad_value(fmt::format("the value is not below {}'s r", name_of(curve)), bad, name,
                     offset);
  }
  return {};
}

}  // namespace cuzk
