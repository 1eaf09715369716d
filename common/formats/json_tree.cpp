#include "common/formats/json_tree.hpp"

#include <algorithm>
#include <set>

#include "common/formats/printable.hpp"

namespace cuzk {

namespace {

class TreeBuilder final : public JsonEvents {
 public:
  explicit TreeBuilder(std::string_view name) : name_(name) {}

  JsonNode take() { return std::move(root_); }

  Status scalar(JsonScalar kind, std::string_view text) override {
    JsonNode node;
    node.scalar = kind;
    node.text = text;
    return add(std::move(node), false);
  }
  Status begin_object() override {
    JsonNode node;
    node.kind = JsonNode::Kind::kObject;
    return add(std::move(node), true);
  }
  Status key(std::string_view text) override {
    if (!open_.back().keys_seen.emplace(text).second) {
      return bad_request(fmt::format("the key \"{}\" is given twice", printable(text)), name_);
    }
    open_.back().node->keys.emplace_back(text);
    return {};
  }
  Status begin_array() override {
    JsonNode node;
    node.kind = JsonNode::Kind::kArray;
    return add(std::move(node), true);
  }
  Status end_object() override { return close(); }
  Status end_array() override { return close(); }

 private:
  // A node stays where it is while it is open: only the innermost open node grows.
  struct Open {
    JsonNode* node;
    std::set<std::string> keys_seen;
  };

  Status add(JsonNode node, bool opens) {
    if (++n_nodes_ > kMaxJsonNodes) {
      return bad_request(fmt::format("has more than {} values", kMaxJsonNodes), name_);
    }
    JsonNode* place = &root_;
    if (!open_.empty()) place = &open_.back().node->items.emplace_back();
    *place = std::move(node);
    if (opens) open_.push_back({place, {}});
    return {};
  }
  Status close() {
    open_.pop_back();
    return {};
  }

  std::string name_;
  JsonNode root_;
  std::vector<Open> open_;
  std::size_t n_nodes_ = 0;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

Result<JsonNode> parse_json(std::string_view text, std::string_view name) {
  TreeBuilder builder(name);
  CUZK_CHECK(read_json(text, name, builder));
  return builder.take();
}

}  // namespace cuzk
