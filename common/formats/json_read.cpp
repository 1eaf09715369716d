// Readers of proof.json, public.json and verification_key.json.
#include "common/formats/json.hpp"

#include <array>
#include <cstdint>
#include <span>

#include "common/formats/json_tree.hpp"
#include "common/formats/modulus.hpp"
#include "common/formats/number_text.hpp"
#include "common/formats/printable.hpp"

namespace cuzk {

namespace {

// Fills the bytes of a public signal that is no element of the field.
constexpr char kBeyondEveryField = '\xff';

// A node and the way to it, "pi_b[1][0]", for errors.
struct Place {
  const JsonNode* node;
  std::string where;

  Error fault(std::string what, std::string hint = {}) const {
    return bad_request(std::move(what), where, std::move(hint));
  }
  Place item(std::size_t i) const { return {&node->items[i], fmt::format("{}[{}]", where, i)}; }
};

Result<Place> member(const Place& object, std::string_view key) {
  const JsonNode* node = object.node->find(key);
  if (node == nullptr) return object.fault(fmt::format("the field \"{}\" is missing", key));
  return Place{node, fmt::format("{}, {}", object.where, key)};
}

Status expect_array(const Place& place, std::size_t size, const char* what) {
  if (place.node->kind == JsonNode::Kind::kArray && place.node->items.size() == size) return {};
  return place.fault(fmt::format("is not an array of {}", what));
}

Result<Place> parse_object(const JsonNode& root, std::string_view name, const char* what) {
  Place place{&root, std::string(name)};
  if (root.kind == JsonNode::Kind::kObject) return place;
  return place.fault(fmt::format("is not a JSON object, so it is no {}", what));
}

// An integer as a string, or as a JSON number that no reader can have rounded.
Result<IntegerText> integer_at(const Place& place) {
  const JsonNode& node = *place.node;
  const bool text = node.kind == JsonNode::Kind::kScalar &&
                    (node.scalar == JsonScalar::kString || node.scalar == JsonScalar::kInteger);
  const auto integer = text ? read_integer(node.text) : std::nullopt;
  if (!integer) return place.fault("is not an integer", "write it as a decimal string");
  if (node.scalar == JsonScalar::kInteger && !is_exact_double(*integer)) {
    return place.fault("a number this large loses digits in JSON readers", "write it as a string");
  }
  return *integer;
}

// Appends a coordinate's canonical bytes.
Status append_coordinate(const Place& place, CurveId curve, std::string& bytes) {
  CUZK_TRY(integer, integer_at(place));
  std::array<std::uint64_t, 6> limbs{};
  const Modulus& q = base_modulus(curve);
  const bool negative = integer.negative && !integer.digits.empty();
  if (negative || !to_limbs(integer, std::span(limbs).first(q.n_limbs)) ||
      !is_below(limbs.data(), q)) {
    return place.fault(fmt::format("is not in [0, q) of {}", name_of(curve)));
  }
  bytes.append(reinterpret_cast<const char*>(limbs.data()), q.bytes());
  return {};
}

// Appends one coordinate of `degree` base field elements: "x" or ["c0", "c1"].
Status append_field(const Place& place, CurveId curve, std::size_t degree, std::string& bytes) {
  if (degree == 1) return append_coordinate(place, curve, bytes);
  CUZK_CHECK(expect_array(place, degree, "two numbers c0, c1"));
  for (std::size_t i = 0; i < degree; ++i) {
    CUZK_CHECK(append_coordinate(place.item(i), curve, bytes));
  }
  return {};
}

// Appends the affine coordinates of [x, y, z], where z is 1, or the point is infinity, (0 : 1 : 0).
Status append_point(const Place& place, CurveId curve, std::size_t degree, std::string& bytes) {
  CUZK_CHECK(expect_array(place, 3, "the three coordinates x, y, z"));
  const std::size_t size = coordinate_bytes(curve);
  std::string zero(degree * size, '\0');
  std::string one = zero;
  one[0] = 1;
  std::array<std::string, 3> xyz;
  for (std::size_t i = 0; i < 3; ++i) {
    CUZK_CHECK(append_field(place.item(i), curve, degree, xyz[i]));
  }
  if (xyz[0] == zero && xyz[1] == one && xyz[2] == zero) {
    bytes += zero + zero;
    return {};
  }
  if (xyz[2] != one)
    return place.item(2).fault("z is not 1", "give the point in affine coordinates");
  // Zeros stand for infinity in our bytes, but as affine coordinates they are no point of either
  // curve.
  if (xyz[0] == zero && xyz[1] == zero) return place.fault("(0, 0) is not a point of the curve");
  bytes += xyz[0] + xyz[1];
  return {};
}

Status check_protocol(const Place& object) {
  if (object.node->find("protocol") == nullptr) return {};
  CUZK_TRY(protocol, member(object, "protocol"));
  if (protocol.node->text == "groth16") return {};
  return protocol.fault(fmt::format("is \"{}\", not groth16", printable(protocol.node->text)));
}

Result<CurveId> curve_at(const Place& object) {
  CUZK_TRY(place, member(object, "curve"));
  const auto curve = curve_from_name(place.node->text);
  if (curve) return *curve;
  return place.fault(
      fmt::format("\"{}\" is neither bn128 nor bls12381", printable(place.node->text)));
}

}  // namespace

std::optional<CurveId> curve_from_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') plain += static_cast<char>(c | 0x20);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain += c;
  }
  if (plain == "bn128" || plain == "bn254" || plain == "altbn128") return CurveId::kBn254;
  if (plain == "bls12381") return CurveId::kBls12_381;
  return std::nullopt;
}

