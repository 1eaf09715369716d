#include "common/formats/input_json.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "common/formats/json_events.hpp"
#include "common/formats/number_text.hpp"
#include "common/formats/printable.hpp"

namespace cuzk {

namespace {

// Follows the nesting and collects values under the qualified name of the innermost key.
class InputBuilder final : public JsonEvents {
 public:
  InputBuilder(CurveId curve, std::string_view name) : curve_(curve), name_(name) {}

  std::vector<InputSignal> take() { return std::move(signals_); }

  Status scalar(JsonScalar kind, std::string_view text) override {
    CUZK_CHECK(place_value());
    CUZK_CHECK(open_signal());
    if (kind == JsonScalar::kNull || kind == JsonScalar::kBoolean) {
      return fault(fmt::format("{} is not a number", text));
    }
    if (kind == JsonScalar::kFraction) {
      return fault("is written as a fraction or with an exponent",
                   "write integers as decimal or 0x strings");
    }
    const auto integer = read_integer(text);
    if (!integer) return fault("is not an integer", "write it as a decimal or 0x string");
    if (kind == JsonScalar::kInteger && !is_exact_double(*integer)) {
      return fault("a number this large loses digits in JSON", "write it as a string");
    }
    signals_.back().values.push_back(reduce(*integer, curve_));
    advance();
    return {};
  }

  Status begin_object() override {
    if (levels_.empty()) {
      levels_.push_back({Level::kObject, {}, 0, {}});
      return {};
    }
    // The key that this is the value of names a bus or an array of them, not a signal.
    Key& outer = keys_.back();
    if (outer.holds == Holds::kValues) return mixed();
    outer.holds = Holds::kObjects;
    const std::string prefix = qualified_name();
    if (prefix.size() > kMaxInputNameBytes) return too_long();
    levels_.push_back({Level::kObject, prefix, 0, {}});
    return {};
  }

  Status key(std::string_view text) override {
    Level& object = levels_.back();
    if (text.empty()) return bad_request("a signal has an empty name", name_);
    if (!object.keys_seen.emplace(text).second) {
      return bad_request(fmt::format("the signal \"{}\" is given twice", printable(text)), name_);
    }
    Key next;
    next.name =
        object.prefix.empty() ? std::string(text) : fmt::format("{}.{}", object.prefix, text);
    if (next.name.size() > kMaxInputNameBytes) return too_long();
    keys_.push_back(std::move(next));
    return {};
  }

  Status end_object() override {
    levels_.pop_back();
    advance();
    return {};
  }

  Status begin_array() override {
    if (levels_.empty()) return not_an_object();
    levels_.push_back({Level::kArray, {}, 0, {}});
    return {};
  }

  Status end_array() override {
    const bool outermost = levels_[levels_.size() - 2].kind == Level::kObject;
    // An array without a value in it still names its signal, with no values.
    if (outermost && keys_.back().holds != Holds::kObjects) CUZK_CHECK(open_signal());
    levels_.pop_back();
    advance();
    return {};
  }

 private:
  enum class Holds { kNothing, kValues, kObjects };
  // The key whose value is being read, in each open object.
  struct Key {
    std::string name;  // qualified
    Holds holds = Holds::kNothing;
    bool has_signal = false;
  };
  struct Level {
    enum Kind { kObject, kArray } kind;
    std::string prefix;               // of an object's keys
    std::uint64_t index;              // of the next item in an array
    std::set<std::string> keys_seen;  // in an object
  };

  // The innermost key with the indices of the arrays inside it: "a[0][1]".
  std::string qualified_name() const {
    std::size_t first = levels_.size();
    while (levels_[first - 1].kind == Level::kArray) --first;
    std::string name = keys_.back().name;
    for (std::size_t i = first; i < levels_.size(); ++i) {
      name += fmt::format("[{}]", levels_[i].index);
    }
    return name;
  }

  Status place_value() {
    if (levels_.empty()) return not_an_object();
    Key& key = keys_.back();
    if (key.holds == Holds::kObjects) return mixed();
    key.holds = Holds::kValues;
    return {};
  }

  // The signal of the innermost key becomes the last of signals_, once.
  Status open_signal() {
    Key& key = keys_.back();
    if (key.has_signal) return {};
    if (signals_.size() == kMaxInputSignals) {
      return bad_request(fmt::format("names more than {} signals", kMaxInputSignals), name_);
    }
    if (!names_.insert(key.name).second) {
      return bad_request(fmt::format("the signal \"{}\" is given twice", printable(key.name)),
                         name_);
    }
    signals_.push_back({key.name, {}});
    key.has_signal = true;
    return {};
  }

  // After a value: counts it in its array, or leaves its key.
  void advance() {
    if (levels_.empty()) return;
    if (levels_.back().kind == Level::kArray) {
      ++levels_.back().index;
    } else {
      keys_.pop_back();
    }
  }

  Error fault(std::string what, std::string hint = {}) const {
    const InputSignal& signal = signals_.back();
    return bad_request(std::move(what),
                       fmt::format("{}, signal \"{}\", value {}", name_, printable(signal.name),
                                   signal.values.size()),
                       std::move(hint));
  }
  Error mixed() const {
    return bad_request("an array mixes values and objects",
                       fmt::format("{}, signal \"{}\"", name_, printable(keys_.back().name)));
  }
  Error too_long() const {
    return bad_request(fmt::format("a signal's name is longer than {} bytes", kMaxInputNameBytes),
                       name_);
  }
  Error not_an_object() const {
    return bad_request("is not a JSON object of signals", name_, "write {\"signal\": value, ...}");
  }

  CurveId curve_;
  std::string name_;
  std::vector<Level> levels_;
  std::vector<Key> keys_;
  std::set<std::string> names_;
  std::vector<InputSignal> signals_;
};

}  // namespace

Result<std::vector<InputSignal>> parse_input(std::string_view text, CurveId curve,
                                             std::string_view name) {
  InputBuilder builder(curve, name);
  CUZK_CHECK(read_json(text, name, builder));
  return builder.take();
}

}  // namespace cuzk
