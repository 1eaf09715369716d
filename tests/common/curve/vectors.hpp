// Reads tests/data/math: the answers of @noble/curves (scripts/js/math_vectors.js writes them).
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "common/curve/points.hpp"

namespace cuzk::test {

inline nlohmann::json math_vectors(CurveId curve) {
  const char* name = curve == CurveId::kBn254 ? "bn254" : "bls12_381";
  std::ifstream file(std::string(CUZK_TEST_DATA) + "/math/" + name + ".json");
  if (!file) throw std::runtime_error("tests/data/math is missing");
  return nlohmann::json::parse(file);
}

template <std::size_t N>
BigInt<N> integer_of(const std::string& hex) {
  return from_hex<N>(hex.c_str());
}

// A field element from JSON: a string for a prime field, [c0, c1] for the quadratic extension.
template <class Field>
Field element_of(const nlohmann::json& json) {
  if constexpr (requires { typename Field::BaseField; }) {
    return {element_of<typename Field::BaseField>(json[0]),
            element_of<typename Field::BaseField>(json[1])};
  } else {
    return Field::from_integer(integer_of<Field::kLimbs>(json.get<std::string>()));
  }
}

template <class Group>
Affine<Group> point_of(const nlohmann::json& json) {
  using Field = typename Group::Field;
  if (json.is_null()) return Affine<Group>::infinity();
  return {element_of<Field>(json["x"]), element_of<Field>(json["y"])};
}

template <class Curve>
typename Curve::Fq6 fq6_of(const nlohmann::json& json) {
  using Fq2 = typename Curve::Fq2;
  return {element_of<Fq2>(json[0]), element_of<Fq2>(json[1]), element_of<Fq2>(json[2])};
}

template <class Curve>
typename Curve::Fq12 fq12_of(const nlohmann::json& json) {
  using Fq2 = typename Curve::Fq2;
  std::array<Fq2, 6> c;
  for (std::size_t i = 0; i < 6; ++i) c[i] = element_of<Fq2>(json[i]);
  return {{c[0], c[1], c[2]}, {c[3], c[4], c[5]}};
}

template <class Group>
Affine<Group> generator() {
  return {Group::generator_x(), Group::generator_y()};
}

}  // namespace cuzk::test
