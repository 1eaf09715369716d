// CUZK_HD marks what host and device code share; CUZK_DEVICE_CALL what device code calls instead of
// inlining, because a point operation is made of dozens of copies of it.
#pragma once

#ifdef __CUDACC__
#define CUZK_HD __host__ __device__
#define CUZK_DEVICE_CALL __noinline__
#else
#define CUZK_HD
#define CUZK_DEVICE_CALL
#endif
