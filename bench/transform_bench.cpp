// Times of transforms and multi-scalar multiplications, and of the pieces that their cost models
// weigh.
//
//   bench_transform --benchmark_filter=ntt      transforms, by size and threads
//   bench_transform --benchmark_filter=msm      multiplications, by group, size, kind of scalars,
//   threads bench_transform --benchmark_filter=pieces   unit costs for unit_costs() of common/msm
#include <map>
#include <memory>
#include <random>

#include <benchmark/benchmark.h>

#include "common/msm/batch_add.hpp"
#include "common/msm/bucket_set.hpp"
#include "common/msm/bucket_sum.hpp"
#include "common/msm/msm.hpp"
#include "common/msm/recoding.hpp"
#include "common/ntt/ntt.hpp"

namespace cuzk {
namespace {

template <class Scalar>
typename Scalar::Integer random_integer(std::mt19937_64& random) {
  typename Scalar::Integer integer{};
  do {
    for (std::uint64_t& limb : integer.limb) limb = random();
    integer.limb[3] >>= 1;
  } while (!Scalar::is_canonical(integer));
  return integer;
}

// Many different points for little: a walk with a doubling now and then.
template <class Group>
std::vector<Affine<Group>> make_points(std::size_t count) {
  const Affine<Group> generator{Group::generator_x(), Group::generator_y()};
  std::vector<Jacobian<Group>> walk(count);
  Jacobian<Group> point = Jacobian<Group>::from(generator);
  for (std::size_t i = 0; i < count; ++i) {
    walk[i] = point;
    point = add_mixed(i % 64 == 0 ? dbl(point) : point, generator);
  }
  std::vector<Affine<Group>> points(count);
  batch_to_affine<Group>(walk, points);
  return points;
}

enum Scalars : std::int64_t { kDense, kBits, kCircuit };

// kBits: half zeros, half ones. kCircuit: 45 % zeros, 45 % ones, 5 % bytes, 5 % wide.
template <class Scalar>
std::vector<typename Scalar::Integer> make_scalars(std::size_t count, std::int64_t kind) {
  std::mt19937_64 random(1);
  std::vector<typename Scalar::Integer> scalars(count);
  for (auto& scalar : scalars) {
    const std::uint64_t dice = random() % 100;
    if (kind == kDense || (kind == kCircuit && dice >= 95)) {
      scalar = random_integer<Scalar>(random);
    } else {
      scalar = {};
      scalar[0] = kind == kCircuit && dice >= 90 ? random() % 256 : dice % 2;
    }
  }
  return scalars;
}

template <class Group>
void msm_bench(benchmark::State& state) {
  const std::size_t count = std::size_t{1} << state.range(0);
  ThreadPool pool(static_cast<unsigned>(state.range(1)));
  const auto points = make_points<Group>(count);
  const auto scalars = make_scalars<typename Group::Scalar>(count, state.range(2));
  for (auto _ : state) {
    benchmark::DoNotOptimize(msm<Group>({points, scalars}, pool));
  }
}

template <class Fr, int kWhich>
void ntt_bench(benchmark::State& state) {
  const unsigned log_n = static_cast<unsigned>(state.range(0));
  ThreadPool pool(static_cast<unsigned>(state.range(1)));
  const auto domain = NttDomain<Fr>::snarkjs(log_n, pool);
  std::mt19937_64 random(1);
  std::vector<Fr> values(domain.size());
  for (Fr& value : values) value = Fr::from_integer(random_integer<Fr>(random));
  for (auto _ : state) {
    if (kWhich == 0) domain.inverse(values, pool);
    if (kWhich == 1) domain.forward(values, pool);
    if (kWhich == 2) domain.to_coset(values, pool);
  }
}

template <class Field>
void multiply_bench(benchmark::State& state) {
  Field a[4] = {Field::one(), Field::one() + Field::one(), -Field::one(), Field::one()};
  const Field b = a[1] + a[1] + a[0];
  for (auto _ : state) {
    for (Field& x : a) x = x * b;
    benchmark::DoNotOptimize(a);
  }
  state.SetItemsProcessed(state.iterations() * 4);
}

template <class Field>
void inverse_bench(benchmark::State& state) {
  Field a = Field::one() + Field::one();
  for (auto _ : state) benchmark::DoNotOptimize(a = a.inverse() + Field::one());
}

// The unit: one addition to a bucket in a batch of 1024, its share of the inversion included.
template <class Group>
void batch_add_bench(benchmark::State& state) {
  const std::size_t buckets = 16384;
  const std::size_t batch = static_cast<std::size_t>(state.range(0));
  const auto points = make_points<Group>(32768);
  std::vector<Affine<Group>> targets(points.begin(), points.begin() + buckets);
  msm_detail::BatchAdder<Group> adder(batch);
  std::mt19937_64 random(1);
  std::size_t next = 0;
  for (auto _ : state) {
    const std::size_t offset = random() % buckets;
    for (std::size_t i = 0; i < batch; ++i) {
      // An odd step visits every bucket once before any twice, far apart.
      const std::uint32_t target = static_cast<std::uint32_t>((offset + i * 4099) % buckets);
      adder.push(target, &points[16384 + next++ % 16384], i % 2 == 0);
    }
    adder.run(targets.data());
    adder.clear();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch));
}

void read_digit_bench(benchmark::State& state) {
  const auto scalars = make_scalars<Bn254::Fr>(4096, kDense);
  const auto windows = msm_detail::cut_windows(254, 18);
  const msm_detail::Recoder recoder(windows);
  std::int64_t sum = 0;
  for (auto _ : state) {
    for (const auto& scalar : scalars) sum += recoder.digit(scalar, windows[9]);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * 4096);
}

template <class Group>
void plain_add_bench(benchmark::State& state) {
  const auto points = make_points<Group>(4096);
  std::vector<Xyzz<Group>> sums(64, Xyzz<Group>::from(points[0]));
  std::size_t next = 0;
  for (auto _ : state) {
    Xyzz<Group>& sum = sums[next % 64];
    sum = add_mixed(sum, points[next++ % 4096]);
  }
}

template <class Group>
void plain_bucket_bench(benchmark::State& state) {
  const auto points = make_points<Group>(4096);
  for (auto _ : state) benchmark::DoNotOptimize(msm_detail::weighted_sum<Group>(points));
  state.SetItemsProcessed(state.iterations() * 4096);
}

template <class Group>
void bucket_sum_bench(benchmark::State& state) {
  const auto points = make_points<Group>(static_cast<std::size_t>(state.range(0)));
  msm_detail::BatchAdder<Group> adder(1024);
  msm_detail::BucketSum<Group> sum;
  for (auto _ : state) benchmark::DoNotOptimize(sum(points, adder));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class Group>
void register_group(const std::string& name) {
  const auto label = [&](const std::string& what) { return what + "/" + name; };
  const auto add = [&](const std::string& what, auto function) {
    return benchmark::RegisterBenchmark(label(what).c_str(), function)
        ->Unit(benchmark::kNanosecond);
  };
  add("pieces/multiply", multiply_bench<typename Group::Field>);
  add("pieces/inverse", inverse_bench<typename Group::Field>);
  add("pieces/batch_add", batch_add_bench<Group>)->Arg(64)->Arg(512);
  add("pieces/plain_add", plain_add_bench<Group>);
  add("pieces/plain_bucket", plain_bucket_bench<Group>);
  add("pieces/bucket_sum", bucket_sum_bench<Group>)->Arg(256)->Arg(1024)->Arg(16384);
  for (const Scalars kind : {kDense, kBits, kCircuit}) {
    const char* const kinds[] = {"msm_dense", "msm_bits", "msm_circuit"};
    benchmark::RegisterBenchmark(label(kinds[kind]).c_str(), msm_bench<Group>)
        ->ArgsProduct({{10, 13, 15, 17}, {1, 2}, {kind}})
        ->ArgNames({"log", "threads", "kind"})
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
}

template <class Curve>
void register_transforms(const std::string& name) {
  using Fr = typename Curve::Fr;
  const auto add = [&](const std::string& what, auto function) {
    benchmark::RegisterBenchmark(("ntt_" + what + "/" + name).c_str(), function)
        ->ArgsProduct({{10, 12, 13, 15, 17, 20}, {1, 2}})
        ->ArgNames({"log", "threads"})
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  };
  add("inverse", ntt_bench<Fr, 0>);
  add("forward", ntt_bench<Fr, 1>);
  add("to_coset", ntt_bench<Fr, 2>);
}

}  // namespace
}  // namespace cuzk

int main(int argc, char** argv) {
  using namespace cuzk;
  register_transforms<Bn254>("bn254");
  register_transforms<Bls12_381>("bls12_381");
  benchmark::RegisterBenchmark("pieces/read_digit", read_digit_bench);
  register_group<G1Of<Bn254>>("bn254_g1");
  register_group<G2Of<Bn254>>("bn254_g2");
  register_group<G1Of<Bls12_381>>("bls12_381_g1");
  register_group<G2Of<Bls12_381>>("bls12_381_g2");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
