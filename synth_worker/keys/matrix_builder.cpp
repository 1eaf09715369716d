#include "synth_worker/keys/matrix_builder.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <unordered_map>

namespace cuzk {
namespace {

struct Entry {
  std::uint32_t matrix;
  std::uint32_t constraint;
  std::uint32_t signal;
  MatrixBuilder::Value value;
};

// Entries lie at any alignment and have no padding.
Entry read_entry(std::span<const std::byte> entries, std::size_t index) {
  const std::byte* at = entries.data() + index * MatrixBuilder::kEntryBytes;
  Entry entry;
  std::memcpy(&entry.matrix, at, 4);
  std::memcpy(&entry.constraint, at + 4, 4);
  std::memcpy(&entry.signal, at + 8, 4);
  std::memcpy(&entry.value, at + 12, 32);
  return entry;
}

// NH, a universal hash: for keys that the maker of a file cannot know, two values of his share a hash
// with probability 2^-64, so no file makes the table below degenerate into lists.
class ValueHash {
 public:
  ValueHash() {
    std::random_device random;
    for (std::uint64_t& key : keys_) key = std::uint64_t{random()} << 32 | random();
  }
  std::size_t operator()(const MatrixBuilder::Value& value) const {
    const Wide sum = product(value[0] + keys_[0], value[1] + keys_[1]) +
                     product(value[2] + keys_[2], value[3] + keys_[3]);
    return static_cast<std::size_t>(sum ^ (sum >> 64));
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static Wide product(std::uint64_t a, std::uint64_t b) { return Wide{a} * b; }

  std::array<std::uint64_t, 4> keys_{};
};

}  // namespace

MatrixBuilder::MatrixBuilder(std::span<const std::byte> entries)
    : entries_(entries), entry_coefficient_(entries.size() / kEntryBytes) {
  const std::size_t count = entry_coefficient_.size();
  std::unordered_map<Value, std::uint32_t, ValueHash> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const Entry entry = read_entry(entries, i);
    n_rows_ = std::max<std::uint64_t>(n_rows_, std::uint64_t{entry.constraint} + 1);
    ++n_terms_[entry.matrix];
    const auto next = static_cast<std::uint32_t>(coefficients_.size());
    const auto [position, is_new] = numbers.try_emplace(entry.value, next);
    if (is_new) coefficients_.push_back(entry.value);
    entry_coefficient_[i] = position->second;
  }
}

void MatrixBuilder::fill(int matrix, std::span<std::uint32_t> row_start,
                         std::span<std::uint32_t> variables,
                         std::span<std::uint32_t> coefficients) const {
  const std::size_t count = entry_coefficient_.size();
  std::fill(row_start.begin(), row_start.end(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    const Entry entry = read_entry(entries_, i);
    if (entry.matrix == static_cast<std::uint32_t>(matrix)) ++row_start[entry.constraint + 1];
  }
  for (std::size_t row = 1; row < row_start.size(); ++row) row_start[row] += row_start[row - 1];
  // While a row is filled its start serves as the cursor; afterwards each holds the next one's start.
  for (std::size_t i = 0; i < count; ++i) {
    const Entry entry = read_entry(entries_, i);
    if (entry.matrix != static_cast<std::uint32_t>(matrix)) continue;
    const std::uint32_t position = row_start[entry.constraint]++;
    variables[position] = entry.signal;
    coefficients[position] = entry_coefficient_[i];
  }
  for (std::size_t row = row_start.size() - 1; row > 0; --row) row_start[row] = row_start[row - 1];
  row_start[0] = 0;
}

}  // namespace cuzk
