// The prepared-key file: what is written is read, and every kind of damage is found.
#include "common/groth16/prepared_key.hpp"

#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/groth16/encoding.hpp"
#include "common/groth16/prepared_key_writer.hpp"
#include "common/hash.hpp"
#include "tests/support/groth16_files.hpp"

namespace cuzk {
namespace {

using test::TemporaryFolder;
namespace fs = std::filesystem;

// A key of 5 variables, 1 of them public, and 3 rows on a domain of 4. The points are arbitrary bytes:
// nothing here computes with them.
PreparedKeyHeader small_header() {
  PreparedKeyHeader header;
  header.curve = static_cast<std::uint8_t>(CurveId::kBn254);
  header.quotient = static_cast<std::uint8_t>(QuotientConvention::kSnarkjsOddCoset);
  header.n_variables = 5;
  header.n_public = 1;
  header.domain_size = 4;
  header.n_rows = 3;
  header.source_digest = Digest{1, 2, 3};
  return header;
}

std::vector<SectionPlan> small_plan() {
  return {{KeySection::kFixedG1, 64, 3},         {KeySection::kFixedG2, 128, 3},
          {KeySection::kIc, 64, 2},              {KeySection::kA, 64, 3},
          {KeySection::kAVariables, 4, 3},       {KeySection::kB1, 64, 2},
          {KeySection::kB2, 128, 2},             {KeySection::kBVariables, 4, 2},
          {KeySection::kL, 64, 3},               {KeySection::kLVariables, 4, 3},
          {KeySection::kH, 64, 4},               {KeySection::kCoefficients, 32, 2},
          {KeySection::kARowStart, 4, 4},        {KeySection::kATermVariables, 4, 4},
          {KeySection::kATermCoefficients, 4, 4}, {KeySection::kBRowStart, 4, 4},
          {KeySection::kBTermVariables, 4, 3},   {KeySection::kBTermCoefficients, 4, 3}};
}

void fill(PreparedKeyWriter& writer) {
  const auto set = [&writer](KeySection id, std::vector<std::uint32_t> values) {
    std::copy(values.begin(), values.end(), writer.array<std::uint32_t>(id).begin());
  };
  for (const KeySection id : {KeySection::kFixedG1, KeySection::kFixedG2, KeySection::kIc,
                              KeySection::kA, KeySection::kB1, KeySection::kB2, KeySection::kL,
                              KeySection::kH, KeySection::kCoefficients}) {
    std::uint8_t next = static_cast<std::uint8_t>(id);
    for (std::byte& byte : writer.array<std::byte>(id)) byte = std::byte{next++};
  }
  set(KeySection::kAVariables, {0, 2, 4});
  set(KeySection::kBVariables, {1, 3});
  set(KeySection::kLVariables, {2, 3, 4});
  set(KeySection::kARowStart, {0, 2, 2, 4});
  set(KeySection::kATermVariables, {0, 4, 1, 2});
  set(KeySection::kATermCoefficients, {0, 1, 1, 0});
  set(KeySection::kBRowStart, {0, 1, 2, 3});
  set(KeySection::kBTermVariables, {4, 3, 2});
  set(KeySection::kBTermCoefficients, {1, 1, 0});
}

class PreparedKeyFile : public testing::Test {
 protected:
  TemporaryFolder folder;
  fs::path path = folder.path() / "small.ckey";

  void write(const PreparedKeyHeader& header, const std::vector<SectionPlan>& plan) {
    auto writer = PreparedKeyWriter::create(path, header, plan);
    ASSERT_TRUE(writer) << writer.error().message();
    fill(*writer);
    const auto bytes = writer->commit();
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(*bytes, fs::file_size(path));
  }
  void SetUp() override { write(small_header(), small_plan()); }

