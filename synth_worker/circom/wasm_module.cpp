#include "synth_worker/circom/wasm_module.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "common/formats/printable.hpp"

namespace cuzk {
namespace {

enum SectionId : std::uint8_t {
  kTypes = 1,
  kImports = 2,
  kFunctions = 3,
  kMemories = 5,
  kExports = 7,
  kStart = 8,
};
constexpr std::array<const char*, 13> kSectionNames = {
    "custom", "type", "import", "function", "table", "memory", "global",
    "export", "start", "element", "code", "data", "data count"};

constexpr char kI32 = 0x7f;
constexpr std::uint32_t kMaxTypes = 512;            // circom needs about 20
constexpr std::uint32_t kMaxSignature = 62;         // parameters and results
constexpr std::uint32_t kMaxFunctions = 1'000'000;

struct Signature {
  std::string parameters, results;  // a byte a type
  bool operator==(const Signature&) const = default;
};

struct Expected {
  const char* name;
  Signature signature;
};

const std::vector<Expected>& known_imports() {
  static const std::vector<Expected> imports = {
      {"exceptionHandler", {{kI32}, {}}},
      {"printErrorMessage", {}},
      {"writeBufferMessage", {}},
      {"showSharedRWMemory", {}},
  };
  return imports;
}

const std::vector<Expected>& needed_exports() {
  static const std::vector<Expected> exports = {
      {"getFieldNumLen32", {{}, {kI32}}},
      {"getRawPrime", {}},
      {"init", {{kI32}, {}}},
      {"getInputSignalSize", {{kI32, kI32}, {kI32}}},
      {"getInputSize", {{}, {kI32}}},
      {"setInputSignal", {{kI32, kI32, kI32}, {}}},
      {"getWitnessSize", {{}, {kI32}}},
      {"getWitness", {{kI32}, {}}},
      {"readSharedRWMemory", {{kI32}, {kI32}}},
      {"writeSharedRWMemory", {{kI32, kI32}, {}}},
      {"getMessageChar", {{}, {kI32}}},
  };
  return exports;
}

bool is_identifier(std::string_view name) {
  return !name.empty() && name.size() <= 256 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Reads the module's bytes; the first failure sticks, and every read after it yields zeros.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::size_t offset) : bytes_(bytes), offset_(offset) {}

  bool failed() const { return failed_; }
  bool at_end() const { return position_ == bytes_.size(); }
  std::size_t offset() const { return offset_ + position_; }

  std::uint8_t byte() {
    if (failed_ || at_end()) return fail(), std::uint8_t{0};
    return static_cast<std::uint8_t>(bytes_[position_++]);
  }
  // LEB128, at most five bytes.
  std::uint32_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      const std::uint8_t next = byte();
      value |= std::uint64_t{next & 0x7fu} << shift;
      if ((next & 0x80) == 0) {
        if (value > UINT32_MAX) fail();
        return failed_ ? 0 : static_cast<std::uint32_t>(value);
      }
    }
    return fail(), 0;
  }
  std::span<const std::byte> take(std::size_t count) {
    if (failed_ || count > bytes_.size() - position_) return fail(), std::span<const std::byte>{};
    const auto part = bytes_.subspan(position_, count);
    position_ += count;
    return part;
  }
  std::string text() {
    const auto part = take(number());
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

 private:
  void fail() { failed_ = true; }
  std::span<const std::byte> bytes_;
  std::size_t offset_;
  std::size_t position_ = 0;
  bool failed_ = false;
};

class ModuleCheck {
 public:
  explicit ModuleCheck(std::string_view name) : name_(name) {}

  Status run(std::span<const std::byte> bytes) {
    static constexpr unsigned char kMagic[8] = {0, 'a', 's', 'm', 1, 0, 0, 0};
    if (bytes.size() > kMaxWasmBytes) return wrong("is larger than 256 MiB");
    if (bytes.size() < 8 || std::memcmp(bytes.data(), kMagic, 4) != 0) {
      return wrong("is not a WebAssembly module");
    }
    if (std::memcmp(bytes.data(), kMagic, 8) != 0) return wrong("is not WebAssembly version 1");
    Reader file(bytes.subspan(8), 8);
    while (!file.at_end()) CUZK_CHECK(section(file));
    return check_shape();
  }

 private:
  Status section(Reader& file) {
    const std::size_t start = file.offset();
    const std::uint8_t id = file.byte();
    const std::uint32_t size = file.number();
    const std::size_t body_offset = file.offset();
    const auto body = file.take(size);
    if (file.failed()) return damaged("a section is cut off", start);
    if (id >= kSectionNames.size()) return damaged(fmt::format("unknown section {}", id), start);
    if (id == 0) return {};
    if (seen_[id]) {
      return damaged(fmt::format("a second {} section", kSectionNames[id]), start);
    }
    seen_[id] = true;
    Reader reader(body, body_offset);
    CUZK_CHECK(section_body(id, reader));
    if (reader.failed()) {
      return damaged(fmt::format("the {} section is damaged", kSectionNames[id]), reader.offset());
    }
    return {};
  }

