#include "gpu_worker/engine_factory.hpp"

#include <string>

#include "gpu_worker/cpu/cpu_engine.hpp"

namespace cuzk {

Result<std::unique_ptr<Engine>> make_engine(std::string_view device, unsigned threads) {
  if (device == "cpu") return std::unique_ptr<Engine>(std::make_unique<CpuEngine>(threads));
  return Error{ErrorClass::kOperator, "this build has no engine for the device",
               "device \"" + std::string(device) + "\"", "use devices = [\"cpu\"]"};
}

}  // namespace cuzk
