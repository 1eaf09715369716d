// Asks the CPU, once at start, for the instructions that the fast multiplication needs.
#include "common/field/x86_64.hpp"

#if CUZK_FIELD_X86_64

#include <cpuid.h>

namespace cuzk::x86_64 {
namespace {

bool has_mulx_and_adx() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  constexpr unsigned kBmi2 = 1u << 8;
  constexpr unsigned kAdx = 1u << 19;
  return (ebx & kBmi2) != 0 && (ebx & kAdx) != 0;
}

}  // namespace

const bool kCpuHasAdx = has_mulx_and_adx();

}  // namespace cuzk::x86_64

#endif
