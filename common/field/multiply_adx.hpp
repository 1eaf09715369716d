// Montgomery multiplication for x86-64 processors with BMI2 and ADX.
//
// mulx leaves the flags alone, and adcx and adox carry through two different ones, so the low and the
// high halves of a row of products are added in two independent chains. A compiler does not make this
// code from C++: on Zen 3 it takes 4-limb products from 17 to 10 ns. Four and six limbs are written out,
// which is what the two curves need; bench_field measures both against the portable code.
#pragma once

#include <cstdint>

#include "common/field/params.hpp"

// clang 14 cannot ask for adx at run time; its builds (fuzzing, analysis) take the portable code.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && \
    (!defined(CUZK_FIELD_ASM) || CUZK_FIELD_ASM)
#define CUZK_FIELD_HAS_ADX 1
#else
#define CUZK_FIELD_HAS_ADX 0
#endif

#if CUZK_FIELD_HAS_ADX

namespace cuzk {

// One load and a well-predicted branch for each product.
inline bool cpu_has_adx() {
  return __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("adx") != 0;
}

// The first row: t = a * b[0], nothing to add to.
#define CUZK_ROW_START(b0, t0, t1) \
  "movq " b0 ", %%rdx\n\t"         \
  "mulxq 0(%[a]), " t0 ", " t1 "\n\t"
#define CUZK_ROW_START_NEXT(offset, add, low, high) \
  "mulxq " offset "(%[a]), %[lo], " high "\n\t"     \
  add " %[lo], " low "\n\t"
// A later row, t += a * b[i]: low halves ride on the overflow flag, high halves on the carry flag.
#define CUZK_ROW(source, low, high)         \
  "mulxq " source ", %[lo], %[hi]\n\t"      \
  "adoxq %[lo], " low "\n\t"                \
  "adcxq %[hi], " high "\n\t"
// Both carries go to the top word, which they cannot overflow.
#define CUZK_ROW_END(top)  \
  "movl $0, %k[lo]\n\t"    \
  "adoxq %[lo], " top "\n\t"
// The factor that makes the lowest word zero, into rdx; clears both carry flags.
#define CUZK_REDUCE_START(t0)      \
  "movq " t0 ", %%rdx\n\t"         \
  "imulq %[inverse], %%rdx\n\t"    \
  "xorl %k[lo], %k[lo]\n\t"
#define CUZK_ROW_LATER(b)       \
  "movq " b ", %%rdx\n\t"       \
  "xorl %k[lo], %k[lo]\n\t"

#define CUZK_PRODUCT_4(b, t0, t1, t2, t3, t4)                                                  \
  CUZK_ROW_LATER(b)                                                                            \
  CUZK_ROW("0(%[a])", t0, t1) CUZK_ROW("8(%[a])", t1, t2) CUZK_ROW("16(%[a])", t2, t3)         \
  CUZK_ROW("24(%[a])", t3, t4) CUZK_ROW_END(t4)
#define CUZK_REDUCE_4(t0, t1, t2, t3, t4)                                                      \
  CUZK_REDUCE_START(t0)                                                                        \
  CUZK_ROW("%[p0]", t0, t1) CUZK_ROW("%[p1]", t1, t2) CUZK_ROW("%[p2]", t2, t3)                \
  CUZK_ROW("%[p3]", t3, t4) CUZK_ROW_END(t4)

// a * b / R, below 2p. After each reduction the lowest word is zero and becomes the next top word.
template <class Params>
inline BigInt<4> multiply_adx(const BigInt<4>& a, const BigInt<4>& b) {
  static constexpr BigInt<4> kModulus = Params::kModulus;
  static constexpr std::uint64_t kInverse = Montgomery<Params>::kNegativeInverse;
  std::uint64_t t0, t1, t2, t3, t4, lo, hi;
  asm(CUZK_ROW_START("0(%[b])", "%[t0]", "%[t1]")
      CUZK_ROW_START_NEXT("8", "addq", "%[t1]", "%[t2]")
      CUZK_ROW_START_NEXT("16", "adcq", "%[t2]", "%[t3]")
      CUZK_ROW_START_NEXT("24", "adcq", "%[t3]", "%[t4]")
      "adcq $0, %[t4]\n\t"
      CUZK_REDUCE_4("%[t0]", "%[t1]", "%[t2]", "%[t3]", "%[t4]")
      CUZK_PRODUCT_4("8(%[b])", "%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t0]")
      CUZK_REDUCE_4("%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t0]")
      CUZK_PRODUCT_4("16(%[b])", "%[t2]", "%[t3]", "%[t4]", "%[t0]", "%[t1]")
      CUZK_REDUCE_4("%[t2]", "%[t3]", "%[t4]", "%[t0]", "%[t1]")
      CUZK_PRODUCT_4("24(%[b])", "%[t3]", "%[t4]", "%[t0]", "%[t1]", "%[t2]")
      CUZK_REDUCE_4("%[t3]", "%[t4]", "%[t0]", "%[t1]", "%[t2]")
      : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),
        [lo] "=&r"(lo), [hi] "=&r"(hi)
      : [a] "r"(a.limb), [b] "r"(b.limb), "m"(a), "m"(b), [inverse] "m"(kInverse),
        [p0] "m"(kModulus.limb[0]), [p1] "m"(kModulus.limb[1]), [p2] "m"(kModulus.limb[2]),
        [p3] "m"(kModulus.limb[3])
      : "rdx", "cc");
  return {{t4, t0, t1, t2}};
}