  // The file with something done to it.
  template <class Change>
  void change(Change&& change) {
    std::string bytes = test::read_whole(path);
    change(bytes);
    std::ofstream(path, std::ios::binary) << bytes;
  }
  // Changes the header and makes its checksum right again: damage that only the checks of content see.
  template <class Change>
  void change_header(Change&& change_it) {
    change([&](std::string& bytes) {
      PreparedKeyHeader header;
      std::memcpy(&header, bytes.data(), sizeof header);
      change_it(header);
      const auto all = std::as_bytes(std::span(&header, 1));
      header.checksum = xxh3_64(all.first(offsetof(PreparedKeyHeader, checksum)));
      std::memcpy(bytes.data(), &header, sizeof header);
    });
  }
  void expect_damaged(KeyCheck check, const std::string& text) {
    const auto key = PreparedKey::open(path, check);
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().error_class, ErrorClass::kRetryElsewhere);
    EXPECT_NE(key.error().message().find(text), std::string::npos) << key.error().message();
    EXPECT_EQ(key.error().where, path.string());
  }
};

TEST_F(PreparedKeyFile, is_read_as_it_was_written) {
  const auto key = PreparedKey::open(path, KeyCheck::kFull);
  ASSERT_TRUE(key) << key.error().message();
  EXPECT_EQ(key->curve(), CurveId::kBn254);
  EXPECT_EQ(key->digest(), (Digest{1, 2, 3}));
  const KeyShape shape = key->shape();
  EXPECT_EQ(shape.n_variables, 5u);
  EXPECT_EQ(shape.n_public, 1u);
  EXPECT_EQ(shape.domain_size, 4u);
  EXPECT_EQ(shape.n_rows, 3u);
  EXPECT_EQ(shape.n_a, 3u);
  EXPECT_EQ(shape.n_b, 2u);
  EXPECT_EQ(shape.n_l, 3u);
  EXPECT_EQ(shape.n_terms, 7u);
  const auto variables = key->array<std::uint32_t>(KeySection::kBTermVariables);
  EXPECT_EQ(std::vector<std::uint32_t>(variables.begin(), variables.end()),
            (std::vector<std::uint32_t>{4, 3, 2}));
  EXPECT_EQ(key->section(KeySection::kA).size(), 3 * 64u);
  EXPECT_EQ(key->section(KeySection::kA)[0], static_cast<std::byte>(KeySection::kA));
}

TEST_F(PreparedKeyFile, has_every_section_on_a_page_of_its_own) {
  const auto key = PreparedKey::open(path, KeyCheck::kHeader);
  ASSERT_TRUE(key);
  for (std::size_t i = 0; i < key->header().n_sections; ++i) {
    EXPECT_EQ(key->header().sections[i].offset % kPreparedKeyPage, 0u);
  }
}

TEST_F(PreparedKeyFile, is_alone_in_its_folder_and_has_one_name) {
  EXPECT_EQ(folder.content(), std::vector<std::string>{"small.ckey"});
  EXPECT_EQ(fs::hard_link_count(path), 1u);
}

TEST_F(PreparedKeyFile, that_is_missing_is_the_callers_fault) {
  const auto key = PreparedKey::open(folder.path() / "none.ckey", KeyCheck::kHeader);
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().error_class, ErrorClass::kBadRequest);
}

TEST_F(PreparedKeyFile, is_found_truncated_at_any_length) {
  const std::string whole = test::read_whole(path);
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 3) {
    change([&](std::string& bytes) { bytes = whole.substr(0, size); });
    const auto key = PreparedKey::open(path, KeyCheck::kHeader);
    ASSERT_FALSE(key) << size;
    EXPECT_EQ(key.error().error_class, ErrorClass::kRetryElsewhere);
  }
  change([&](std::string& bytes) { bytes = whole + std::string(4096, '\0'); });
  expect_damaged(KeyCheck::kHeader, "its header says");
}

TEST_F(PreparedKeyFile, is_found_damaged_by_a_single_bit_anywhere) {
  const std::string whole = test::read_whole(path);
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t bit = random() % (8 * whole.size());
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    change([&](std::string& bytes) { bytes = damaged; });
    ASSERT_FALSE(PreparedKey::open(path, KeyCheck::kFull)) << "bit " << bit;
    if (bit / 8 < kPreparedKeyPage) {
      ASSERT_FALSE(PreparedKey::open(path, KeyCheck::kHeader)) << "bit " << bit;
    }
  }
}

TEST_F(PreparedKeyFile, of_another_version_is_found) {
  change_header([](PreparedKeyHeader& header) { ++header.version; });
  expect_damaged(KeyCheck::kHeader, "format version is 2");
}

TEST_F(PreparedKeyFile, that_is_something_else_is_found) {
  change([](std::string& bytes) { bytes = "zkey" + std::string(8192, 'x'); });
  expect_damaged(KeyCheck::kHeader, "magic");
}

