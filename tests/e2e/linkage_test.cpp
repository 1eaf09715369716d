// Only gpu_worker may link CUDA: a process that does not own a device must not hold a context.
#include <gtest/gtest.h>

#include "tests/e2e/daemon.hpp"

namespace cuzk::e2e {
namespace {

TEST(Linkage, OnlyTheGpuWorkerLinksCuda) {
  for (const char* program : {"cuzk-supervisor", "cuzk-synth-worker", "cuzkctl"}) {
    SCOPED_TRACE(program);
    const Output libraries = run({"ldd", std::string(CUZK_BIN_DIR) + "/" + program});
    ASSERT_EQ(libraries.exit_code, 0) << libraries.err;
    ASSERT_NE(libraries.out.find("libc.so"), std::string::npos) << libraries.out;
    for (const char* forbidden : {"libcuda", "libnvidia", "libcudart"}) {
      EXPECT_EQ(libraries.out.find(forbidden), std::string::npos) << libraries.out;
    }
  }
}

}  // namespace
}  // namespace cuzk::e2e
