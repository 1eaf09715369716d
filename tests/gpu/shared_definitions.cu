// Compiles the field and curve headers for the device: proof that host and device share one definition.
//
// Nothing here is launched. The kernels use every operation that device code may rely on, for all four
// fields and for a group of either kind, so a header that stops compiling for the device fails the build.
#include "common/curve/points.hpp"

namespace cuzk {

template <class Field>
__global__ void field_operations(Field* a, const Field* b, typename Field::Integer* integers) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  Field x = a[i] * b[i] + a[i] - b[i].square().dbl();
  if (x.is_zero() || x == Field::one()) x = -Field::from_u64(i);
  if (Field::is_canonical(integers[i])) x *= Field::from_integer(integers[i]);
  x += x.inverse();
  x -= x.pow(integers[i]);
  integers[i] = x.to_integer();
  a[i] = x;
}

template <class Group>
__global__ void point_operations(Affine<Group>* points, Jacobian<Group>* jacobian, Xyzz<Group>* sums,
                                 const typename Group::Scalar::Integer* scalars) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!is_on_curve(points[i])) points[i] = Affine<Group>::infinity();
  jacobian[i] = add_mixed(add(dbl(jacobian[i]), mul(points[i], scalars[i])), neg(points[i]));
  sums[i] = add_mixed(add(dbl(sums[i]), neg(Xyzz<Group>::from(points[i]))), points[i]);
  jacobian[i] = add(jacobian[i], to_jacobian(sums[i]));
  points[i] = to_affine(jacobian[i]);
}

#define CUZK_INSTANTIATE_FIELD(Field) \
  template __global__ void field_operations<Field>(Field*, const Field*, Field::Integer*)
#define CUZK_INSTANTIATE_GROUP(Group)                                                         \
  template __global__ void point_operations<Group>(Affine<Group>*, Jacobian<Group>*, Xyzz<Group>*, \
                                                   const Group::Scalar::Integer*)

CUZK_INSTANTIATE_FIELD(Bn254Fq);
CUZK_INSTANTIATE_FIELD(Bn254Fr);
CUZK_INSTANTIATE_FIELD(Bls12_381Fq);
CUZK_INSTANTIATE_FIELD(Bls12_381Fr);
// One group of each curve and each kind: all four would take minutes to compile and show no more.
CUZK_INSTANTIATE_GROUP(G2Of<Bn254>);
CUZK_INSTANTIATE_GROUP(G1Of<Bls12_381>);

}  // namespace cuzk
