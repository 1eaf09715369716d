// Field arithmetic for x86-64 in assembly: what the compiler does not find by itself.
//
// Long carry chains are where compilers lose half of the speed. Addition and subtraction need only the
// base instruction set. Multiplication uses mulx, which leaves the flags alone, and adcx and adox, which
// keep two carry chains apart; not every CPU has them, so a caller asks kCpuHasAdx first. All arguments
// are below the modulus p, and p < R / 2 with R = 2^(64 N): a sum never carries out of its N limbs.
#pragma once

#include "common/field/params.hpp"

// 0 on the command line leaves only the portable code.
#ifndef CUZK_FIELD_ASM
#define CUZK_FIELD_ASM 1
#endif
// clang, and gcc without optimisation, do not fit six limbs and their addresses into sixteen registers.
#if CUZK_FIELD_ASM && defined(__x86_64__) && !defined(__CUDA_ARCH__) && \
    defined(__OPTIMIZE__) && !defined(__clang__)
#define CUZK_FIELD_X86_64 1
#else
#define CUZK_FIELD_X86_64 0
#endif

#if CUZK_FIELD_X86_64

namespace cuzk::x86_64 {

// Whether this CPU has mulx (BMI2) and adcx/adox (ADX). Reads as false while static objects are being
// constructed, which only costs speed.
[[gnu::visibility("hidden")]] extern const bool kCpuHasAdx;

using Limbs4 = std::uint64_t[4];
using Limbs6 = std::uint64_t[6];

// out = t mod p for t < 2p. No branch: the compiler would guess wrong half of the time.
inline void reduce_once(std::uint64_t* out, std::uint64_t t0, std::uint64_t t1, std::uint64_t t2,
                        std::uint64_t t3, const Limbs4& p) {
  std::uint64_t r0 = t0;
  std::uint64_t r1 = t1;
  std::uint64_t r2 = t2;
  std::uint64_t r3 = t3;
  asm("subq (%[p]), %[r0]\n\t"
      "sbbq 8(%[p]), %[r1]\n\t"
      "sbbq 16(%[p]), %[r2]\n\t"
      "sbbq 24(%[p]), %[r3]\n\t"
      "cmovcq %[t0], %[r0]\n\t"
      "cmovcq %[t1], %[r1]\n\t"
      "cmovcq %[t2], %[r2]\n\t"
      "cmovcq %[t3], %[r3]"
      : [r0] "+&r"(r0), [r1] "+&r"(r1), [r2] "+&r"(r2), [r3] "+&r"(r3)
      : [t0] "rm"(t0), [t1] "rm"(t1), [t2] "rm"(t2), [t3] "rm"(t3), [p] "r"(p), "m"(p)
      : "cc");
  out[0] = r0;
  out[1] = r1;
  out[2] = r2;
  out[3] = r3;
}

inline void reduce_once(std::uint64_t* out, std::uint64_t t0, std::uint64_t t1, std::uint64_t t2,
                        std::uint64_t t3, std::uint64_t t4, std::uint64_t t5, const Limbs6& p) {
  std::uint64_t r0 = t0;
  std::uint64_t r1 = t1;
  std::uint64_t r2 = t2;
  std::uint64_t r3 = t3;
  std::uint64_t r4 = t4;
  std::uint64_t r5 = t5;
  asm("subq (%[p]), %[r0]\n\t"
      "sbbq 8(%[p]), %[r1]\n\t"
      "sbbq 16(%[p]), %[r2]\n\t"
      "sbbq 24(%[p]), %[r3]\n\t"
      "sbbq 32(%[p]), %[r4]\n\t"
      "sbbq 40(%[p]), %[r5]\n\t"
      "cmovcq %[t0], %[r0]\n\t"
      "cmovcq %[t1], %[r1]\n\t"
      "cmovcq %[t2], %[r2]\n\t"
      "cmovcq %[t3], %[r3]\n\t"
      "cmovcq %[t4], %[r4]\n\t"
      "cmovcq %[t5], %[r5]"
      : [r0] "+&r"(r0), [r1] "+&r"(r1), [r2] "+&r"(r2), [r3] "+&r"(r3), [r4] "+&r"(r4),
        [r5] "+&r"(r5)
      : [t0] "rm"(t0), [t1] "rm"(t1), [t2] "rm"(t2), [t3] "rm"(t3), [t4] "rm"(t4), [t5] "rm"(t5),
        [p] "r"(p), "m"(p)
      : "cc");
  out[0] = r0;
  out[1] = r1;
  out[2] = r2;
  out[3] = r3;
  out[4] = r4;
  out[5] = r5;
}

// out = a + b mod p
inline void add_mod(std::uint64_t* out, const Limbs4& a, const Limbs4& b, const Limbs4& p) {
  std::uint64_t t0 = a[0];
  std::uint64_t t1 = a[1];
  std::uint64_t t2 = a[2];
  std::uint64_t t3 = a[3];
  asm("addq (%[b]), %[t0]\n\t"
      "adcq 8(%[b]), %[t1]\n\t"
      "adcq 16(%[b]), %[t2]\n\t"
      "adcq 24(%[b]), %[t3]"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3)
      : [b] "r"(b), "m"(b)
      : "cc");
  reduce_once(out, t0, t1, t2, t3, p);
}