  Status section_body(std::uint8_t id, Reader& reader) {
    switch (id) {
      case kTypes: return types(reader);
      case kImports: return imports(reader);
      case kFunctions: return functions(reader);
      case kMemories: return memories(reader);
      case kExports: return exports(reader);
      case kStart: return wrong("has a start function");
      default: return {};
    }
  }

  Status types(Reader& reader) {
    const std::uint32_t count = reader.number();
    if (count > kMaxTypes) return wrong(fmt::format("has {} function types", count));
    for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
      if (reader.byte() != 0x60) return damaged("a type is not a function's", reader.offset());
      Signature signature{reader.text(), reader.text()};
      if (signature.parameters.size() + signature.results.size() > kMaxSignature) {
        return damaged("a function type has too many values", reader.offset());
      }
      types_.push_back(std::move(signature));
    }
    return {};
  }

  Status imports(Reader& reader) {
    const std::uint32_t count = reader.number();
    // An import is known and not there twice, so the loop is short whatever the count says.
    for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
      const std::string module = reader.text();
      const std::string field = reader.text();
      const std::uint8_t kind = reader.byte();
      const std::uint32_t type = reader.number();
      if (reader.failed()) break;
      const auto known = std::ranges::find(known_imports(), std::string_view(field),
                                           [](const Expected& e) { return std::string_view(e.name); });
      if (module != "runtime" || known == known_imports().end() || kind != 0) {
        return foreign(fmt::format("it imports \"{}.{}\"", printable(module), printable(field)));
      }
      if (std::ranges::find(imported_, field) != imported_.end()) {
        return foreign(fmt::format("it imports \"{}\" twice", field));
      }
      if (type >= types_.size() || types_[type] != known->signature) {
        return foreign(fmt::format("its import \"{}\" has another signature", field));
      }
      imported_.push_back(field);
      function_types_.push_back(type);
    }
    return {};
  }

  Status functions(Reader& reader) {
    const std::uint32_t count = reader.number();
    if (count > kMaxFunctions) return wrong(fmt::format("has {} functions", count));
    for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
      function_types_.push_back(reader.number());
    }
    return {};
  }

  Status memories(Reader& reader) {
    const std::uint32_t count = reader.number();
    const std::uint8_t flags = reader.byte();
    // Bit 0: there is a maximum. Shared and 64-bit memories have other bits set.
    if (!reader.failed() && (count != 1 || flags > 1)) return foreign("its memory is unusual");
    return {};
  }

  Status exports(Reader& reader) {
    const std::uint32_t count = reader.number();
    for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
      const std::string field = reader.text();
      const std::uint8_t kind = reader.byte();
      const std::uint32_t index = reader.number();
      if (reader.failed()) break;
      if (!is_identifier(field)) {
        return foreign(fmt::format("it exports \"{}\"", printable(field)));
      }
      if (kind == 0) exported_functions_.emplace_back(field, index);
    }
    return {};
  }

  Status check_shape() const {
    if (std::ranges::find(imported_, "exceptionHandler") == imported_.end()) {
      return foreign("it does not import \"runtime.exceptionHandler\"");
    }
    if (!seen_[kMemories]) return foreign("it has no memory");
    for (const Expected& needed : needed_exports()) {
      const auto found =
          std::ranges::find(exported_functions_, std::string_view(needed.name),
                            [](const auto& exported) { return std::string_view(exported.first); });
      if (found == exported_functions_.end()) {
        return foreign(fmt::format("it does not export \"{}\"", needed.name));
      }
      const std::uint32_t index = found->second;
      if (index >= function_types_.size() || function_types_[index] >= types_.size() ||
          types_[function_types_[index]] != needed.signature) {
        return foreign(fmt::format("its export \"{}\" has another signature", needed.name));
      }
    }
    return {};
  }

  Error wrong(std::string what) const { return bad_request(std::move(what), std::string(name_)); }
  Error damaged(std::string what, std::size_t offset) const {
    return bad_request(std::move(what), fmt::format("{}, offset {:#x}", name_, offset));
  }
  Error foreign(std::string reason) const {
    return bad_request("is not a witness calculator of circom 2: " + std::move(reason),
                       std::string(name_),
                       "compile the circuit with circom 2.0.4 or later, option --wasm");
  }

  std::string_view name_;
  std::array<bool, kSectionNames.size()> seen_{};
  std::vector<Signature> types_;
  std::vector<std::string> imported_;
  std::vector<std::uint32_t> function_types_;  // imports first
  std::vector<std::pair<std::string, std::uint32_t>> exported_functions_;
};

}  // namespace

Status check_circom_module(std::span<const std::byte> bytes, std::string_view name) {
  return ModuleCheck(name).run(bytes);
}

}  // namespace cuzk
