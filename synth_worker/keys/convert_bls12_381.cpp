#include "synth_worker/keys/convert_curve.inl.hpp"

namespace cuzk {

template Result<std::uint64_t> convert_zkey<Bls12_381>(const Conversion&);

}  // namespace cuzk