inline void add_mod(std::uint64_t* out, const Limbs6& a, const Limbs6& b, const Limbs6& p) {
  std::uint64_t t0 = a[0];
  std::uint64_t t1 = a[1];
  std::uint64_t t2 = a[2];
  std::uint64_t t3 = a[3];
  std::uint64_t t4 = a[4];
  std::uint64_t t5 = a[5];
  asm("addq (%[b]), %[t0]\n\t"
      "adcq 8(%[b]), %[t1]\n\t"
      "adcq 16(%[b]), %[t2]\n\t"
      "adcq 24(%[b]), %[t3]\n\t"
      "adcq 32(%[b]), %[t4]\n\t"
      "adcq 40(%[b]), %[t5]"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4),
        [t5] "+&r"(t5)
      : [b] "r"(b), "m"(b)
      : "cc");
  reduce_once(out, t0, t1, t2, t3, t4, t5, p);
}

// out = 2 a mod p
inline void dbl_mod(std::uint64_t* out, const Limbs4& a, const Limbs4& p) {
  const std::uint64_t t1 = a[1] << 1 | a[0] >> 63;
  const std::uint64_t t2 = a[2] << 1 | a[1] >> 63;
  const std::uint64_t t3 = a[3] << 1 | a[2] >> 63;
  reduce_once(out, a[0] << 1, t1, t2, t3, p);
}

inline void dbl_mod(std::uint64_t* out, const Limbs6& a, const Limbs6& p) {
  const std::uint64_t t1 = a[1] << 1 | a[0] >> 63;
  const std::uint64_t t2 = a[2] << 1 | a[1] >> 63;
  const std::uint64_t t3 = a[3] << 1 | a[2] >> 63;
  const std::uint64_t t4 = a[4] << 1 | a[3] >> 63;
  const std::uint64_t t5 = a[5] << 1 | a[4] >> 63;
  reduce_once(out, a[0] << 1, t1, t2, t3, t4, t5, p);
}

