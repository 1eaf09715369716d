// The matrices of a zkey as rows: whatever the order of the entries, every term is where it belongs.
#include "synth_worker/keys/matrix_builder.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace cuzk {
namespace {

using Value = MatrixBuilder::Value;

struct Entry {
  std::uint32_t matrix, constraint, signal;
  Value value;
};

std::vector<std::byte> encode(const std::vector<Entry>& entries) {
  std::vector<std::byte> bytes(entries.size() * MatrixBuilder::kEntryBytes);
  std::byte* at = bytes.data();
  for (const Entry& entry : entries) {
    std::memcpy(at, &entry.matrix, 4);
    std::memcpy(at + 4, &entry.constraint, 4);
    std::memcpy(at + 8, &entry.signal, 4);
    std::memcpy(at + 12, &entry.value, 32);
    at += MatrixBuilder::kEntryBytes;
  }
  return bytes;
}

using Term = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, Value>;

// All terms of both matrices, sorted.
std::vector<Term> terms_of(const MatrixBuilder& builder) {
  std::vector<Term> terms;
  for (std::uint32_t matrix : {0u, 1u}) {
    const auto n = builder.n_terms(static_cast<int>(matrix));
    std::vector<std::uint32_t> row_start(builder.n_rows() + 1, 77), variables(n, 77), numbers(n, 77);
    builder.fill(static_cast<int>(matrix), row_start, variables, numbers);
    EXPECT_EQ(row_start.front(), 0u);
    EXPECT_EQ(row_start.back(), n);
    for (std::uint32_t row = 0; row < builder.n_rows(); ++row) {
      for (std::uint32_t t = row_start[row]; t < row_start[row + 1]; ++t) {
        terms.emplace_back(matrix, row, variables[t], builder.coefficients()[numbers[t]]);
      }
    }
  }
  std::sort(terms.begin(), terms.end());
  return terms;
}

TEST(MatrixBuilder, of_no_entries_has_no_rows) {
  const MatrixBuilder builder({});
  EXPECT_EQ(builder.n_rows(), 0u);
  EXPECT_TRUE(terms_of(builder).empty());
}

TEST(MatrixBuilder, finds_every_term_of_random_entries_in_random_order) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::vector<Entry> entries;
  std::vector<Term> expected;
  for (int i = 0; i < 5000; ++i) {
    const auto below = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const Entry entry{below(2), below(300), below(1000), Value{below(7), 0, 0, below(3)}};
    entries.push_back(entry);
    expected.emplace_back(entry.matrix, entry.constraint, entry.signal, entry.value);
  }
  std::sort(expected.begin(), expected.end());
  const auto bytes = encode(entries);
  EXPECT_EQ(terms_of(MatrixBuilder(bytes)), expected);
}

TEST(MatrixBuilder, keeps_equal_values_once) {
  const Value one{1, 0, 0, 0};
  const Value two{0, 0, 0, 1};
  const auto bytes = encode({{0, 0, 1, one}, {1, 0, 2, two}, {0, 1, 3, one}, {1, 5, 4, two}});
  const MatrixBuilder builder(bytes);
  EXPECT_EQ(builder.n_rows(), 6u);
  ASSERT_EQ(builder.coefficients().size(), 2u);
  EXPECT_EQ(builder.coefficients()[0], one);
  EXPECT_EQ(builder.coefficients()[1], two);
}

TEST(MatrixBuilder, leaves_rows_that_only_the_other_matrix_has_empty) {
  const auto bytes = encode({{0, 3, 1, Value{1, 0, 0, 0}}, {1, 1, 2, Value{1, 0, 0, 0}}});
  const MatrixBuilder builder(bytes);
  std::vector<std::uint32_t> row_start(5), variables(1), numbers(1);
  builder.fill(0, row_start, variables, numbers);
  EXPECT_EQ(row_start, (std::vector<std::uint32_t>{0, 0, 0, 0, 1}));
  builder.fill(1, row_start, variables, numbers);
  EXPECT_EQ(row_start, (std::vector<std::uint32_t>{0, 0, 1, 1, 1}));
}

}  // namespace
}  // namespace cuzk
