// snarkjs' JSON layout: one space a level, a line for every value, no final newline.
#include "common/formats/json.hpp"

#include <cstddef>
#include <span>
#include <string>

#include "common/formats/number_text.hpp"

namespace cuzk {

namespace {

// Writes values in order, with commas, line ends and indents between them.
class Layout {
 public:
  void open(char bracket) {
    begin_value();
    text_ += bracket;
    ++depth_;
    first_ = true;
  }
  // snarkjs ends the line even of an empty array.
  void close(char bracket) {
    --depth_;
    end_line();
    text_ += bracket;
    first_ = false;
  }
  void key(std::string_view name) {
    begin_value();
    text_ += '"';
    text_ += name;
    text_ += "\": ";
    after_key_ = true;
  }
  void string(std::string_view value) {
    begin_value();
    text_ += '"';
    text_ += value;
    text_ += '"';
  }
  void number(std::size_t value) {
    begin_value();
    text_ += std::to_string(value);
  }
  std::string take() { return std::move(text_); }

 private:
  void begin_value() {
    if (after_key_) {
      after_key_ = false;
      return;
    }
    if (!first_) text_ += ',';
    if (depth_ > 0) end_line();
    first_ = false;
  }
  void end_line() {
    text_ += '\n';
    text_.append(depth_, ' ');
  }

  std::string text_;
  std::size_t depth_ = 0;
  bool first_ = true;
  bool after_key_ = false;
};

// Writes the numbers of a byte string one after the other; what is missing at its end counts as
// zeros.
class NumberWriter {
 public:
  NumberWriter(Layout& out, std::string_view bytes, std::size_t number_bytes)
      : out_(out), bytes_(bytes), number_bytes_(number_bytes) {}

  void number() {
    const std::string_view piece = bytes_.substr(0, number_bytes_);
    bytes_.remove_prefix(piece.size());
    out_.string(to_decimal(std::as_bytes(std::span(piece.data(), piece.size()))));
  }
  void pair() {
    out_.open('[');
    number();
    number();
    out_.close(']');
  }
  // Infinity, zeros in the bytes, is the projective (0 : 1 : 0).
  void g1() {
    out_.open('[');
    const bool infinity = skip_infinity(2);
    if (infinity) {
      out_.string("0");
      out_.string("1");
    } else {
      number();
      number();
    }
    out_.string(infinity ? "0" : "1");
    out_.close(']');
  }
  void g2() {
    out_.open('[');
    const bool infinity = skip_infinity(4);
    if (infinity) {
      constant("0");
      constant("1");
    } else {
      pair();
      pair();
    }
    constant(infinity ? "0" : "1");
    out_.close(']');
  }

 private:
  // An element of the base field inside its quadratic extension.
  void constant(std::string_view value) {
    out_.open('[');
    out_.string(value);
    out_.string("0");
    out_.close(']');
  }
  bool skip_infinity(std::size_t n_numbers) {
    const std::string_view point = bytes_.substr(0, n_numbers * number_bytes_);
    if (point.find_first_not_of('\0') != std::string_view::npos) return false;
    bytes_.remove_prefix(point.size());
    return true;
  }

  Layout& out_;
  std::string_view bytes_;
  std::size_t number_bytes_;
};

}  // namespace

std::string proof_to_json(CurveId curve, std::string_view bytes) {
  Layout out;
  NumberWriter points(out, bytes, coordinate_bytes(curve));
  out.open('{');
  out.key("pi_a");
  points.g1();
  out.key("pi_b");
  points.g2();
  out.key("pi_c");
  points.g1();
  out.key("protocol");
  out.string("groth16");
  out.key("curve");
  out.string(name_of(curve));
  out.close('}');
  return out.take();
}

std::string publics_to_json(std::string_view bytes) {
  Layout out;
  NumberWriter numbers(out, bytes, kScalarBytes);
  out.open('[');
  for (std::size_t i = 0; i < bytes.size() / kScalarBytes; ++i) numbers.number();
  out.close(']');
  return out.take();
}

std::string vkey_to_json(const VerifyingKeyBytes& key, std::string_view alphabeta) {
  Layout out;
  NumberWriter points(out, key.bytes, coordinate_bytes(key.curve));
  NumberWriter numbers(out, alphabeta, coordinate_bytes(key.curve));
  out.open('{');
  out.key("protocol");
  out.string("groth16");
  out.key("curve");
  out.string(name_of(key.curve));
  out.key("nPublic");
  out.number(key.n_public);
  out.key("vk_alpha_1");
  points.g1();
  for (const char* name : {"vk_beta_2", "vk_gamma_2", "vk_delta_2"}) {
    out.key(name);
    points.g2();
  }
  out.key("vk_alphabeta_12");
  out.open('[');
  for (int half = 0; half < 2; ++half) {
    out.open('[');
    for (int i = 0; i < 3; ++i) numbers.pair();
    out.close(']');
  }
  out.close(']');
  out.key("IC");
  out.open('[');
  for (std::size_t i = 0; i <= key.n_public; ++i) points.g1();
  out.close(']');
  out.close('}');
  return out.take();
}

}  // namespace cuzk