// out = a - b mod p: p is added under a mask that the borrow makes.
inline void subtract_mod(std::uint64_t* out, const Limbs4& a, const Limbs4& b, const Limbs4& p) {
  std::uint64_t t0 = a[0];
  std::uint64_t t1 = a[1];
  std::uint64_t t2 = a[2];
  std::uint64_t t3 = a[3];
  std::uint64_t mask;
  asm("subq (%[b]), %[t0]\n\t"
      "sbbq 8(%[b]), %[t1]\n\t"
      "sbbq 16(%[b]), %[t2]\n\t"
      "sbbq 24(%[b]), %[t3]\n\t"
      "sbbq %[mask], %[mask]"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [mask] "=&r"(mask)
      : [b] "r"(b), "m"(b)
      : "cc");
  asm("addq %[p0], %[t0]\n\t"
      "adcq %[p1], %[t1]\n\t"
      "adcq %[p2], %[t2]\n\t"
      "adcq %[p3], %[t3]"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3)
      : [p0] "rm"(p[0] & mask), [p1] "rm"(p[1] & mask), [p2] "rm"(p[2] & mask),
        [p3] "rm"(p[3] & mask)
      : "cc");
  out[0] = t0;
  out[1] = t1;
  out[2] = t2;
  out[3] = t3;
}

inline void subtract_mod(std::uint64_t* out, const Limbs6& a, const Limbs6& b, const Limbs6& p) {
  std::uint64_t t0 = a[0];
  std::uint64_t t1 = a[1];
  std::uint64_t t2 = a[2];
  std::uint64_t t3 = a[3];
  std::uint64_t t4 = a[4];
  std::uint64_t t5 = a[5];
  std::uint64_t mask;
  asm("subq (%[b]), %[t0]\n\t"
      "sbbq 8(%[b]), %[t1]\n\t"
      "sbbq 16(%[b]), %[t2]\n\t"
      "sbbq 24(%[b]), %[t3]\n\t"
      "sbbq 32(%[b]), %[t4]\n\t"
      "sbbq 40(%[b]), %[t5]\n\t"
      "sbbq %[mask], %[mask]"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4),
        [t5] "+&r"(t5), [mask] "=&r"(mask)
      : [b] "r"(b), "m"(b)
      : "cc");
  asm("addq %[p0], %[t0]\n\t"
      "adcq %[p1], %[t1]\n\t"
      "adcq %[p2], %[t2]\n\t"
      "adcq %[p3], %[t3]\n\t"
      "adcq %[p4], %[t4]\n\t"
      "adcq %[p5], %[t5]"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4),
        [t5] "+&r"(t5)
      : [p0] "rm"(p[0] & mask), [p1] "rm"(p[1] & mask), [p2] "rm"(p[2] & mask),
        [p3] "rm"(p[3] & mask), [p4] "rm"(p[4] & mask), [p5] "rm"(p[5] & mask)
      : "cc");
  out[0] = t0;
  out[1] = t1;
  out[2] = t2;
  out[3] = t3;
  out[4] = t4;
  out[5] = t5;
}

// What one multiplication reads besides its arguments; the assembly knows the offsets.
template <std::size_t N>
struct Constants {
  std::uint64_t inverse_of_2_64[N];  // 2^-64 mod p
  std::uint64_t p[N];
  std::uint64_t negative_inverse;  // -p^-1 mod 2^64
};

template <class Params>
constexpr Constants<Params::kLimbs> make_constants() {
  constexpr std::size_t kLimbs = Params::kLimbs;
  static_assert(Params::kModulus.limb[kLimbs - 1] < (std::uint64_t{1} << 63) - 1);
  Constants<kLimbs> constants{};
  constants.negative_inverse = Montgomery<Params>::kNegativeInverse;
  // k p + 1 with k = -p^-1 mod 2^64 is divisible by 2^64, and the quotient is 2^-64 mod p.
  std::uint64_t carry = 1;
  for (std::size_t i = 0; i < kLimbs; ++i) {
    const unsigned __int128 t =
        static_cast<unsigned __int128>(constants.negative_inverse) * Params::kModulus.limb[i] + carry;
    if (i > 0) constants.inverse_of_2_64[i - 1] = static_cast<std::uint64_t>(t);
    carry = static_cast<std::uint64_t>(t >> 64);
    constants.p[i] = Params::kModulus.limb[i];
  }
  constants.inverse_of_2_64[kLimbs - 1] = carry;
  return constants;
}
template <class Params>
inline constexpr Constants<Params::kLimbs> kConstants = make_constants<Params>();

