#include "common/formats/zkey.hpp"

#include <bit>
#include <utility>

namespace cuzk {

namespace {

constexpr std::uint32_t kProtocolGroth16 = 1;

constexpr const char* kTitles[] = {nullptr, "protocol", "header", "IC", "coefficients", "A",
                                   "B1",    "B2",       "C",      "H",  "contributions"};

constexpr const char* kDamaged = "the file is damaged or was not copied whole";

constexpr std::uint32_t id_of(ZkeySection section) { return static_cast<std::uint32_t>(section); }

// The two-adicity s of r - 1. The quotient works on the odd coset of a domain, so on 2^(k+1)-th
// roots of unity: k < s.
constexpr int max_log_domain(CurveId curve) { return curve == CurveId::kBn254 ? 27 : 31; }

}  // namespace

Result<Zkey> Zkey::parse(std::span<const std::byte> bytes, std::string name) {
  CUZK_TRY(file, Container::parse(bytes, "zkey", 2, std::move(name), kTitles));
  Zkey key(std::move(file));
  CUZK_CHECK(key.read_protocol());
  CUZK_CHECK(key.read_header());
  CUZK_CHECK(key.read_points());
  CUZK_CHECK(key.read_coefficients());
  CUZK_CHECK(key.check_coefficients());
  key.read_contributions();
  return key;
}

Status Zkey::read_protocol() {
  CUZK_TRY(section, file_.section(id_of(ZkeySection::kProtocol)));
  ByteReader reader(section);
  std::uint32_t protocol = 0;
  if (!reader.read(protocol) || reader.remaining() != 0) {
    return bad_request(fmt::format("the section is {} bytes long, not 4", section.size()),
                       file_.where(id_of(ZkeySection::kProtocol)), kDamaged);
  }
  if (protocol != kProtocolGroth16) {
    const char* known = protocol == 2 ? "plonk" : protocol == 10 ? "fflonk" : "unknown";
    return bad_request(
        fmt::format("protocol {} is {}, where 1 (groth16) is wanted", protocol, known),
        where(ZkeySection::kProtocol, section, ""), "make a key with snarkjs groth16 setup");
  }
  return {};
}

Status Zkey::read_header() {
  CUZK_TRY(section, file_.section(id_of(ZkeySection::kHeader)));
  ByteReader reader(section);
  CUZK_CHECK(read_fields(reader, section));

  const std::size_t g1 = 2 * base_modulus(header_.curve).bytes();
  const std::size_t g2 = 2 * g1;
  const std::size_t wanted = reader.position() + 12 + 3 * g1 + 3 * g2;
  if (section.size() != wanted) {
    return bad_request(fmt::format("the section is {} bytes long, where a {} key has {}",
                                   section.size(), name_of(header_.curve), wanted),
                       file_.where(id_of(ZkeySection::kHeader)), kDamaged);
  }
  const bool whole = reader.read(header_.n_variables) && reader.read(header_.n_public) &&
                     reader.read(header_.domain_size) && reader.take(g1, header_.alpha1) &&
                     reader.take(g1, header_.beta1) && reader.take(g2, header_.beta2) &&
                     reader.take(g2, header_.gamma2) && reader.take(g1, header_.delta1) &&
                     reader.take(g2, header_.delta2);
  if (!whole) return bug("zkey header");
  return check_counts(section);
}

// n8q, q, n8r, r
Status Zkey::read_fields(ByteReader& reader, std::span<const std::byte> header) {
  const auto cut = [&] {
    return bad_request(
        fmt::format("the section ends inside its fields after {} bytes", header.size()),
        file_.where(id_of(ZkeySection::kHeader)), kDamaged);
  };
  std::uint32_t n8q = 0;
  std::uint32_t n8r = 0;
  std::span<const std::byte> q;
  std::span<const std::byte> r;
  if (!reader.read(n8q)) return cut();
  if (n8q != 32 && n8q != 48) {
    return bad_request(fmt::format("n8q is {}: the base field's prime has 32 bytes (bn128) or 48 "
                                   "(bls12381)",
                                   n8q),
                       where(ZkeySection::kHeader, header, "n8q"));
  }
  if (!reader.take(n8q, q)) return cut();
  const auto curve = curve_of_base_modulus(q);
  if (!curve) {
    return bad_request("the base field's prime is neither bn128's nor bls12381's q",
                       where(ZkeySection::kHeader, q, "q"),
                       "only keys over bn128 and bls12381 can be used");
  }
  const auto n8r_field = header.subspan(reader.position());
  if (!reader.read(n8r)) return cut();
  if (n8r != kScalarFieldBytes) {
    return bad_request(
        fmt::format("n8r is {}: the scalar field's prime has {} bytes", n8r, kScalarFieldBytes),
        where(ZkeySection::kHeader, n8r_field, "n8r"));
  }
  if (!reader.take(n8r, r)) return cut();
  if (curve_of_scalar_modulus(r) != curve) {
    return bad_request(
        fmt::format("the scalar field's prime is not {}'s r, although q is its q", name_of(*curve)),
        where(ZkeySection::kHeader, r, "r"), kDamaged);
  }
  header_.curve = *curve;
  return {};
}

Status Zkey::check_counts(std::span<const std::byte> header) {
  const std::span<const std::byte> counts =
      header.subspan(8 + base_modulus(header_.curve).bytes() + kScalarFieldBytes);
  const auto fault = [&](std::size_t offset, const char* field, std::string what) {
    return bad_request(std::move(what), where(ZkeySection::kHeader, counts.subspan(offset), field),
                       kDamaged);
  };
  const ZkeyHeader& h = header_;
  if (h.n_variables == 0)
    return fault(0, "nVars", "there is no variable, not even the constant one");
  if (h.n_public >= h.n_variables) {
    return fault(4, "nPublic",
                 fmt::format("{} public signals and the constant one do not fit into {} "
                             "variables",
                             h.n_public, h.n_variables));
  }
  if (!std::has_single_bit(h.domain_size)) {
    return fault(8, "domainSize", fmt::format("{} is not a power of two", h.domain_size));
  }
  if (h.domain_size <= h.n_public) {
    return fault(8, "domainSize",
                 fmt::format("a domain of {} has no room for the rows of {} public "
                             "signals and the constant one",
                             h.domain_size, h.n_public));
  }
  if (std::countr_zero(h.domain_size) > max_log_domain(h.curve)) {
    return bad_request(fmt::format("a domain of {} is larger than {}'s scalar field supports, 2^{}",
                                   h.domain_size, name_of(h.curve), max_log_domain(h.curve)),
                       where(ZkeySection::kHeader, counts.subspan(8), "domainSize"));
  }
  return {};
}

Status Zkey::read_points() {
  const std::size_t g1 = 2 * base_modulus(header_.curve).bytes();
  const std::size_t g2 = 2 * g1;
  const std::uint64_t n = header_.n_variables;
  const std::uint64_t n_public = header_.n_public;
  CUZK_CHECK(points(ZkeySection::kIc, n_public + 1, g1, "nPublic + 1", ic_));
  CUZK_CHECK(points(ZkeySection::kA, n, g1, "nVars", a_));
  CUZK_CHECK(points(ZkeySection::kB1, n, g1, "nVars", b1_));
  CUZK_CHECK(points(ZkeySection::kB2, n, g2, "nVars", b2_));
  CUZK_CHECK(points(ZkeySection::kC, n - n_public - 1, g1, "nVars - nPublic - 1", c_));
  CUZK_CHECK(points(ZkeySection::kH, header_.domain_size, g1, "domainSize", h_));
  return {};
}

Status Zkey::points(ZkeySection section, std::uint64_t count, std::size_t point_bytes,
                    std::string_view count_name, std::span<const std::byte>& bytes) const {
  CUZK_TRY(found, file_.section(id_of(section)));
  // count is below 2^33 and a point has at most 192 bytes, so this does not overflow.
  if (found.size() != count * point_bytes) {
    return bad_request(
        fmt::format("the section is {} bytes long, but {} = {} points of {} bytes make {}",
                    found.size(), count_name, count, point_bytes, count * point_bytes),
        file_.where(id_of(section)), "the header (section 2) or this section is damaged");
  }
  bytes = found;
  return {};
}

Status Zkey::read_coefficients() {
  CUZK_TRY(section, file_.section(id_of(ZkeySection::kCoefficients)));
  ByteReader reader(section);
  std::uint32_t count = 0;
  if (!reader.read(count)) {
    return bad_request(
        fmt::format("the section is {} bytes long, too short for its count", section.size()),
        file_.where(id_of(ZkeySection::kCoefficients)), kDamaged);
  }
  const std::uint64_t wanted = std::uint64_t{count} * ZkeyCoefficients::kEntryBytes;
  if (reader.remaining() != wanted) {
    return bad_request(
        fmt::format("{} entries of {} bytes make {} bytes, but {} follow the count", count,
                    ZkeyCoefficients::kEntryBytes, wanted, reader.remaining()),
        file_.where(id_of(ZkeySection::kCoefficients)), kDamaged);
  }
  coefficients_ = ZkeyCoefficients(section.subspan(reader.position()));
  return {};
}

Status Zkey::check_coefficients() const {
  const Modulus& r = scalar_modulus(header_.curve);
  for (std::size_t i = 0; i < coefficients_.size(); ++i) {
    const ZkeyCoefficient entry = coefficients_[i];
    const bool sound = entry.matrix <= 1 && entry.constraint < header_.domain_size &&
                       entry.signal < header_.n_variables && is_below(entry.value.data(), r);
    if (sound) [[likely]]
      continue;
    std::string what;
    if (entry.matrix > 1) {
      what = fmt::format("matrix {} is neither 0 (A) nor 1 (B)", entry.matrix);
    } else if (entry.constraint >= header_.domain_size) {
      what = fmt::format("constraint {} is not below the domain's size {}", entry.constraint,
                         header_.domain_size);
    } else if (entry.signal >= header_.n_variables) {
      what = fmt::format("signal {} is not below the number of variables {}", entry.signal,
                         header_.n_variables);
    } else {
      what = fmt::format("the value is not below {}'s r", name_of(header_.curve));
    }
    return bad_request(
        std::move(what),
        where(ZkeySection::kCoefficients, coefficients_.entry(i), fmt::format("entry {}", i)),
        kDamaged);
  }
  return {};
}

// Proving does not need this section, so nothing about it is an error.
void Zkey::read_contributions() {
  constexpr std::uint64_t kCircuitHashBytes = 64;
  const auto section = file_.find(id_of(ZkeySection::kContributions));
  if (!section) return;
  ByteReader reader(*section);
  std::span<const std::byte> circuit_hash;
  std::uint32_t n_contributions = 0;
  test_only_ = reader.take(kCircuitHashBytes, circuit_hash) && reader.read(n_contributions) &&
               n_contributions == 0;
}

}  // namespace cuzk
