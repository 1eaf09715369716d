// Conversion of keys: what is in the prepared key, what is refused, and what is left in the cache.
#include "synth_worker/keys/convert_zkey.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/curve/points.hpp"
#include "common/field/sqrt.hpp"
#include "common/formats/zkey.hpp"
#include "common/groth16/encoding.hpp"
#include "common/groth16/prepared_key.hpp"
#include "common/hash.hpp"
#include "tests/support/groth16_files.hpp"

namespace cuzk {
namespace {

using test::bytes_of;
using test::CircuitFiles;
using test::TemporaryFolder;
namespace fs = std::filesystem;

constexpr unsigned kThreads = 2;

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// Checks one section of points against the source: those of `variables` are the finite ones, and they
// are bitwise the source's. `first` is the variable of point 0 of the source.
void expect_points(std::span<const std::byte> prepared, std::span<const std::uint32_t> variables,
                   std::span<const std::byte> source, std::size_t point_bytes, std::uint32_t first) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < source.size() / point_bytes; ++i) {
    const auto point = source.subspan(i * point_bytes, point_bytes);
    if (all_zero(point)) continue;
    ASSERT_LT(next, variables.size());
    EXPECT_EQ(variables[next], i + first);
    EXPECT_EQ(std::memcmp(prepared.data() + next * point_bytes, point.data(), point_bytes), 0);
    ++next;
  }
  EXPECT_EQ(next, variables.size());
}

class Conversion : public testing::TestWithParam<CircuitFiles> {};
INSTANTIATE_TEST_SUITE_P(AllCircuits, Conversion, testing::ValuesIn(test::all_circuit_files()),
                         [](const auto& tested) { return tested.param.label(); });

TEST_P(Conversion, keeps_every_finite_point_and_every_coefficient) {
  TemporaryFolder cache;
  const std::string source = GetParam().zkey();
  const auto info = prepare_key(bytes_of(source), "k.zkey", cache.path(), kThreads);
  ASSERT_TRUE(info) << info.error().message();
  EXPECT_TRUE(info->converted);
  EXPECT_EQ(info->digest, sha256(bytes_of(source)));
  EXPECT_EQ(info->curve, GetParam().curve_id());
  const auto key = PreparedKey::open(info->path, KeyCheck::kFull);
  ASSERT_TRUE(key) << key.error().message();
  const auto zkey = Zkey::parse(bytes_of(source), "k.zkey");
  ASSERT_TRUE(zkey);
  const std::size_t g1 = g1_bytes(info->curve);
  const std::size_t g2 = g2_bytes(info->curve);
  const auto u32 = [&](KeySection id) { return key->array<std::uint32_t>(id); };
  expect_points(key->section(KeySection::kA), u32(KeySection::kAVariables), zkey->a(), g1, 0);
  expect_points(key->section(KeySection::kB1), u32(KeySection::kBVariables), zkey->b1(), g1, 0);
  expect_points(key->section(KeySection::kB2), u32(KeySection::kBVariables), zkey->b2(), g2, 0);
  expect_points(key->section(KeySection::kL), u32(KeySection::kLVariables), zkey->c(), g1,
                zkey->header().n_public + 1);
  const auto same = [](std::span<const std::byte> a, std::span<const std::byte> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
  };
  EXPECT_TRUE(same(key->section(KeySection::kH), zkey->h()));
  EXPECT_TRUE(same(key->section(KeySection::kIc), zkey->ic()));
  const auto fixed = key->section(KeySection::kFixedG1);
  EXPECT_TRUE(same(fixed.first(g1), zkey->header().alpha1));
  EXPECT_TRUE(same(fixed.subspan(g1, g1), zkey->header().beta1));
  EXPECT_TRUE(same(fixed.subspan(2 * g1), zkey->header().delta1));
  EXPECT_EQ(key->shape().n_terms, zkey->coefficients().size());
  EXPECT_EQ(key->header().test_only != 0, zkey->test_only());
}