// multiply_mod interleaves product rows and folds, one of each for every limb of b, on an accumulator t of
// N + 1 limbs:
//   row:   t += a b[i].
//   fold:  t = t / 2^64 mod p, exactly: either the way of Montgomery, with m = -t[0] / p mod 2^64,
//          t = (t + m p) / 2^64; or, with one multiplication and two dependent steps less, by
//          t = (t - t[0]) / 2^64 + t[0] (2^-64 mod p).
// The short fold (known from notes of Y. Domb and G. Mitscha-Baude on fast modular multiplication) lets t
// grow to k p + 2^64 p with k = -p^-1 mod 2^64 before a fold. The last fold must be Montgomery's. Then
// t + m p < (k + 2 * 2^64) p must fit N + 1 limbs, and the result is below p (p / R + k / 2^64 + 1), which
// must be below 2 p. Both hold for both base fields and the scalar field of BN254; the scalar field of
// BLS12-381 has too large a modulus and takes Montgomery's folds throughout.
template <class Params>
inline constexpr bool kHasShortFolds =
    Params::kModulus.limb[Params::kLimbs - 1] < ~std::uint64_t{0} / 3 - 1 &&
    Params::kModulus.limb[Params::kLimbs - 1] + 1 < 0 - Montgomery<Params>::kNegativeInverse;

// rdx times the limb at `source` joins limbs x and y of t: low halves ride on the overflow flag, high
// halves on the carry flag.
#define CUZK_TERM(source, x, y)         \
  "mulxq " source ", %[lo], %[hi]\n\t"  \
  "adoxq %[lo], %[" x "]\n\t"           \
  "adcxq %[hi], %[" y "]\n\t"
// Clears both flags: breaks the chain to the instructions before.
#define CUZK_NEW_CHAIN "xorl %k[zero], %k[zero]\n\t"

#define CUZK_ROW4(b, t0, t1, t2, t3, t4)                                                         \
  "movq " b ", %%rdx\n\t" CUZK_NEW_CHAIN CUZK_TERM("(%[a])", t0, t1) CUZK_TERM("8(%[a])", t1, t2) \
  CUZK_TERM("16(%[a])", t2, t3) CUZK_TERM("24(%[a])", t3, t4) "adoxq %[zero], %[" t4 "]\n\t"
// Leaves t in t1 t2 t3 t4 t0.
#define CUZK_SHORT_FOLD4(t0, t1, t2, t3, t4)                                                           \
  "movq %[" t0 "], %%rdx\n\t" CUZK_NEW_CHAIN CUZK_TERM("(%[c])", t1, t2)                          \
  CUZK_TERM("8(%[c])", t2, t3) CUZK_TERM("16(%[c])", t3, t4)                                      \
  "mulxq 24(%[c]), %[lo], %[" t0 "]\n\t"                                                          \
  "adoxq %[lo], %[" t4 "]\n\t"                                                                    \
  "adcxq %[zero], %[" t0 "]\n\t"                                                                  \
  "adoxq %[zero], %[" t0 "]\n\t"
// The same, with t0 zero at the end.
#define CUZK_MONTGOMERY_FOLD4(t0, t1, t2, t3, t4)                                                \
  "movq %[" t0 "], %%rdx\n\t"                                                                     \
  "mulxq 64(%[c]), %%rdx, %[hi]\n\t" CUZK_NEW_CHAIN CUZK_TERM("32(%[c])", t0, t1)                 \
  CUZK_TERM("40(%[c])", t1, t2) CUZK_TERM("48(%[c])", t2, t3) CUZK_TERM("56(%[c])", t3, t4)       \
  "adoxq %[zero], %[" t4 "]\n\t"