Result<std::string> proof_from_json(std::string_view text, CurveId expected,
                                    std::string_view name) {
  CUZK_TRY(root, parse_json(text, name));
  CUZK_TRY(proof, parse_object(root, name, "proof"));
  CUZK_CHECK(check_protocol(proof));
  if (root.find("curve") != nullptr) {
    CUZK_TRY(curve, curve_at(proof));
    if (curve != expected) {
      return proof.fault(fmt::format("the proof is over {}, but the key is over {}", name_of(curve),
                                     name_of(expected)));
    }
  }
  std::string bytes;
  CUZK_TRY(a, member(proof, "pi_a"));
  CUZK_CHECK(append_point(a, expected, 1, bytes));
  CUZK_TRY(b, member(proof, "pi_b"));
  CUZK_CHECK(append_point(b, expected, 2, bytes));
  CUZK_TRY(c, member(proof, "pi_c"));
  CUZK_CHECK(append_point(c, expected, 1, bytes));
  return bytes;
}

Result<std::string> publics_from_json(std::string_view text, CurveId curve, std::string_view name) {
  CUZK_TRY(root, parse_json(text, name));
  const Place publics{&root, std::string(name)};
  if (root.kind != JsonNode::Kind::kArray) {
    return publics.fault("is not a JSON array of public signals");
  }
  std::string bytes;
  for (std::size_t i = 0; i < root.items.size(); ++i) {
    CUZK_TRY(integer, integer_at(publics.item(i)));
    ScalarInteger value{};
    const bool negative = integer.negative && !integer.digits.empty();
    if (!negative && to_limbs(integer, value) && is_below(value.data(), scalar_modulus(curve))) {
      bytes.append(reinterpret_cast<const char*>(value.data()), sizeof value);
    } else {
      bytes.append(kScalarBytes, kBeyondEveryField);
    }
  }
  return bytes;
}

Result<VerifyingKeyBytes> vkey_from_json(std::string_view text, std::string_view name) {
  CUZK_TRY(root, parse_json(text, name));
  CUZK_TRY(object, parse_object(root, name, "verification key"));
  CUZK_CHECK(check_protocol(object));
  VerifyingKeyBytes key;
  CUZK_TRY(curve, curve_at(object));
  key.curve = curve;
  CUZK_TRY(alpha, member(object, "vk_alpha_1"));
  CUZK_CHECK(append_point(alpha, curve, 1, key.bytes));
  for (const char* field : {"vk_beta_2", "vk_gamma_2", "vk_delta_2"}) {
    CUZK_TRY(point, member(object, field));
    CUZK_CHECK(append_point(point, curve, 2, key.bytes));
  }
  CUZK_TRY(ic, member(object, "IC"));
  if (ic.node->kind != JsonNode::Kind::kArray || ic.node->items.empty()) {
    return ic.fault("is not an array of at least one point");
  }
  for (std::size_t i = 0; i < ic.node->items.size(); ++i) {
    CUZK_CHECK(append_point(ic.item(i), curve, 1, key.bytes));
  }
  key.n_public = ic.node->items.size() - 1;
  CUZK_TRY(count, member(object, "nPublic"));
  CUZK_TRY(n_public, integer_at(count));
  std::array<std::uint64_t, 1> stated{};
  if (n_public.negative || !to_limbs(n_public, stated) || stated[0] != key.n_public) {
    return count.fault(fmt::format("does not agree with the {} points of IC, which are one more",
                                   ic.node->items.size()));
  }
  return key;
}

}  // namespace cuzk