TEST_F(PreparedKeyFile, with_impossible_sizes_is_found_by_the_header_check) {
  const std::string whole = test::read_whole(path);
  using Header = PreparedKeyHeader;
  const std::pair<const char*, void (*)(Header&)> changes[] = {
      {"curve", [](Header& h) { h.curve = 3; }},
      {"convention", [](Header& h) { h.quotient = 9; }},
      {"sizes", [](Header& h) { h.n_variables = 0; }},
      {"sizes", [](Header& h) { h.n_variables = UINT64_MAX; }},
      {"sizes", [](Header& h) { h.n_public = 5; }},
      {"sizes", [](Header& h) { h.domain_size = 3; }},
      {"sizes", [](Header& h) { h.domain_size = 0; }},
      {"sizes", [](Header& h) { h.n_rows = 5; }},
      {"sizes", [](Header& h) { h.n_sections = 33; }},
      {"number of sections", [](Header& h) { h.n_sections = 17; }},
      {"is missing", [](Header& h) { h.sections[3].id = 99; }},
      {"wrong size", [](Header& h) { h.sections[3].count = UINT64_MAX; }},
      {"wrong size", [](Header& h) { h.sections[3].element_bytes = 0; }},
      {"leads outside", [](Header& h) { h.sections[3].offset = UINT64_MAX - 4095; }},
      {"leads outside", [](Header& h) { h.sections[3].offset = 0; }},
      {"leads outside", [](Header& h) { h.sections[3].offset += 64; }},
      {"leads outside", [](Header& h) { h.sections[3].offset = h.file_bytes; }},
      {"differ in length", [](Header& h) { h.sections[4].count = 2; }},
      {"differ in length", [](Header& h) { h.sections[13].count = 5; }},
  };
  for (const auto& [text, apply] : changes) {
    change([&](std::string& bytes) { bytes = whole; });
    change_header(apply);
    expect_damaged(KeyCheck::kHeader, text);
  }
}

TEST_F(PreparedKeyFile, with_an_index_out_of_range_is_found_by_the_index_check) {
  const std::string whole = test::read_whole(path);
  PreparedKeyHeader header;
  std::memcpy(&header, whole.data(), sizeof header);
  const struct {
    std::size_t section;  // in the order of small_plan
    std::size_t element;
    std::uint32_t value;
  } changes[] = {{4, 2, 5},  {7, 1, 5}, {9, 0, 1},  {9, 2, 5},  {12, 0, 1}, {12, 1, 5},
                 {12, 3, 3}, {13, 0, 5}, {14, 3, 2}, {15, 2, 0}, {16, 1, UINT32_MAX}, {17, 0, 2}};
  for (const auto& [section, element, value] : changes) {
    change([&, at = header.sections[section].offset + 4 * element](std::string& bytes) {
      bytes = whole;
      std::memcpy(bytes.data() + at, &value, sizeof value);
    });
    EXPECT_TRUE(PreparedKey::open(path, KeyCheck::kHeader));
    expect_damaged(KeyCheck::kIndices, "");
  }
}

TEST_F(PreparedKeyFile, is_replaced_whole) {
  const auto old = PreparedKey::open(path, KeyCheck::kFull);
  ASSERT_TRUE(old);
  PreparedKeyHeader header = small_header();
  header.source_digest = Digest{9};
  write(header, small_plan());
  const auto key = PreparedKey::open(path, KeyCheck::kFull);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->digest(), Digest{9});
  // Who has mapped the old one keeps it.
  EXPECT_EQ(old->array<std::uint32_t>(KeySection::kAVariables)[2], 4u);
}

TEST_F(PreparedKeyFile, leaves_nothing_when_its_writer_gives_up) {
  fs::remove(path);
  {
    auto writer = PreparedKeyWriter::create(path, small_header(), small_plan());
    ASSERT_TRUE(writer);
    fill(*writer);
  }
  EXPECT_TRUE(folder.content().empty());
}

TEST_F(PreparedKeyFile, leaves_nothing_when_its_writer_is_killed) {
  fs::remove(path);
  const pid_t child = ::fork();
  if (child == 0) {
    auto writer = PreparedKeyWriter::create(path, small_header(), small_plan());
    if (writer) fill(*writer);
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  // Where the file system has no unnamed files, the next writer of the key removes what is left.
  write(small_header(), small_plan());
  EXPECT_EQ(folder.content(), std::vector<std::string>{"small.ckey"});
}

TEST_F(PreparedKeyFile, takes_leftovers_of_dead_writers_away_and_leaves_those_of_the_living) {
  const fs::path dead = folder.path() / "small.ckey.1.0.tmp";
  const fs::path living = folder.path() / "small.ckey.2.0.tmp";
  const fs::path other = folder.path() / "other.ckey.1.0.tmp";
  for (const auto& name : {dead, living, other}) std::ofstream(name) << "x";
  UniqueFd held(::open(living.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  write(small_header(), small_plan());
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(living));
  EXPECT_TRUE(fs::exists(other));
}

TEST_F(PreparedKeyFile, too_large_for_the_disk_is_refused_before_anything_is_written) {
  fs::remove(path);
  std::vector<SectionPlan> plan = small_plan();
  plan[10].count = std::uint64_t{1} << 50;
  const auto writer = PreparedKeyWriter::create(path, small_header(), plan);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().error_class, ErrorClass::kRetryHere);
  EXPECT_TRUE(folder.content().empty());
}

}  // namespace
}  // namespace cuzk