#define CUZK_MULTIPLY4(fold)                              \
  asm("movq (%[b]), %%rdx\n\t"                            \
      CUZK_NEW_CHAIN                                      \
      "mulxq (%[a]), %[t0], %[t1]\n\t"                    \
      "mulxq 8(%[a]), %[lo], %[t2]\n\t"                   \
      "adoxq %[lo], %[t1]\n\t"                            \
      "mulxq 16(%[a]), %[lo], %[t3]\n\t"                  \
      "adoxq %[lo], %[t2]\n\t"                            \
      "mulxq 24(%[a]), %[lo], %[t4]\n\t"                  \
      "adoxq %[lo], %[t3]\n\t"                            \
      "adoxq %[zero], %[t4]\n\t"                          \
      fold("t0", "t1", "t2", "t3", "t4")                  \
      CUZK_ROW4("8(%[b])", "t1", "t2", "t3", "t4", "t0")  \
      fold("t1", "t2", "t3", "t4", "t0")                  \
      CUZK_ROW4("16(%[b])", "t2", "t3", "t4", "t0", "t1") \
      fold("t2", "t3", "t4", "t0", "t1")                  \
      CUZK_ROW4("24(%[b])", "t3", "t4", "t0", "t1", "t2") \
      CUZK_MONTGOMERY_FOLD4("t3", "t4", "t0", "t1", "t2") \
      : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),     \
        [hi] "=&r"(hi), [lo] "=&r"(lo), [zero] "=&r"(zero)                                  \
      : [a] "r"(a), "m"(a), [b] "r"(b), "m"(b), [c] "r"(&c), "m"(c)                         \
      : "rdx", "cc")

// out = a b / R mod p
template <class Params>
inline void multiply_mod(std::uint64_t* out, const Limbs4& a, const Limbs4& b) {
  static constexpr const Constants<4>& c = kConstants<Params>;
  std::uint64_t t0, t1, t2, t3, t4, hi, lo, zero;
  if constexpr (kHasShortFolds<Params>) {
    CUZK_MULTIPLY4(CUZK_SHORT_FOLD4);
  } else {
    CUZK_MULTIPLY4(CUZK_MONTGOMERY_FOLD4);
  }
  reduce_once(out, t4, t0, t1, t2, c.p);
}

#undef CUZK_MULTIPLY4
#undef CUZK_MONTGOMERY_FOLD4
#undef CUZK_SHORT_FOLD4
#undef CUZK_ROW4

#define CUZK_ROW6(b, t0, t1, t2, t3, t4, t5, t6)                                                 \
  "movq " b ", %%rdx\n\t" CUZK_NEW_CHAIN CUZK_TERM("(%[a])", t0, t1) CUZK_TERM("8(%[a])", t1, t2) \
  CUZK_TERM("16(%[a])", t2, t3) CUZK_TERM("24(%[a])", t3, t4) CUZK_TERM("32(%[a])", t4, t5)       \
  CUZK_TERM("40(%[a])", t5, t6) "adoxq %[zero], %[" t6 "]\n\t"
// Leaves t in t1 t2 t3 t4 t5 t6 t0.
#define CUZK_SHORT_FOLD6(t0, t1, t2, t3, t4, t5, t6)                                                   \
  "movq %[" t0 "], %%rdx\n\t" CUZK_NEW_CHAIN CUZK_TERM("(%[c])", t1, t2)                          \
  CUZK_TERM("8(%[c])", t2, t3) CUZK_TERM("16(%[c])", t3, t4) CUZK_TERM("24(%[c])", t4, t5)        \
  CUZK_TERM("32(%[c])", t5, t6)                                                                   \
  "mulxq 40(%[c]), %[lo], %[" t0 "]\n\t"                                                          \
  "adoxq %[lo], %[" t6 "]\n\t"                                                                    \
  "adcxq %[zero], %[" t0 "]\n\t"                                                                  \
  "adoxq %[zero], %[" t0 "]\n\t"
