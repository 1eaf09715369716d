#include "synth_worker/circom/calculator_cache.hpp"

#include <algorithm>

#include <sys/stat.h>

namespace cuzk {

Result<const CircuitCalculator*> CalculatorCache::get(const std::filesystem::path& object) {
  struct stat info {};
  if (::stat(object.c_str(), &info) != 0) {
    return system_error(ErrorClass::kBadRequest, "stat", object.string());
  }
  const Identity identity{info.st_dev, info.st_ino, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  const auto found = std::ranges::find(entries_, object.string(), &Entry::path);
  if (found != entries_.end() && found->identity == identity) {
    entries_.splice(entries_.begin(), entries_, found);
    return &entries_.front().calculator;
  }
  if (found != entries_.end()) entries_.erase(found);
  CUZK_TRY(calculator, CircuitCalculator::load(object, object.string()));
  entries_.push_front({object.string(), identity, std::move(calculator)});
  if (entries_.size() > capacity_) entries_.pop_back();
  return &entries_.front().calculator;
}

}  // namespace cuzk
