// What a proof takes beyond its key: measured on a circuit of 131,072 rows, as large as chain_131000.
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/groth16/prepared_key_view.hpp"
#include "common/groth16/prepared_key_writer.hpp"
#include "gpu_worker/cpu/cpu_engine.hpp"
#include "tests/support/groth16_files.hpp"

namespace cuzk {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kSize = 1u << 17;  // variables, rows and domain

// A line of /proc/self/status in bytes.
std::size_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stoul(line.substr(name.size() + 1)) * 1024;
  }
  return 0;
}

template <class Group>
Affine<Group> generator() {
  return {Group::generator_x(), Group::generator_y()};
}

// 1 G, 2 G, 3 G, ...: distinct points that cost an addition each.
template <class Group>
std::vector<Affine<Group>> multiples(const Affine<Group>& generator) {
  std::vector<Jacobian<Group>> points(kSize);
  Jacobian<Group> sum = Jacobian<Group>::infinity();
  for (auto& point : points) point = sum = add_mixed(sum, generator);
  std::vector<Affine<Group>> affine(kSize);
  batch_to_affine(std::span<const Jacobian<Group>>(points), std::span<Affine<Group>>(affine));
  return affine;
}

// A key with the sizes of a real one. Its proofs verify with nothing: only what they cost counts here.
template <class Curve>
void write_large_key(const fs::path& path) {
  const auto g1 = multiples(generator<G1Of<Curve>>());
  const auto g2 = multiples(generator<G2Of<Curve>>());
  const auto s1 = static_cast<std::uint32_t>(sizeof g1[0]);
  const auto s2 = static_cast<std::uint32_t>(sizeof g2[0]);
  PreparedKeyHeader header;
  header.curve = static_cast<std::uint8_t>(Curve::kId);
  header.quotient = static_cast<std::uint8_t>(QuotientConvention::kSnarkjsOddCoset);
  header.n_variables = kSize;
  header.n_public = 1;
  header.domain_size = kSize;
  header.n_rows = kSize;
  const std::vector<SectionPlan> plan = {
      {KeySection::kFixedG1, s1, 3},           {KeySection::kFixedG2, s2, 3},
      {KeySection::kIc, s1, 2},                {KeySection::kA, s1, kSize},
      {KeySection::kAVariables, 4, kSize},     {KeySection::kB1, s1, kSize},
      {KeySection::kB2, s2, kSize},            {KeySection::kBVariables, 4, kSize},
      {KeySection::kL, s1, kSize - 2},         {KeySection::kLVariables, 4, kSize - 2},
      {KeySection::kH, s1, kSize},             {KeySection::kCoefficients, 32, 1},
      {KeySection::kARowStart, 4, kSize + 1},  {KeySection::kATermVariables, 4, kSize},
      {KeySection::kATermCoefficients, 4, kSize}, {KeySection::kBRowStart, 4, kSize + 1},
      {KeySection::kBTermVariables, 4, kSize}, {KeySection::kBTermCoefficients, 4, kSize}};
  auto writer = PreparedKeyWriter::create(path, header, plan);
  ASSERT_TRUE(writer) << writer.error().message();
  const auto fill = [&]<class T>(KeySection id, const std::vector<T>& values) {
    const std::span<T> out = writer->array<T>(id);
    std::copy_n(values.begin(), out.size(), out.begin());
  };
  for (const KeySection id : {KeySection::kFixedG1, KeySection::kIc, KeySection::kA,
                              KeySection::kB1, KeySection::kL, KeySection::kH}) {
    fill(id, g1);
  }
  fill(KeySection::kFixedG2, g2);
  fill(KeySection::kB2, g2);
  // Row i is w[i] * w[n - 1 - i].
  for (const KeySection id : {KeySection::kAVariables, KeySection::kBVariables,
                              KeySection::kLVariables, KeySection::kARowStart,
                              KeySection::kATermVariables, KeySection::kBRowStart,
                              KeySection::kBTermVariables}) {
    std::uint32_t next = id == KeySection::kLVariables ? 2 : 0;
    for (std::uint32_t& value : writer->array<std::uint32_t>(id)) {
      value = id == KeySection::kBTermVariables ? kSize - 1 - next++ : next++;
    }
  }
  writer->array<typename Curve::Fr>(KeySection::kCoefficients)[0] = Curve::Fr::from_u64(12345);
  const auto bytes = writer->commit();
  ASSERT_TRUE(bytes) << bytes.error().message();
}

template <class Curve>
class EngineMemory : public testing::Test {};
using Curves = testing::Types<Bn254, Bls12_381>;
TYPED_TEST_SUITE(EngineMemory, Curves);

TYPED_TEST(EngineMemory, stays_below_what_the_engine_says_and_below_one_and_a_half_times_its_data) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory would be counted";
#endif
  using Fr = typename TypeParam::Fr;
  test::TemporaryFolder folder;
  const fs::path path = folder.path() / "large.ckey";
  write_large_key<TypeParam>(path);
  // All pages are touched here, so what is added below is not the key's.
  const auto key = PreparedKey::open(path, KeyCheck::kFull);
  ASSERT_TRUE(key) << key.error().message();
  std::vector<typename Fr::Integer> witness(kSize);
  Fr value = Fr::one();
  for (auto& integer : witness) {
    integer = value.to_integer();
    value = value * Fr::from_u64(0x9e3779b97f4a7c15) + Fr::from_u64(1);
  }
  witness[0] = {{1}};
  CpuEngine engine(2);
  const std::size_t before = status_bytes("VmRSS");
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak is counted from here
  StepMonitor monitor;
  auto started = engine.start(*key, {AssignmentLayout::kDense, std::as_bytes(std::span(witness))},
                              monitor);
  ASSERT_TRUE(started) << started.error().message();
  ASSERT_TRUE((*started)->finish(Blinding({{1}}, {{2}}), monitor));
  const std::size_t added = status_bytes("VmHWM") - before;
  const std::size_t witness_bytes = witness.size() * sizeof witness[0];
  const std::size_t limit = (3 * kSize * sizeof(Fr) + witness_bytes) * 3 / 2;
  const std::size_t said = engine.need(key->shape(), AssignmentLayout::kDense).host_bytes;
  std::printf("proof: %zu kB, with the witness %zu kB of %zu kB allowed; the engine said %zu kB\n",
              added / 1024, (added + witness_bytes) / 1024, limit / 1024, said / 1024);
  EXPECT_LT(added + witness_bytes, limit);
  // Thread stacks and the allocator's own pages are not the engine's to know.
  EXPECT_LT(added, said + (std::size_t{1} << 21));
  EXPECT_GT(added, 2 * kSize * sizeof(Fr)) << "the measurement does not see the arrays";
}

}  // namespace
}  // namespace cuzk
