// The prepared keys that this worker has mapped.
//
// Mapping a key and verifying its checksums takes some milliseconds per 100 MB, so the keys used last stay
// mapped. What they occupy is page cache, shared with every process; an entry that is dropped costs
// nobody anything but those milliseconds.
#pragma once

#include <cstddef>
#include <filesystem>
#include <list>
#include <memory>

#include "common/groth16/prepared_key.hpp"
#include "common/result.hpp"
#include "common/types.hpp"

namespace cuzk {

class KeyCache {
 public:
  explicit KeyCache(std::size_t capacity) : capacity_(capacity) {}

  // The key of `circuit`, mapped from `path` and verified in full if it is not here. It stays alive as
  // long as the pointer, also when it is dropped meanwhile. Fails as PreparedKey::open does.
  Result<std::shared_ptr<const PreparedKey>> get(const Digest& circuit,
                                                 const std::filesystem::path& path);

  // Forgets a key; one that is not here is no error.
  void drop(const Digest& circuit);

  std::size_t size() const { return keys_.size(); }

 private:
  std::size_t capacity_;
  std::list<std::shared_ptr<const PreparedKey>> keys_;  // used last first
};

}  // namespace cuzk