#define CUZK_MONTGOMERY_FOLD6(t0, t1, t2, t3, t4, t5, t6)                                        \
  "movq %[" t0 "], %%rdx\n\t"                                                                     \
  "mulxq 96(%[c]), %%rdx, %[hi]\n\t" CUZK_NEW_CHAIN CUZK_TERM("48(%[c])", t0, t1)                 \
  CUZK_TERM("56(%[c])", t1, t2) CUZK_TERM("64(%[c])", t2, t3) CUZK_TERM("72(%[c])", t3, t4)       \
  CUZK_TERM("80(%[c])", t4, t5) CUZK_TERM("88(%[c])", t5, t6) "adoxq %[zero], %[" t6 "]\n\t"

// out = a b / R mod p
template <class Params>
inline void multiply_mod(std::uint64_t* out, const Limbs6& a, const Limbs6& b) {
  static_assert(kHasShortFolds<Params>);
  static constexpr const Constants<6>& c = kConstants<Params>;
  std::uint64_t t0, t1, t2, t3, t4, t5, t6, hi, lo, zero;
  asm("movq (%[b]), %%rdx\n\t"
      CUZK_NEW_CHAIN
      "mulxq (%[a]), %[t0], %[t1]\n\t"
      "mulxq 8(%[a]), %[lo], %[t2]\n\t"
      "adoxq %[lo], %[t1]\n\t"
      "mulxq 16(%[a]), %[lo], %[t3]\n\t"
      "adoxq %[lo], %[t2]\n\t"
      "mulxq 24(%[a]), %[lo], %[t4]\n\t"
      "adoxq %[lo], %[t3]\n\t"
      "mulxq 32(%[a]), %[lo], %[t5]\n\t"
      "adoxq %[lo], %[t4]\n\t"
      "mulxq 40(%[a]), %[lo], %[t6]\n\t"
      "adoxq %[lo], %[t5]\n\t"
      "adoxq %[zero], %[t6]\n\t"
      CUZK_SHORT_FOLD6("t0", "t1", "t2", "t3", "t4", "t5", "t6")
      CUZK_ROW6("8(%[b])", "t1", "t2", "t3", "t4", "t5", "t6", "t0")
      CUZK_SHORT_FOLD6("t1", "t2", "t3", "t4", "t5", "t6", "t0")
      CUZK_ROW6("16(%[b])", "t2", "t3", "t4", "t5", "t6", "t0", "t1")
      CUZK_SHORT_FOLD6("t2", "t3", "t4", "t5", "t6", "t0", "t1")
      CUZK_ROW6("24(%[b])", "t3", "t4", "t5", "t6", "t0", "t1", "t2")
      CUZK_SHORT_FOLD6("t3", "t4", "t5", "t6", "t0", "t1", "t2")
      CUZK_ROW6("32(%[b])", "t4", "t5", "t6", "t0", "t1", "t2", "t3")
      CUZK_SHORT_FOLD6("t4", "t5", "t6", "t0", "t1", "t2", "t3")
      CUZK_ROW6("40(%[b])", "t5", "t6", "t0", "t1", "t2", "t3", "t4")
      CUZK_MONTGOMERY_FOLD6("t5", "t6", "t0", "t1", "t2", "t3", "t4")
      : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),
        [t5] "=&r"(t5), [t6] "=&r"(t6), [hi] "=&r"(hi), [lo] "=&r"(lo), [zero] "=&r"(zero)
      : [a] "r"(a), "m"(a), [b] "r"(b), "m"(b), [c] "r"(&c), "m"(c)
      : "rdx", "cc");
  reduce_once(out, t6, t0, t1, t2, t3, t4, c.p);
}

#undef CUZK_MONTGOMERY_FOLD6
#undef CUZK_SHORT_FOLD6
#undef CUZK_ROW6
#undef CUZK_NEW_CHAIN
#undef CUZK_TERM

}  // namespace cuzk::x86_64

#endif  // CUZK_FIELD_X86_64
