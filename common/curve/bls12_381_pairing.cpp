#include "common/curve/pairing_impl.hpp"

namespace cuzk {

CUZK_INSTANTIATE_PAIRING(Bls12_381);

}  // namespace cuzk
