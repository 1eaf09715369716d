// An array that starts on a cache line and is not initialised.
//
// A BN254 point in G1 is exactly one line of 64 bytes: aligned, a random access to it is one miss
// and not two. Buckets are written before they are read, so touching their pages beforehand would
// be wasted.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace cuzk::msm_detail {

template <class T>
class LineArray {
 public:
  static_assert(std::is_trivially_default_constructible_v<T> &&
                std::is_trivially_destructible_v<T>);

  explicit LineArray(std::size_t size)
      : data_(static_cast<T*>(::operator new(size * sizeof(T), kLine))), size_(size) {}

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  static constexpr std::align_val_t kLine{64};
  struct Free {
    void operator()(T* data) const { ::operator delete(data, kLine); }
  };

  std::unique_ptr<T, Free> data_;
  std::size_t size_;
};

}  // namespace cuzk::msm_detail
