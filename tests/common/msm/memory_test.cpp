// What a multiplication really allocates, counted by replacing this program's operator new.
//
// The bound is what an engine reserves before it starts; it has to hold for every kind of scalars.
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "tests/common/msm/known_points.hpp"

namespace {

std::atomic<std::size_t> held{0};
std::atomic<std::size_t> peak{0};

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = held += malloc_usable_size(memory);
  std::size_t seen = peak;
  while (seen < now && !peak.compare_exchange_weak(seen, now)) {
  }
  return memory;
}

void release(void* memory) {
  if (memory != nullptr) held -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const std::size_t line = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(line, (size + line - 1) / line * line));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace cuzk {
namespace {

template <class Group>
struct MsmMemoryTest : testing::Test {};
using Groups = testing::Types<G1Of<Bn254>, G2Of<Bls12_381>>;
TYPED_TEST_SUITE(MsmMemoryTest, Groups);

TYPED_TEST(MsmMemoryTest, StaysBelowItsBound) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {10, 1000, 20000}) {
    const auto known = known_points<TypeParam>(count, random);
    for (const int kind : {0, 1, 2}) {  // all wide, all ones, bits and bytes and wide ones
      std::vector<BigInt<4>> scalars(count);
      for (auto& scalar : scalars) {
        scalar = {};
        scalar[0] = 1;
        if (kind == 2) scalar[0] = random() % (random() % 2 == 0 ? 2 : 256);
        if (kind == 0 || (kind == 2 && random() % 8 == 0)) {
          scalar = random_scalar<typename TypeParam::Scalar>(random).to_integer();
        }
      }
      for (const unsigned threads : {1u, 3u}) {
        ThreadPool pool(threads);
        const std::size_t before = held;
        peak = before;
        msm<TypeParam>({known.points, scalars}, pool);
        EXPECT_EQ(held, before);
        EXPECT_LE(peak - before, msm_scratch_bytes<TypeParam>(count, threads))
            << count << " points, kind " << kind << ", " << threads << " threads";
        EXPECT_GT(peak, before);  // the counting works
      }
    }
  }
}

}  // namespace
}  // namespace cuzk
