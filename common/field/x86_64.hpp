// Field arithmetic for x86-64 in assembly: what the compiler does not find by itself.
//
// Long carry chains are where compilers lose half of the speed. Addition and subtraction need only the
// base instruction set. Multiplication uses mulx, which leaves the flags alone, and adcx and adox, which
// keep two carry chains apart; not every CPU has them, so a caller asks kCpuHasAdx first. All values are
// below the modulus p, and p < R / 2 with R = 2^(64 N): a sum never carries out of its N limbs.
#pragma once

#include <cstddef>
#include <cstdint>

// 0 on the command line leaves only the portable code.
#ifndef CUZK_FIELD_ASM
#define CUZK_FIELD_ASM 1
#endif
#if CUZK_FIELD_ASM && defined(__x86_64__) && !defined(__CUDA_ARCH__)
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
  asm("subq %[p], %[r0]\n\t"
      "sbbq 8+%[p], %[r1]\n\t"
      "sbbq 16+%[p], %[r2]\n\t"
      "sbbq 24+%[p], %[r3]\n\t"
      "cmovcq %[t0], %[r0]\n\t"
      "cmovcq %[t1], %[r1]\n\t"
      "cmovcq %[t2], %[r2]\n\t"
      "cmovcq %[t3], %[r3]"
      : [r0] "+&r"(r0), [r1] "+&r"(r1), [r2] "+&r"(r2), [r3] "+&r"(r3)
      : [t0] "rm"(t0), [t1] "rm"(t1), [t2] "rm"(t2), [t3] "rm"(t3), [p] "m"(p)
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
  asm("subq %[p], %[r0]\n\t"
      "sbbq 8+%[p], %[r1]\n\t"
      "sbbq 16+%[p], %[r2]\n\t"
      "sbbq 24+%[p], %[r3]\n\t"
      "sbbq 32+%[p], %[r4]\n\t"
      "sbbq 40+%[p], %[r5]\n\t"
      "cmovcq %[t0], %[r0]\n\t"
      "cmovcq %[t1], %[r1]\n\t"
      "cmovcq %[t2], %[r2]\n\t"
      "cmovcq %[t3], %[r3]\n\t"
      "cmovcq %[t4], %[r4]\n\t"
      "cmovcq %[t5], %[r5]"
      : [r0] "+&r"(r0), [r1] "+&r"(r1), [r2] "+&r"(r2), [r3] "+&r"(r3), [r4] "+&r"(r4),
        [r5] "+&r"(r5)
      : [t0] "rm"(t0), [t1] "rm"(t1), [t2] "rm"(t2), [t3] "rm"(t3), [t4] "rm"(t4), [t5] "rm"(t5),
        [p] "m"(p)
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
  asm("addq %[b], %[t0]\n\t"
      "adcq 8+%[b], %[t1]\n\t"
      "adcq 16+%[b], %[t2]\n\t"
      "adcq 24+%[b], %[t3]"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3)
      : [b] "m"(b)
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
  asm("addq %[b], %[t0]\n\t"
      "adcq 8+%[b], %[t1]\n\t"
      "adcq 16+%[b], %[t2]\n\t"
      "adcq 24+%[b], %[t3]\n\t"
      "adcq 32+%[b], %[t4]\n\t"
      "adcq 40+%[b], %[t5]"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4),
        [t5] "+&r"(t5)
      : [b] "m"(b)
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
  asm("subq %[b], %[t0]\n\t"
      "sbbq 8+%[b], %[t1]\n\t"
      "sbbq 16+%[b], %[t2]\n\t"
      "sbbq 24+%[b], %[t3]\n\t"
      "sbbq %[mask], %[mask]"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [mask] "=&r"(mask)
      : [b] "m"(b)
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
  asm("subq %[b], %[t0]\n\t"
      "sbbq 8+%[b], %[t1]\n\t"
      "sbbq 16+%[b], %[t2]\n\t"
      "sbbq 24+%[b], %[t3]\n\t"
      "sbbq 32+%[b], %[t4]\n\t"
      "sbbq 40+%[b], %[t5]\n\t"
      "sbbq %[mask], %[mask]"
      : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4),
        [t5] "+&r"(t5), [mask] "=&r"(mask)
      : [b] "m"(b)
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

// One row of the product: t += a * b[i] into N + 1 limbs; the last limb is left in `hi`. Low halves ride
// on the overflow flag (adox), high halves on the carry flag (adcx).
#define CUZK_STEP(j, next) \
  "adcxq %[hi], %[" next "]\n\t" \
  "mulxq 8*" j "+%[a], %[lo], %[hi]\n\t" \
  "adoxq %[lo], %[" next "]\n\t"
// One step of the reduction row: p[j] * m joins, everything moves down by one limb.
#define CUZK_FOLD(j, t, next) \
  "adcxq %[" next "], %[" t "]\n\t" \
  "mulxq 8*" j "+%[p], %[lo], %[" next "]\n\t" \
  "adoxq %[lo], %[" t "]\n\t"
#define CUZK_FIRST(b, t) \
  "movq " b ", %%rdx\n\t" \
  "xorl %k[lo], %k[lo]\n\t" \
  "mulxq %[a], %[lo], %[hi]\n\t" \
  "adoxq %[lo], %[" t "]\n\t"
#define CUZK_LAST(t)        \
  "movl $0, %k[lo]\n\t"     \
  "adcxq %[lo], %[hi]\n\t"  \
  "adoxq %[lo], %[hi]\n\t"
// m = t[0] * -p^-1 mod 2^64 makes the lowest limb of t + m p zero. The spare register `s` becomes the new
// lowest limb and t0 the spare one of the next row.
#define CUZK_FOLD_FIRST(t0, s)            \
  "movq %[inverse], %%rdx\n\t"            \
  "imulq %[" t0 "], %%rdx\n\t"            \
  "xorl %k[lo], %k[lo]\n\t"               \
  "mulxq %[p], %[lo], %[" s "]\n\t"       \
  "adcxq %[" t0 "], %[lo]\n\t"
#define CUZK_FOLD_LAST(t)     \
  "movl $0, %k[lo]\n\t"       \
  "adcxq %[lo], %[" t "]\n\t" \
  "adoxq %[hi], %[" t "]\n\t"

#define CUZK_FOLD4(t0, s) \
  CUZK_FOLD_FIRST(t0, s) CUZK_FOLD("1", s, "t1") CUZK_FOLD("2", "t1", "t2") \
  CUZK_FOLD("3", "t2", "t3") CUZK_FOLD_LAST("t3")
#define CUZK_ROW4(b, t0, s) \
  CUZK_FIRST(b, t0) CUZK_STEP("1", "t1") CUZK_STEP("2", "t2") \
  CUZK_STEP("3", "t3") CUZK_LAST("t3") CUZK_FOLD4(t0, s)
#define CUZK_FOLD6(t0, s) \
  CUZK_FOLD_FIRST(t0, s) CUZK_FOLD("1", s, "t1") CUZK_FOLD("2", "t1", "t2") \
  CUZK_FOLD("3", "t2", "t3") CUZK_FOLD("4", "t3", "t4") CUZK_FOLD("5", "t4", "t5") \
  CUZK_FOLD_LAST("t5")
#define CUZK_ROW6(b, t0, s) \
  CUZK_FIRST(b, t0) CUZK_STEP("1", "t1") CUZK_STEP("2", "t2") \
  CUZK_STEP("3", "t3") CUZK_STEP("4", "t4") CUZK_STEP("5", "t5") \
  CUZK_LAST("t5") CUZK_FOLD6(t0, s)

// out = a b / R mod p: coarsely integrated operand scanning, one row a limb of b.
inline void multiply_mod(std::uint64_t* out, const Limbs4& a, const Limbs4& b, const Limbs4& p,
                         std::uint64_t inverse) {
  std::uint64_t t0, t1, t2, t3, spare, hi, lo;
  asm("movq %[b], %%rdx\n\t"
      "mulxq %[a], %[t0], %[t1]\n\t"
      "mulxq 8+%[a], %[lo], %[t2]\n\t"
      "addq %[lo], %[t1]\n\t"
      "mulxq 16+%[a], %[lo], %[t3]\n\t"
      "adcq %[lo], %[t2]\n\t"
      "mulxq 24+%[a], %[lo], %[hi]\n\t"
      "adcq %[lo], %[t3]\n\t"
      "adcq $0, %[hi]\n\t"
      CUZK_FOLD4("t0", "spare")
      CUZK_ROW4("8+%[b]", "spare", "t0")
      CUZK_ROW4("16+%[b]", "t0", "spare")
      CUZK_ROW4("24+%[b]", "spare", "t0")
      : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [spare] "=&r"(spare),
        [hi] "=&r"(hi), [lo] "=&r"(lo)
      : [a] "m"(a), [b] "m"(b), [p] "m"(p), [inverse] "rm"(inverse)
      : "rdx", "cc");
  reduce_once(out, t0, t1, t2, t3, p);
}

inline void multiply_mod(std::uint64_t* out, const Limbs6& a, const Limbs6& b, const Limbs6& p,
                         std::uint64_t inverse) {
  std::uint64_t t0, t1, t2, t3, t4, t5, spare, hi, lo;
  asm("movq %[b], %%rdx\n\t"
      "mulxq %[a], %[t0], %[t1]\n\t"
      "mulxq 8+%[a], %[lo], %[t2]\n\t"
      "addq %[lo], %[t1]\n\t"
      "mulxq 16+%[a], %[lo], %[t3]\n\t"
      "adcq %[lo], %[t2]\n\t"
      "mulxq 24+%[a], %[lo], %[t4]\n\t"
      "adcq %[lo], %[t3]\n\t"
      "mulxq 32+%[a], %[lo], %[t5]\n\t"
      "adcq %[lo], %[t4]\n\t"
      "mulxq 40+%[a], %[lo], %[hi]\n\t"
      "adcq %[lo], %[t5]\n\t"
      "adcq $0, %[hi]\n\t"
      CUZK_FOLD6("t0", "spare")
      CUZK_ROW6("8+%[b]", "spare", "t0")
      CUZK_ROW6("16+%[b]", "t0", "spare")
      CUZK_ROW6("24+%[b]", "spare", "t0")
      CUZK_ROW6("32+%[b]", "t0", "spare")
      CUZK_ROW6("40+%[b]", "spare", "t0")
      : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),
        [t5] "=&r"(t5), [spare] "=&r"(spare), [hi] "=&r"(hi), [lo] "=&r"(lo)
      : [a] "m"(a), [b] "m"(b), [p] "m"(p), [inverse] "m"(inverse)
      : "rdx", "cc");
  reduce_once(out, t0, t1, t2, t3, t4, t5, p);
}

#undef CUZK_ROW6
#undef CUZK_FOLD6
#undef CUZK_ROW4
#undef CUZK_FOLD4
#undef CUZK_FOLD_LAST
#undef CUZK_FOLD_FIRST
#undef CUZK_LAST
#undef CUZK_FIRST
#undef CUZK_FOLD
#undef CUZK_STEP

}  // namespace cuzk::x86_64

#endif  // CUZK_FIELD_X86_64
