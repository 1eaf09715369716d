// The process limits that a daemon with a thousand clients needs.
#pragma once

namespace cuzk::supervisor {

// Raises the limit on open descriptors as far as the hard limit allows and this daemon can use.
// Workers inherit it.
void raise_descriptor_limit();

}  // namespace cuzk::supervisor
