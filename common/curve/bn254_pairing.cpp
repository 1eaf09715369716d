#include "common/curve/pairing_impl.hpp"

namespace cuzk {

CUZK_INSTANTIATE_PAIRING(Bn254);

}  // namespace cuzk