TEST_P(Conversion, gives_the_same_file_for_any_number_of_threads) {
  TemporaryFolder one, three;
  const std::string source = GetParam().zkey();
  const auto a = prepare_key(bytes_of(source), "k.zkey", one.path(), 1);
  const auto b = prepare_key(bytes_of(source), "k.zkey", three.path(), 3);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(test::read_whole(a->path), test::read_whole(b->path));
}

class KeyCacheFolder : public testing::Test {
 protected:
  TemporaryFolder folder;
  fs::path cache = folder.path() / "keys";
  std::string source = CircuitFiles{"bn128", "mult2"}.zkey();
  Digest digest = sha256(bytes_of(source));
  fs::path path = prepared_key_path(cache, digest);

  UniqueFd source_file(const std::string& bytes) {
    const fs::path name = folder.path() / "source.zkey";
    std::ofstream(name, std::ios::binary) << bytes;
    return UniqueFd(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  }
  Result<KeyInfo> prepare(const KeyProgress& progress = {}) {
    const UniqueFd file = source_file(source);
    return prepare_key(file, "source.zkey", cache, kThreads, progress);
  }
  std::vector<std::string> content() const {
    std::vector<std::string> names;
    if (!fs::exists(cache)) return names;
    for (const auto& entry : fs::directory_iterator(cache)) names.push_back(entry.path().filename().string());
    return names;
  }
};

TEST_F(KeyCacheFolder, is_made_and_holds_the_key_under_its_digest) {
  const auto info = prepare();
  ASSERT_TRUE(info) << info.error().message();
  EXPECT_EQ(info->path, path.string());
  EXPECT_EQ(content(), std::vector<std::string>{to_hex(digest) + ".ckey"});
  EXPECT_EQ(info->file_bytes, fs::file_size(path));
}

TEST_F(KeyCacheFolder, gives_a_sound_key_again_without_converting) {
  ASSERT_TRUE(prepare());
  const auto again = prepare();
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->converted);
  const auto checked = check_prepared_key(cache, digest);
  ASSERT_TRUE(checked);
  EXPECT_FALSE(checked->converted);
  EXPECT_EQ(checked->n_variables, 4u);
}

TEST_F(KeyCacheFolder, has_truncated_flipped_foreign_and_old_keys_made_again) {
  ASSERT_TRUE(prepare());
  const std::string good = test::read_whole(path);
  std::string flipped = good;
  flipped[good.size() / 2] ^= 4;
  std::string old = good;
  PreparedKeyHeader header;
  std::memcpy(&header, old.data(), sizeof header);
  header.version = 0;
  const auto header_bytes = std::as_bytes(std::span(&header, 1));
  header.checksum = xxh3_64(header_bytes.first(offsetof(PreparedKeyHeader, checksum)));
  std::memcpy(old.data(), &header, sizeof header);
  const std::string other = CircuitFiles{"bn128", "edge_add2"}.zkey();
  const auto foreign = prepare_key(bytes_of(other), "other", folder.path() / "other", 1);
  ASSERT_TRUE(foreign);
  for (const std::string& damaged : {good.substr(0, 5000), std::string(), flipped, old,
                                     test::read_whole(foreign->path)}) {
    std::ofstream(path, std::ios::binary) << damaged;
    const auto checked = check_prepared_key(cache, digest);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().error_class, ErrorClass::kRetryElsewhere);
    const auto again = prepare();
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_TRUE(again->converted);
    EXPECT_EQ(test::read_whole(path), good);
  }
}

TEST_F(KeyCacheFolder, without_the_key_says_bad_request) {
  const auto checked = check_prepared_key(cache, digest);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().error_class, ErrorClass::kBadRequest);
}