#define CUZK_PRODUCT_6(b, t0, t1, t2, t3, t4, t5, t6)                                          \
  CUZK_ROW_LATER(b)                                                                            \
  CUZK_ROW("0(%[a])", t0, t1) CUZK_ROW("8(%[a])", t1, t2) CUZK_ROW("16(%[a])", t2, t3)         \
  CUZK_ROW("24(%[a])", t3, t4) CUZK_ROW("32(%[a])", t4, t5) CUZK_ROW("40(%[a])", t5, t6)       \
  CUZK_ROW_END(t6)
#define CUZK_REDUCE_6(t0, t1, t2, t3, t4, t5, t6)                                              \
  CUZK_REDUCE_START(t0)                                                                        \
  CUZK_ROW("%[p0]", t0, t1) CUZK_ROW("%[p1]", t1, t2) CUZK_ROW("%[p2]", t2, t3)                \
  CUZK_ROW("%[p3]", t3, t4) CUZK_ROW("%[p4]", t4, t5) CUZK_ROW("%[p5]", t5, t6)                \
  CUZK_ROW_END(t6)

template <class Params>
inline BigInt<6> multiply_adx(const BigInt<6>& a, const BigInt<6>& b) {
  static constexpr BigInt<6> kModulus = Params::kModulus;
  static constexpr std::uint64_t kInverse = Montgomery<Params>::kNegativeInverse;
  std::uint64_t t0, t1, t2, t3, t4, t5, t6, lo, hi;
  asm(CUZK_ROW_START("0(%[b])", "%[t0]", "%[t1]")
      CUZK_ROW_START_NEXT("8", "addq", "%[t1]", "%[t2]")
      CUZK_ROW_START_NEXT("16", "adcq", "%[t2]", "%[t3]")
      CUZK_ROW_START_NEXT("24", "adcq", "%[t3]", "%[t4]")
      CUZK_ROW_START_NEXT("32", "adcq", "%[t4]", "%[t5]")
      CUZK_ROW_START_NEXT("40", "adcq", "%[t5]", "%[t6]")
      "adcq $0, %[t6]\n\t"
      CUZK_REDUCE_6("%[t0]", "%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]")
      CUZK_PRODUCT_6("8(%[b])", "%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]")
      CUZK_REDUCE_6("%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]")
      CUZK_PRODUCT_6("16(%[b])", "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]")
      CUZK_REDUCE_6("%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]")
      CUZK_PRODUCT_6("24(%[b])", "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]")
      CUZK_REDUCE_6("%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]")
      CUZK_PRODUCT_6("32(%[b])", "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]", "%[t3]")
      CUZK_REDUCE_6("%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]", "%[t3]")
      CUZK_PRODUCT_6("40(%[b])", "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]", "%[t3]", "%[t4]")
      CUZK_REDUCE_6("%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]", "%[t3]", "%[t4]")
      : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),
        [t5] "=&r"(t5), [t6] "=&r"(t6), [lo] "=&r"(lo), [hi] "=&r"(hi)
      : [a] "r"(a.limb), [b] "r"(b.limb), "m"(a), "m"(b), [inverse] "m"(kInverse),
        [p0] "m"(kModulus.limb[0]), [p1] "m"(kModulus.limb[1]), [p2] "m"(kModulus.limb[2]),
        [p3] "m"(kModulus.limb[3]), [p4] "m"(kModulus.limb[4]), [p5] "m"(kModulus.limb[5])
      : "rdx", "cc");
  return {{t6, t0, t1, t2, t3, t4}};
}

#undef CUZK_ROW_START
#undef CUZK_ROW_START_NEXT
#undef CUZK_ROW
#undef CUZK_ROW_END
#undef CUZK_ROW_LATER
#undef CUZK_REDUCE_START
#undef CUZK_PRODUCT_4
#undef CUZK_REDUCE_4
#undef CUZK_PRODUCT_6
#undef CUZK_REDUCE_6

}  // namespace cuzk

#endif  // CUZK_FIELD_HAS_ADX
