// Bytes to structs and back, for peers that are not trusted.
//
// The bytes are cereal's portable binary format. cereal's own reader resizes a container to whatever
// count the bytes name; `BoundedInputArchive` refuses a count that the remaining bytes cannot hold, so
// a hostile peer can make neither a large allocation nor a read past the end. All structs of the socket
// protocol and of worker messages go through `encode` and `decode`.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <cereal/archives/portable_binary.hpp>
#include <cereal/cereal.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include "common/result.hpp"
#include "common/types.hpp"

namespace cuzk {
class BoundedInputArchive;
}

// cereal pairs a reader with its writer for types that are stored as another one, such as enums.
namespace cereal::traits::detail {
template <>
struct get_output_from_input<cuzk::BoundedInputArchive> {
  using type = PortableBinaryOutputArchive;
};
}  // namespace cereal::traits::detail

namespace cuzk {

// Reads cereal's portable binary format from a span. Throws cereal::Exception on any damage; only
// `decode` below should see it.
class BoundedInputArchive
    : public cereal::InputArchive<BoundedInputArchive, cereal::AllowEmptyClassElision> {
 public:
  explicit BoundedInputArchive(std::span<const std::byte> bytes)
      : InputArchive<BoundedInputArchive, cereal::AllowEmptyClassElision>(this), rest_(bytes) {
    std::uint8_t little_endian = 0;
    read(&little_endian, 1);
    // All supported machines are little-endian, and so are the bytes between them.
    if (little_endian != 1) throw cereal::Exception("message is not little-endian");
  }

  void read(void* target, std::size_t size) {
    if (size > rest_.size()) throw cereal::Exception("message is shorter than its content");
    if (size != 0) std::memcpy(target, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }
  std::size_t remaining() const { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
};

template <class T>
  requires std::is_arithmetic_v<T>
void CEREAL_LOAD_FUNCTION_NAME(BoundedInputArchive& archive, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    std::uint8_t byte = 0;
    archive.read(&byte, 1);
    if (byte > 1) throw cereal::Exception("a truth value is neither 0 nor 1");
    value = byte == 1;
  } else {
    archive.read(&value, sizeof value);
  }
}

template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(BoundedInputArchive& archive, cereal::NameValuePair<T>& pair) {
  archive(pair.value);
}

template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(BoundedInputArchive& archive, cereal::SizeTag<T>& tag) {
  archive(tag.size);
  // Every element takes at least one byte, so a larger count is a lie.
  if (tag.size > archive.remaining()) throw cereal::Exception("a count exceeds the message");
}

template <class T>
void CEREAL_LOAD_FUNCTION_NAME(BoundedInputArchive& archive, cereal::BinaryData<T>& data) {
  archive.read(data.data, static_cast<std::size_t>(data.size));
}

template <class Archive, class Tag, class Integer>
void serialize(Archive& archive, StrongId<Tag, Integer>& id) {
  archive(id.value);
}

template <class Archive>
void serialize(Archive& archive, Error& error) {
  archive(error.error_class, error.what, error.where, error.hint);
}

template <class Message>
std::string encode(const Message& message) {
  std::ostringstream stream(std::ios::binary);
  {
    cereal::PortableBinaryOutputArchive archive(stream);
    archive(message);
  }
  return std::move(stream).str();
}

// Fails with kBadRequest when the bytes are not exactly one `Message`.
template <class Message>
Result<Message> decode(std::span<const std::byte> bytes) {
  try {
    BoundedInputArchive archive(bytes);
    Message message;
    archive(message);
    if (archive.remaining() != 0) return bad_request("bytes are left after the message");
    return message;
  } catch (const std::exception& exception) {
    return bad_request(fmt::format("malformed message: {}", exception.what()));
  }
}

template <class Message>
Result<Message> decode(std::string_view bytes) {
  return decode<Message>(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

}  // namespace cuzk