TEST_F(KeyCacheFolder, stays_empty_when_a_conversion_is_stopped_at_any_point) {
  int calls = 0;
  ASSERT_TRUE(prepare([&](std::string_view, std::uint32_t permille) {
    ++calls;
    EXPECT_LE(permille, 1000u);
    return true;
  }));
  ASSERT_GE(calls, 8);
  fs::remove_all(cache);
  for (int stop = 1; stop <= calls; ++stop) {
    int call = 0;
    const auto info = prepare([&](std::string_view, std::uint32_t) { return ++call != stop; });
    ASSERT_FALSE(info) << stop;
    EXPECT_EQ(info.error().error_class, ErrorClass::kOperator);
    EXPECT_TRUE(content().empty()) << "stopped at call " << stop;
  }
}

TEST_F(KeyCacheFolder, stays_empty_when_the_converter_is_killed) {
  const pid_t child = ::fork();
  if (child == 0) {
    (void)prepare([](std::string_view step, std::uint32_t) {
      if (step == "writing") ::raise(SIGKILL);
      return true;
    });
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  // A file system without unnamed files keeps a temporary until the next conversion.
  const auto info = prepare();
  ASSERT_TRUE(info);
  EXPECT_EQ(content().size(), 1u);
}

TEST_F(KeyCacheFolder, serves_many_converters_of_one_key_at_a_time) {
  std::vector<std::thread> threads;
  std::vector<int> good(8, 0);
  for (std::size_t i = 0; i < good.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) {
        const auto info = prepare_key(bytes_of(source), "k.zkey", cache, 1);
        if (info && PreparedKey::open(info->path, KeyCheck::kFull)) ++good[i];
        std::error_code ignored;
        if (i == 0) fs::remove(path, ignored);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // A key that is removed between its making and its opening is the remover's doing, not a torn file.
  const auto last = prepare();
  ASSERT_TRUE(last) << last.error().message();
  EXPECT_EQ(content().size(), 1u);
  EXPECT_GT(*std::min_element(good.begin(), good.end()), 0);
}

// If the client changes its file after we have hashed it, what we convert is what we copied, under its
// own digest: nothing foreign is ever filed under the digest of the first content.
TEST_F(KeyCacheFolder, files_the_bytes_that_were_copied_when_the_source_changes_meanwhile) {
  const std::string other = CircuitFiles{"bn128", "edge_add2"}.zkey();
  bool changed = false;
  const auto info = prepare([&](std::string_view step, std::uint32_t permille) {
    if (step == "reading" && permille == 1000 && !changed) {
      changed = true;
      std::ofstream(folder.path() / "source.zkey", std::ios::binary) << other;
    }
    return true;
  });
  ASSERT_TRUE(changed);
  ASSERT_TRUE(info) << info.error().message();
  EXPECT_EQ(info->digest, sha256(bytes_of(other)));
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(KeyCacheFolder, takes_a_memfd) {
  UniqueFd memfd(::memfd_create("key", MFD_CLOEXEC));
  ASSERT_EQ(::write(memfd.get(), source.data(), source.size()),
            static_cast<ssize_t>(source.size()));
  const auto info = prepare_key(memfd, "memory", cache, kThreads);
  ASSERT_TRUE(info) << info.error().message();
  EXPECT_EQ(info->digest, digest);
}

TEST_F(KeyCacheFolder, refuses_what_is_not_a_file) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd reader(ends[0]), writer(ends[1]);
  const auto info = prepare_key(reader, "pipe", cache, kThreads);
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().error_class, ErrorClass::kBadRequest);
  EXPECT_TRUE(content().empty());
}

TEST_F(KeyCacheFolder, refuses_an_empty_file) {
  source.clear();
  const auto info = prepare();
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().error_class, ErrorClass::kBadRequest);
  EXPECT_TRUE(content().empty());
}

struct BadPoint {
  const char* file;
  const char* section;
  const char* what;
};

class BadPoints : public testing::TestWithParam<std::tuple<const char*, BadPoint>> {};
INSTANTIATE_TEST_SUITE_P(
    Malformed, BadPoints,
    testing::Combine(testing::Values("bn128", "bls12381"),
                     testing::Values(BadPoint{"z27_A_not_on_curve.zkey", "section 5 (A)",
                                              "the point is not on the curve"},
                                     BadPoint{"z28b_A_x_ff.zkey", "section 5 (A)",
                                              "not below the modulus"},
                                     BadPoint{"z34c_B2_c0_c1_swapped.zkey", "section 7 (B2)",
                                              "the point is not on the curve"})));

