#include "common/groth16/verifying_key.hpp"

#include <cstring>
#include <utility>

#include "common/curve/pairing.hpp"
#include "common/curve/subgroup.hpp"
#include "common/curve/pairing.hpp"
#include "common/curve/subgroup.hpp"
#include "common/groth16/point_bytes.hpp"

namespace cuzk {
namespace {

// Cuts points off the front of a verifying key's bytes and checks them; keeps the first fault.
class PointReader {
 public:
  explicit PointReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class Group>
  Affine<Group> next(std::string_view title, bool may_be_infinity) {
    constexpr std::size_t kSize = kPointBytes<Group>;
    Affine<Group> point;
    const char* fault = read_canonical_point(rest_.first(kSize), point);
    rest_ = rest_.subspan(kSize);
    if (fault == nullptr && !may_be_infinity && point.is_infinity()) {
      fault = "the point is infinity: the key would accept forged proofs";
    }
    if (fault == nullptr && !is_in_subgroup(point)) {
      fault = "the point is not in the subgroup of prime order";
    }
    if (fault != nullptr && status_) {
      status_ = bad_request(fault, fmt::format("verifying key, {}", title));
    }
    return point;
  }
  const Status& status() const { return status_; }

 private:
  std::span<const std::byte> rest_;
  Status status_;
};

// Montgomery coordinates to canonical bytes; false when one is not below the modulus.
template <class Params>
bool append_montgomery(std::string& out, std::span<const std::byte> bytes, const Fp<Params>*) {
  typename Fp<Params>::Integer raw;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof raw) {
    std::memcpy(&raw, bytes.data() + at, sizeof raw);
    if (!Fp<Params>::is_canonical(raw)) return false;
    append_canonical(out, Fp<Params>::from_raw(raw));
  }
  return true;
}

template <class Curve>
Result<VerifyingKeyBytes> import_for(const MontgomeryVerifyingKey& points, std::string_view name) {
  constexpr std::size_t kG1 = kPointBytes<G1Of<Curve>>;
  constexpr std::size_t kG2 = kPointBytes<G2Of<Curve>>;
  if (points.alpha1.size() != kG1 || points.beta2.size() != kG2 || points.gamma2.size() != kG2 ||
      points.delta2.size() != kG2 || points.ic.empty() || points.ic.size() % kG1 != 0) {
    return bad_request("the verifying key has points of a wrong size", std::string(name));
  }
  VerifyingKeyBytes key;
  key.curve = Curve::kId;
  key.n_public = points.ic.size() / kG1 - 1;
  key.bytes.reserve(verifying_key_bytes(key.curve, key.n_public));
  for (const auto& bytes :
       {points.alpha1, points.beta2, points.gamma2, points.delta2, points.ic}) {
    if (!append_montgomery(key.bytes, bytes, static_cast<const typename Curve::Fq*>(nullptr))) {
      return bad_request("a coordinate of the verifying key is not below the modulus",
                         std::string(name));
    }
  }
  if (auto checked = decode_verifying_key<Curve>(key); !checked) {
    Error error = std::move(checked).error();
    error.where = fmt::format("{}, {}", name, error.where);
    return error;
  }
  return key;
}

template <class Curve>
Result<std::string> alphabeta_for(const VerifyingKeyBytes& bytes) {
  CUZK_TRY(key, decode_verifying_key<Curve>(bytes));
  // common/curve computes the multiple that snarkjs prints.
  const typename Curve::Fq12 value = pairing<Curve>(key.alpha1, key.beta2);
  std::string out;
  for (const auto& half : {value.c0, value.c1}) {
    for (const auto& coefficient : {half.c0, half.c1, half.c2}) append_canonical(out, coefficient);
  }
  return out;
}

}  // namespace

template <class Curve>
VerifyingKeyBytes encode_verifying_key(const VerifyingKey<Curve>& key) {
  VerifyingKeyBytes out;
  out.curve = Curve::kId;
  out.n_public = key.ic.size() - 1;
  out.bytes.reserve(verifying_key_bytes(out.curve, out.n_public));
  append_canonical(out.bytes, key.alpha1);
  append_canonical(out.bytes, key.beta2);
  append_canonical(out.bytes, key.gamma2);
  append_canonical(out.bytes, key.delta2);
  for (const auto& point : key.ic) append_canonical(out.bytes, point);
  return out;
}

template <class Curve>
Result<VerifyingKey<Curve>> decode_verifying_key(const VerifyingKeyBytes& key) {
  const std::size_t fixed = verifying_key_bytes(Curve::kId, 0);
  constexpr std::size_t kG1 = kPointBytes<G1Of<Curve>>;
  if (key.curve != Curve::kId || key.bytes.size() < fixed ||
      (key.bytes.size() - fixed) % kG1 != 0 || (key.bytes.size() - fixed) / kG1 != key.n_public) {
    return bad_request(fmt::format("{} bytes are not a {} key of {} public signals",
                                   key.bytes.size(), name_of(key.curve), key.n_public),
                       "verifying key");
  }
  PointReader reader(std::as_bytes(std::span(key.bytes)));
  VerifyingKey<Curve> out;
  out.alpha1 = reader.template next<G1Of<Curve>>("alpha1", false);
  out.beta2 = reader.template next<G2Of<Curve>>("beta2", false);
  out.gamma2 = reader.template next<G2Of<Curve>>("gamma2", false);
  out.delta2 = reader.template next<G2Of<Curve>>("delta2", false);
  out.ic.resize(key.n_public + 1);
  for (std::size_t i = 0; i < out.ic.size(); ++i) {
    // A public signal that no constraint uses has infinity here.
    out.ic[i] = reader.template next<G1Of<Curve>>(fmt::format("IC point {}", i), true);
  }
  CUZK_CHECK(reader.status());
  return out;
}

Result<VerifyingKeyBytes> import_verifying_key(CurveId curve, const MontgomeryVerifyingKey& points,
                                               std::string_view name) {
  return curve == CurveId::kBn254 ? import_for<Bn254>(points, name)
                                  : import_for<Bls12_381>(points, name);
}

Result<std::string> alphabeta_bytes(const VerifyingKeyBytes& key) {
  return key.curve == CurveId::kBn254 ? alphabeta_for<Bn254>(key) : alphabeta_for<Bls12_381>(key);
}

#define CUZK_INSTANTIATE_VERIFYING_KEY(Curve)                                             \
  template VerifyingKeyBytes encode_verifying_key<Curve>(const VerifyingKey<Curve>&);     \
  template Result<VerifyingKey<Curve>> decode_verifying_key<Curve>(const VerifyingKeyBytes&);
CUZK_INSTANTIATE_VERIFYING_KEY(Bn254)
CUZK_INSTANTIATE_VERIFYING_KEY(Bls12_381)
#undef CUZK_INSTANTIATE_VERIFYING_KEY

}  // namespace cuzk
