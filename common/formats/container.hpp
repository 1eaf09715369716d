// The container that snarkjs, circom and their kin use for binary files (zkey, wtns, r1cs, ptau).
//
//   4 bytes magic; u32 version; u32 number of sections; sections x { u32 id; u64 size; size bytes }
//
// The order of the sections differs from writer to writer, so a file is indexed before anything is
// read. Parsing promises that every section lies wholly inside the file, that the sections follow
// each other without gaps and end with the file, and that memory is bounded whatever the file
// claims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"

namespace cuzk {

// Names of the sections of one kind of file for error messages, indexed by section id; may have
// nulls.
using SectionTitles = std::span<const char* const>;

// Views the bytes that it was parsed from; they must outlive it and not change.
class Container {
 public:
  // More sections than this are refused: the kinds of files read here have at most 15.
  static constexpr std::uint32_t kMaxSections = 1024;

  // `magic` is what the file must start with, for example "zkey"; versions 1 to `max_version` are
  // accepted; `name` stands for the file in errors. All errors are kBadRequest.
  static Result<Container> parse(std::span<const std::byte> bytes, std::string_view magic,
                                 std::uint32_t max_version, std::string name,
                                 SectionTitles titles = {});

  // The only section `id`, or an error when it is missing or there are several.
  Result<std::span<const std::byte>> section(std::uint32_t id) const;
  // The first section `id`, if there is one.
  std::optional<std::span<const std::byte>> find(std::uint32_t id) const;
  // How many sections `id` there are.
  std::size_t count(std::uint32_t id) const;

  const std::string& name() const { return name_; }
  std::uint32_t version() const { return version_; }

  // The offset in the file of a piece of one of its sections.
  std::uint64_t offset_of(std::span<const std::byte> piece) const {
    return static_cast<std::uint64_t>(piece.data() - bytes_.data());
  }

  // "k.zkey, section 5 (A)"
  std::string where(std::uint32_t id) const;
  // "k.zkey, section 5 (A), point 17, offset 0x2f40" for a piece of a section; `what` may be empty.
  std::string where(std::uint32_t id, std::span<const std::byte> piece,
                    std::string_view what) const;

 private:
  struct Section {
    std::uint32_t id;
    std::span<const std::byte> bytes;
  };

  Container(std::span<const std::byte> bytes, std::string name, SectionTitles titles)
      : bytes_(bytes), name_(std::move(name)), titles_(titles) {}
  Status read_sections(std::uint32_t n_sections);
  std::string at(std::uint64_t offset) const;

  std::span<const std::byte> bytes_;
  std::string name_;
  SectionTitles titles_;
  std::uint32_t version_ = 0;
  std::vector<Section> sections_;
};

}  // namespace cuzk
