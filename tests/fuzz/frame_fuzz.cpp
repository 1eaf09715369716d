// The socket's frame decoder: a stream cut into pieces means what it means in one piece.
#include "common/protocol/frame.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.hpp"

using namespace cuzk;

namespace {

struct Outcome {
  std::vector<std::string> frames;  // as bytes again
  bool failed = false;

  bool operator==(const Outcome&) const = default;
};

// Takes what is complete; false after an error.
bool drain(FrameDecoder& decoder, Outcome& outcome) {
  while (true) {
    auto frame = decoder.next();
    if (!frame) {
      fuzz::require_refusal(frame.error());
      outcome.failed = true;
      return false;
    }
    if (!*frame) return true;
    const auto bytes = encode_frame((*frame)->type, (*frame)->sequence, (*frame)->body);
    fuzz::require(bytes.ok(), "a frame that was accepted can be written");
    outcome.frames.push_back(*bytes);
  }
}

// Feeds the stream in pieces of `piece` bytes; the decoder never holds more than a frame and a
// piece.
Outcome decode_in_pieces(std::string_view stream, std::size_t piece) {
  FrameDecoder decoder;
  Outcome outcome;
  while (!stream.empty()) {
    const std::string_view part = stream.substr(0, piece);
    stream.remove_prefix(part.size());
    decoder.feed(part);
    if (!drain(decoder, outcome)) {
      fuzz::require(decoder.held_bytes() == 0, "a broken decoder holds nothing");
      break;
    }
    fuzz::require(decoder.held_bytes() <= kFrameHeaderBytes + kMaxFrameBody,
                  "what is held is bounded");
  }
  return outcome;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view stream = fuzz::text_of(data + 1, size - 1);
  const Outcome whole = decode_in_pieces(stream, std::max<std::size_t>(stream.size(), 1));
  fuzz::require(decode_in_pieces(stream, 1 + data[0]) == whole, "pieces do not matter");
  std::string expected;
  for (const std::string& frame : whole.frames) expected += frame;
  fuzz::require(stream.starts_with(expected), "frames are the stream's bytes, in order");
  return 0;
}
