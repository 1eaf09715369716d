// Which engine serves which device.
#pragma once

#include <memory>
#include <string_view>

#include "common/result.hpp"
#include "gpu_worker/engine.hpp"

namespace cuzk {

// `device` as the configuration names it; "cpu" is the only kind so far. `threads` is what the engine
// may keep busy, the caller's included. Fails with kOperator for a device that this build does not know:
// there is no silent fall-back to another one.
Result<std::unique_ptr<Engine>> make_engine(std::string_view device, unsigned threads);

}  // namespace cuzk
