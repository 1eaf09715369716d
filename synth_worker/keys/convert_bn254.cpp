#include "synth_worker/keys/convert_curve.inl.hpp"

namespace cuzk {

template Result<std::uint64_t> convert_zkey<Bn254>(const Conversion&);

}  // namespace cuzk
