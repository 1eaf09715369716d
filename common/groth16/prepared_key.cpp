#include "common/groth16/prepared_key.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "common/groth16/encoding.hpp"
#include "common/hash.hpp"

namespace cuzk {
namespace {

// What the format says about one section: the size of an element and how many there must be.
struct SectionRule {
  KeySection id;
  const char* title;
  std::uint64_t element_bytes;
  std::uint64_t minimum;
  std::uint64_t maximum;
};

std::array<SectionRule, 18> section_rules(const PreparedKeyHeader& header) {
  const CurveId curve = static_cast<CurveId>(header.curve);
  const std::uint64_t g1 = g1_bytes(curve);
  const std::uint64_t g2 = g2_bytes(curve);
  const std::uint64_t n = header.n_variables;
  const std::uint64_t n_private = n - header.n_public - 1;
  const std::uint64_t rows = header.n_rows + 1;
  const std::uint64_t any = UINT32_MAX;
  return {{{KeySection::kFixedG1, "fixed G1 points", g1, 3, 3},
           {KeySection::kFixedG2, "fixed G2 points", g2, 3, 3},
           {KeySection::kIc, "IC", g1, header.n_public + 1, header.n_public + 1},
           {KeySection::kA, "A", g1, 0, n},
           {KeySection::kAVariables, "variables of A", 4, 0, n},
           {KeySection::kB1, "B1", g1, 0, n},
           {KeySection::kB2, "B2", g2, 0, n},
           {KeySection::kBVariables, "variables of B", 4, 0, n},
           {KeySection::kL, "L", g1, 0, n_private},
           {KeySection::kLVariables, "variables of L", 4, 0, n_private},
           {KeySection::kH, "H", g1, header.domain_size, header.domain_size},
           {KeySection::kCoefficients, "coefficients", kScalarBytes, 0, any},
           {KeySection::kARowStart, "row starts of A", 4, rows, rows},
           {KeySection::kATermVariables, "term variables of A", 4, 0, any},
           {KeySection::kATermCoefficients, "term coefficients of A", 4, 0, any},
           {KeySection::kBRowStart, "row starts of B", 4, rows, rows},
           {KeySection::kBTermVariables, "term variables of B", 4, 0, any},
           {KeySection::kBTermCoefficients, "term coefficients of B", 4, 0, any}}};
}

// Lists that belong together have the same length.
constexpr std::array<std::pair<KeySection, KeySection>, 6> kTwins = {{
    {KeySection::kA, KeySection::kAVariables},
    {KeySection::kB1, KeySection::kBVariables},
    {KeySection::kB2, KeySection::kBVariables},
    {KeySection::kL, KeySection::kLVariables},
    {KeySection::kATermVariables, KeySection::kATermCoefficients},
    {KeySection::kBTermVariables, KeySection::kBTermCoefficients},
}};

bool all_in_range(std::span<const std::uint32_t> indices, std::uint64_t low, std::uint64_t high) {
  return std::all_of(indices.begin(), indices.end(),
                     [=](std::uint32_t index) { return index >= low && index < high; });
}

bool are_row_starts(std::span<const std::uint32_t> starts, std::uint64_t n_terms) {
  return starts.front() == 0 && starts.back() == n_terms &&
         std::is_sorted(starts.begin(), starts.end());
}

}  // namespace

Error PreparedKey::damaged(std::string what) const {
  return {ErrorClass::kRetryElsewhere, "the prepared key is damaged: " + std::move(what),
          file_.name(), "submit its source key again to have it made anew"};
}

Result<PreparedKey> PreparedKey::open(const std::filesystem::path& path, KeyCheck check) {
  CUZK_TRY(file, MappedFile::open(path));
  PreparedKeyHeader header;
  if (file.bytes().size() >= sizeof header) {
    std::memcpy(&header, file.bytes().data(), sizeof header);
  }
  PreparedKey key(std::move(file), header);
  CUZK_CHECK(key.check_header());
  CUZK_CHECK(key.check_sections());
  if (check == KeyCheck::kFull) CUZK_CHECK(key.check_checksums());
  if (check != KeyCheck::kHeader) CUZK_CHECK(key.check_indices());
  return key;
}

Status PreparedKey::check_header() const {
  if (file_.bytes().size() < sizeof header_) return damaged("it is shorter than its header");
  if (header_.magic != kPreparedKeyMagic) return damaged("it does not begin with the magic bytes");
  if (header_.version != kPreparedKeyVersion) {
    return damaged(fmt::format("its format version is {}, this program reads version {}",
                               header_.version, kPreparedKeyVersion));
  }
  const auto bytes = std::as_bytes(std::span(&header_, 1));
  if (xxh3_64(bytes.first(offsetof(PreparedKeyHeader, checksum))) != header_.checksum) {
    return damaged("the checksum of its header is wrong");
  }
  if (header_.file_bytes != file_.bytes().size()) {
    return damaged(fmt::format("it is {} bytes long, its header says {}", file_.bytes().size(),
                               header_.file_bytes));
  }
  const bool known_curve = header_.curve == static_cast<std::uint8_t>(CurveId::kBn254) ||
                           header_.curve == static_cast<std::uint8_t>(CurveId::kBls12_381);
  if (header_.header_bytes != kPreparedKeyPage || !known_curve) {
    return damaged("its header has an unknown curve or size");
  }
  if (header_.quotient != static_cast<std::uint8_t>(QuotientConvention::kSnarkjsOddCoset)) {
    return damaged(fmt::format("its quotient convention {} is unknown", header_.quotient));
  }
  const std::uint64_t limit = std::uint64_t{1} << 32;
  if (header_.n_variables == 0 || header_.n_variables > limit ||
      header_.n_public >= header_.n_variables || !std::has_single_bit(header_.domain_size) ||
      header_.domain_size > limit || header_.n_rows > header_.domain_size ||
      header_.n_rows >= limit || header_.n_sections > kPreparedKeyMaxSections) {
    return damaged("the sizes in its header contradict each other");
  }
  return {};
}

const PreparedKeySection* PreparedKey::find(KeySection id) const {
  for (std::size_t i = 0; i < header_.n_sections; ++i) {
    if (header_.sections[i].id == static_cast<std::uint32_t>(id)) return &header_.sections[i];
  }
  return nullptr;
}

std::span<const std::byte> PreparedKey::section(KeySection id) const {
  const PreparedKeySection* entry = find(id);
  if (entry == nullptr) return {};
  return file_.bytes().subspan(entry->offset, entry->count * entry->element_bytes);
}

Status PreparedKey::check_sections() const {
  // Every section is one that this version knows, and they fill the file: no byte is unaccounted for.
  if (header_.n_sections != section_rules(header_).size()) {
    return damaged("it has a wrong number of sections");
  }
  std::uint64_t total = kPreparedKeyPage;
  for (const SectionRule& rule : section_rules(header_)) {
    const PreparedKeySection* entry = find(rule.id);
    if (entry == nullptr) return damaged(fmt::format("section '{}' is missing", rule.title));
    // The maxima are below 2^33 and elements below 2^8 bytes: the product cannot overflow.
    if (entry->element_bytes != rule.element_bytes || entry->count < rule.minimum ||
        entry->count > rule.maximum) {
      return damaged(fmt::format("section '{}' has a wrong size", rule.title));
    }
    const std::uint64_t bytes = entry->count * entry->element_bytes;
    const std::uint64_t size = file_.bytes().size();
    if (entry->offset % kPreparedKeyPage != 0 || entry->offset < kPreparedKeyPage ||
        entry->offset > size || whole_pages(bytes) > size - entry->offset) {
      return damaged(fmt::format("section '{}' leads outside the file", rule.title));
    }
    total += whole_pages(bytes);
  }
  if (total != header_.file_bytes) return damaged("its sections do not fill it");
  for (const auto& [first, second] : kTwins) {
    if (find(first)->count != find(second)->count) {
      return damaged(fmt::format("sections {} and {} differ in length",
                                 static_cast<unsigned>(first), static_cast<unsigned>(second)));
    }
  }
  return {};
}

Status PreparedKey::check_checksums() const {
  for (std::size_t i = 0; i < header_.n_sections; ++i) {
    const PreparedKeySection& entry = header_.sections[i];
    const auto bytes = file_.bytes().subspan(
        entry.offset, whole_pages(entry.count * entry.element_bytes));
    if (xxh3_64(bytes) != entry.checksum) {
      return damaged(fmt::format("the checksum of section {} (offset {:#x}, {} bytes) is wrong",
                                 entry.id, entry.offset, bytes.size()));
    }
  }
  return {};
}

Status PreparedKey::check_indices() const {
  const auto indices = [this](KeySection id) { return array<std::uint32_t>(id); };
  const std::uint64_t n = header_.n_variables;
  const std::uint64_t n_coefficients = find(KeySection::kCoefficients)->count;
  if (!all_in_range(indices(KeySection::kAVariables), 0, n) ||
      !all_in_range(indices(KeySection::kBVariables), 0, n) ||
      !all_in_range(indices(KeySection::kLVariables), header_.n_public + 1, n)) {
    return damaged("a point belongs to a variable that does not exist");
  }
  if (!are_row_starts(indices(KeySection::kARowStart), find(KeySection::kATermVariables)->count) ||
      !are_row_starts(indices(KeySection::kBRowStart), find(KeySection::kBTermVariables)->count)) {
    return damaged("the row starts of a matrix are not in order");
  }
  if (!all_in_range(indices(KeySection::kATermVariables), 0, n) ||
      !all_in_range(indices(KeySection::kBTermVariables), 0, n) ||
      !all_in_range(indices(KeySection::kATermCoefficients), 0, n_coefficients) ||
      !all_in_range(indices(KeySection::kBTermCoefficients), 0, n_coefficients)) {
    return damaged("a term of a matrix has a variable or coefficient that does not exist");
  }
  return {};
}

KeyShape PreparedKey::shape() const {
  KeyShape shape;
  shape.curve = curve();
  shape.quotient = static_cast<QuotientConvention>(header_.quotient);
  shape.n_variables = header_.n_variables;
  shape.n_public = header_.n_public;
  shape.domain_size = header_.domain_size;
  shape.n_rows = header_.n_rows;
  shape.n_a = find(KeySection::kAVariables)->count;
  shape.n_b = find(KeySection::kBVariables)->count;
  shape.n_l = find(KeySection::kLVariables)->count;
  shape.n_terms = find(KeySection::kATermVariables)->count + find(KeySection::kBTermVariables)->count;
  return shape;
}

}  // namespace cuzk
