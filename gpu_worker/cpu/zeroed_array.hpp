// A large array that costs nothing until it is touched and goes back to the system at once.
//
// The transforms of a proof are the engine's biggest arrays and short-lived. Anonymous mappings are zero
// without being written, are first touched by the thread that fills them, may use huge pages, and leave
// no hole in a heap when they go; the system wipes them before anybody else sees them.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <sys/mman.h>

namespace cuzk {

template <class T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T>, "elements are made of zero bytes");

 public:
  ZeroedArray() = default;
  // Throws std::bad_alloc.
  explicit ZeroedArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    void* address = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                           -1, 0);
    if (address == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<T*>(address);
  }
  ZeroedArray(ZeroedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ZeroedArray& operator=(ZeroedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~ZeroedArray() {
    if (data_ != nullptr) ::munmap(static_cast<void*>(data_), bytes());
  }

  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

 private:
  std::size_t bytes() const { return size_ * sizeof(T); }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace cuzk
