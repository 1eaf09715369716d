// CUZK_HD marks what host and device code share.
#pragma once

#ifdef __CUDACC__
#define CUZK_HD __host__ __device__
#else
#define CUZK_HD
#endif