TEST_P(BadPoints, are_refused_with_section_index_and_offset_and_leave_nothing) {
  const auto& [curve, bad] = GetParam();
  TemporaryFolder cache;
  const std::string source = test::malformed(curve, bad.file);
  const auto info = prepare_key(bytes_of(source), bad.file, cache.path(), kThreads);
  ASSERT_FALSE(info);
  const std::string message = info.error().message();
  EXPECT_EQ(info.error().error_class, ErrorClass::kBadRequest);
  for (const char* part : {bad.file, bad.section, "point ", "offset 0x", bad.what}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  }
  EXPECT_TRUE(cache.content().empty());
}

// Points that are on their curve and not in its subgroup, so that only the subgroup check sees them.
// BN254's G1 has none.
template <class Group>
std::string point_outside_the_subgroup() {
  using Field = typename Group::Field;
  for (Field x = Field::one();; x = x + Field::one()) {
    const auto y = sqrt(x.square() * x + Group::b());
    if (!y) continue;
    const Affine<Group> point = {x, *y};
    // The order r is tried the slow way, not by the endomorphism that is being tested.
    if (mul(point, Group::Scalar::Params::kModulus).is_infinity()) continue;
    return {reinterpret_cast<const char*>(&point), sizeof point};
  }
}

using Points = std::span<const std::byte>;

// Puts `bad` in the place of the last finite one of `points`, so that everything before it is accepted.
void expect_refused(const std::string& source, Points points, const std::string& bad) {
  std::size_t index = points.size() / bad.size() - 1;
  while (all_zero(points.subspan(index * bad.size(), bad.size()))) --index;
  std::string changed = source;
  const auto at = static_cast<std::size_t>(points.data() - bytes_of(source).data());
  changed.replace(at + index * bad.size(), bad.size(), bad);
  TemporaryFolder cache;
  const auto info = prepare_key(bytes_of(changed), "k.zkey", cache.path(), kThreads);
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().what, "the point is not in the subgroup of prime order");
  const std::string offset = fmt::format("offset {:#x}", at + index * bad.size());
  EXPECT_NE(info.error().where.find(offset), std::string::npos) << info.error().where;
  EXPECT_TRUE(cache.content().empty());
}

void expect_refused_everywhere(const CircuitFiles& files, const std::string& bad,
                               std::vector<Points> (*sections)(const Zkey&)) {
  const std::string source = files.zkey();
  const auto zkey = Zkey::parse(bytes_of(source), "k.zkey");
  ASSERT_TRUE(zkey);
  for (const Points points : sections(*zkey)) expect_refused(source, points, bad);
}

std::vector<Points> sections_of_g1(const Zkey& zkey) {
  const ZkeyHeader& header = zkey.header();
  return {header.alpha1, header.beta1, header.delta1, zkey.ic(), zkey.a(), zkey.b1(), zkey.c(),
          zkey.h()};
}
std::vector<Points> sections_of_g2(const Zkey& zkey) {
  const ZkeyHeader& header = zkey.header();
  return {header.beta2, header.gamma2, header.delta2, zkey.b2()};
}

TEST(PointsOutsideTheSubgroup, are_refused_in_every_section) {
  for (const char* circuit : {"mult2", "chain_1000"}) {
    expect_refused_everywhere({"bls12381", circuit}, point_outside_the_subgroup<G1Of<Bls12_381>>(),
                              sections_of_g1);
    expect_refused_everywhere({"bls12381", circuit}, point_outside_the_subgroup<G2Of<Bls12_381>>(),
                              sections_of_g2);
    expect_refused_everywhere({"bn128", circuit}, point_outside_the_subgroup<G2Of<Bn254>>(),
                              sections_of_g2);
  }
}

