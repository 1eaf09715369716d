#include "common/formats/container.hpp"

#include "common/formats/byte_reader.hpp"
#include "common/formats/printable.hpp"

namespace cuzk {

namespace {

constexpr std::size_t kFileHeaderBytes = 12;
constexpr std::size_t kSectionHeaderBytes = 12;

constexpr const char* kDamaged = "the file is damaged or was not copied whole";

}  // namespace

Result<Container> Container::parse(std::span<const std::byte> bytes, std::string_view magic,
                                   std::uint32_t max_version, std::string name,
                                   SectionTitles titles) {
  Container file(bytes, std::move(name), titles);
  if (bytes.size() < kFileHeaderBytes) {
    return bad_request(fmt::format("{} bytes are too few for a {} file, which starts with {} bytes "
                                   "of header",
                                   bytes.size(), magic, kFileHeaderBytes),
                       file.name_, kDamaged);
  }
  const std::string_view found(reinterpret_cast<const char*>(bytes.data()), 4);
  if (found != magic) {
    return bad_request(
        fmt::format("starts with \"{}\", so it is not a {} file", printable(found), magic),
        file.at(0), fmt::format("give a .{} file", magic));
  }
  ByteReader reader(bytes.subspan(4));
  std::uint32_t n_sections = 0;
  if (!reader.read(file.version_) || !reader.read(n_sections)) return bug("container header");
  if (file.version_ == 0 || file.version_ > max_version) {
    return bad_request(fmt::format("version {} of the {} format is not known, only 1 to {} are",
                                   file.version_, magic, max_version),
                       file.at(4));
  }
  CUZK_CHECK(file.read_sections(n_sections));
  return file;
}

Status Container::read_sections(std::uint32_t n_sections) {
  ByteReader reader(bytes_);
  std::span<const std::byte> header;
  if (!reader.take(kFileHeaderBytes, header)) return bug("container header");
  if (n_sections > kMaxSections) {
    const std::uint64_t room = reader.remaining() / kSectionHeaderBytes;
    return bad_request(fmt::format("claims {} sections, where {} is the most that {}", n_sections,
                                   n_sections > room ? room : kMaxSections,
                                   n_sections > room ? "its size has room for" : "is accepted"),
                       at(8), kDamaged);
  }
  sections_.reserve(n_sections);
  for (std::uint32_t i = 0; i < n_sections; ++i) {
    const std::uint64_t start = reader.position();
    Section section{};
    std::uint64_t size = 0;
    if (!reader.read(section.id) || !reader.read(size)) {
      return bad_request(
          fmt::format("ends inside the header of section number {} of {}", i + 1, n_sections),
          at(start), kDamaged);
    }
    if (!reader.take(size, section.bytes)) {
      return bad_request(
          fmt::format("the section is {} bytes long, but only {} are left in the file", size,
                      reader.remaining()),
          fmt::format("{}, offset {:#x}", where(section.id), start), kDamaged);
    }
    sections_.push_back(section);
  }
  if (reader.remaining() != 0) {
    return bad_request(fmt::format("{} bytes are left after the last of its {} sections",
                                   reader.remaining(), n_sections),
                       at(reader.position()), kDamaged);
  }
  return {};
}

Result<std::span<const std::byte>> Container::section(std::uint32_t id) const {
  const auto found = find(id);
  if (!found) return bad_request("the section is missing", where(id), kDamaged);
  if (count(id) > 1) {
    return bad_request(fmt::format("there are {} sections with this id", count(id)), where(id),
                       "which of them counts is not defined, so none does");
  }
  return *found;
}

std::optional<std::span<const std::byte>> Container::find(std::uint32_t id) const {
  for (const Section& section : sections_) {
    if (section.id == id) return section.bytes;
  }
  return std::nullopt;
}

std::size_t Container::count(std::uint32_t id) const {
  std::size_t n = 0;
  for (const Section& section : sections_) n += section.id == id ? 1 : 0;
  return n;
}

std::string Container::where(std::uint32_t id) const {
  const char* title = id < titles_.size() ? titles_[id] : nullptr;
  if (title == nullptr) return fmt::format("{}, section {}", name_, id);
  return fmt::format("{}, section {} ({})", name_, id, title);
}

std::string Container::where(std::uint32_t id, std::span<const std::byte> piece,
                             std::string_view what) const {
  return fmt::format("{}, {}{}offset {:#x}", where(id), what, what.empty() ? "" : ", ",
                     offset_of(piece));
}

std::string Container::at(std::uint64_t offset) const {
  return fmt::format("{}, offset {:#x}", name_, offset);
}

}  // namespace cuzk
