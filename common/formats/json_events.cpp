#include "common/formats/json_events.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace cuzk {

namespace {

// Turns nlohmann's callbacks, which can only say "go on" or "stop", into events with errors.
class Adapter final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Adapter(std::string_view text, std::string_view name, JsonEvents& events)
      : text_(text), name_(name), events_(events) {}

  Status result() {
    if (error_) return std::move(*error_);
    return {};
  }

  bool null() override { return pass(events_.scalar(JsonScalar::kNull, "null")); }
  bool boolean(bool value) override {
    return pass(events_.scalar(JsonScalar::kBoolean, value ? "true" : "false"));
  }
  bool number_integer(number_integer_t value) override {
    return pass(events_.scalar(JsonScalar::kInteger, fmt::format("{}", value)));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return pass(events_.scalar(JsonScalar::kInteger, fmt::format("{}", value)));
  }
  // Also called for integers that need more than 64 bits.
  bool number_float(number_float_t, const string_t& literal) override {
    const bool fraction = literal.find_first_of(".eE") != string_t::npos;
    return pass(events_.scalar(fraction ? JsonScalar::kFraction : JsonScalar::kInteger, literal));
  }
  bool string(string_t& value) override { return pass(events_.scalar(JsonScalar::kString, value)); }
  bool binary(binary_t&) override { return pass(bug("binary value in JSON", name_)); }

  bool start_object(std::size_t) override { return enter() && pass(events_.begin_object()); }
  bool key(string_t& value) override { return pass(events_.key(value)); }
  bool end_object() override { return leave() && pass(events_.end_object()); }
  bool start_array(std::size_t) override { return enter() && pass(events_.begin_array()); }
  bool end_array() override { return leave() && pass(events_.end_array()); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& exception) override {
    if (error_) return false;
    // The exception's text quotes the input, so only its kind is used.
    constexpr int kNumberOutOfRange = 406;
    const std::size_t offset = position == 0 ? 0 : std::min(position - 1, text_.size());
    const char* what = "is not valid JSON";
    if (exception.id == kNumberOutOfRange) what = "a number is too large for JSON";
    if (position > text_.size()) what = "ends in the middle of a JSON value";
    if (text_.empty()) what = "is empty, where JSON is expected";
    error_ = bad_request(what, place(offset));
    return false;
  }

 private:
  bool pass(Status status) {
    if (status) return true;
    error_ = std::move(status).error();
    return false;
  }
  bool enter() {
    if (++depth_ <= kMaxJsonDepth) return true;
    error_ =
        bad_request(fmt::format("nests more than {} arrays and objects", kMaxJsonDepth), name_);
    return false;
  }
  bool leave() {
    --depth_;
    return true;
  }
  std::string place(std::size_t offset) const {
    const std::string_view before = text_.substr(0, offset);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return fmt::format("{}, line {}, column {}, offset {:#x}", name_, line, offset - line_start + 1,
                       offset);
  }

  std::string_view text_;
  std::string name_;
  JsonEvents& events_;
  std::size_t depth_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Status read_json(std::string_view text, std::string_view name, JsonEvents& events) {
  Adapter adapter(text, name, events);
  const bool done = nlohmann::json::sax_parse(text.begin(), text.end(), &adapter);
  CUZK_CHECK(adapter.result());
  if (!done) return bug("JSON ended without an error", std::string(name));
  return {};
}

}  // namespace cuzk