// (0, 2) on y^2 = x^3 + 4 has order 3: the smallest subgroup there is.
TEST(PointsOutsideTheSubgroup, of_order_three_are_refused) {
  const Affine<G1Of<Bls12_381>> point = {Bls12_381::Fq::zero(), Bls12_381::Fq::from_u64(2)};
  const std::string bytes(reinterpret_cast<const char*>(&point), sizeof point);
  for (int round = 0; round < 10; ++round) {
    expect_refused_everywhere({"bls12381", "mult2"}, bytes, sections_of_g1);
  }
}

TEST(FixedPoints, at_infinity_are_refused) {
  const std::string source = CircuitFiles{"bn128", "mult2"}.zkey();
  const auto zkey = Zkey::parse(bytes_of(source), "k.zkey");
  ASSERT_TRUE(zkey);
  const ZkeyHeader& header = zkey->header();
  for (const auto& point : {header.alpha1, header.beta1, header.delta1, header.beta2,
                            header.gamma2, header.delta2}) {
    std::string changed = source;
    changed.replace(static_cast<std::size_t>(point.data() - bytes_of(source).data()), point.size(),
                    point.size(), '\0');
    TemporaryFolder cache;
    const auto info = prepare_key(bytes_of(changed), "k.zkey", cache.path(), 1);
    ASSERT_FALSE(info);
    EXPECT_EQ(info.error().what, "the point is infinity");
    EXPECT_TRUE(cache.content().empty());
  }
}

// The circuit mult2 with more public signals: all points but the header's are infinity.
std::string zkey_with_public_signals(std::uint32_t n_public) {
  const std::string mult2 = CircuitFiles{"bn128", "mult2"}.zkey();
  const auto zkey = Zkey::parse(bytes_of(mult2), "mult2");
  EXPECT_TRUE(zkey);
  const std::uint32_t n_variables = n_public + 1;
  const std::uint32_t domain_size = 1u << 15;
  const auto append = [](std::string& bytes, auto value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  // Section 2 ends with the three counts and then 3 G1 and 3 G2 points.
  const auto points = static_cast<std::size_t>(zkey->header().alpha1.data() - bytes_of(mult2).data());
  const std::size_t header_bytes = 660;
  std::string header = mult2.substr(points - 84, 72);
  append(header, n_variables);
  append(header, n_public);
  append(header, domain_size);
  header += mult2.substr(points, header_bytes - 84);
  std::string file = "zkey";
  append(file, std::uint32_t{1});
  append(file, std::uint32_t{9});
  const auto section = [&](std::uint32_t id, const std::string& content) {
    append(file, id);
    append(file, std::uint64_t{content.size()});
    file += content;
  };
  section(1, std::string("\1\0\0\0", 4));
  section(2, header);
  section(3, std::string((n_public + 1) * 64, '\0'));
  section(4, std::string(4, '\0'));
  section(5, std::string(n_variables * 64, '\0'));
  section(6, std::string(n_variables * 64, '\0'));
  section(7, std::string(n_variables * 128, '\0'));
  section(8, "");
  section(9, std::string(domain_size * 64, '\0'));
  return file;
}

TEST(PublicSignals, beyond_the_limit_are_refused_and_up_to_it_accepted) {
  TemporaryFolder cache;
  const std::string most = zkey_with_public_signals(kMaxPublicSignals);
  const auto accepted = prepare_key(bytes_of(most), "most.zkey", cache.path(), kThreads);
  ASSERT_TRUE(accepted) << accepted.error().message();
  EXPECT_EQ(accepted->n_public, kMaxPublicSignals);
  const std::string more = zkey_with_public_signals(kMaxPublicSignals + 1);
  const auto refused = prepare_key(bytes_of(more), "more.zkey", cache.path(), kThreads);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::kBadRequest);
  EXPECT_NE(refused.error().message().find("30001 public signals"), std::string::npos)
      << refused.error().message();
  EXPECT_EQ(cache.content().size(), 1u);
}

}  // namespace
}  // namespace cuzk
