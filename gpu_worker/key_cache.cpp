#include "gpu_worker/key_cache.hpp"

#include <algorithm>
#include <utility>

namespace cuzk {

Result<std::shared_ptr<const PreparedKey>> KeyCache::get(const Digest& circuit,
                                                         const std::filesystem::path& path) {
  const auto known = std::find_if(keys_.begin(), keys_.end(), [&](const auto& key) {
    return key->digest() == circuit;
  });
  if (known != keys_.end()) {
    keys_.splice(keys_.begin(), keys_, known);
    return keys_.front();
  }
  CUZK_TRY(key, PreparedKey::open(path, KeyCheck::kFull));
  if (key.digest() != circuit) {
    return Error{ErrorClass::kRetryElsewhere,
                 "the prepared key is of circuit " + to_hex(key.digest()) + ", not of " +
                     to_hex(circuit),
                 path.string(), {}};
  }
  keys_.push_front(std::make_shared<const PreparedKey>(std::move(key)));
  if (keys_.size() > capacity_) keys_.pop_back();
  return keys_.front();
}

void KeyCache::drop(const Digest& circuit) {
  keys_.remove_if([&](const auto& key) { return key->digest() == circuit; });
}

}  // namespace cuzk
