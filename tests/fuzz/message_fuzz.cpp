// The bodies of all socket and worker messages: the first byte picks the message, the rest is its
// body.
#include <array>
#include <string>

#include "common/protocol/messages.hpp"
#include "common/worker/messages.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace cuzk;

namespace {

template <class Message>
void check(std::string_view body) {
  const auto message = decode<Message>(body);
  if (!message) {
    fuzz::require(message.error().error_class == ErrorClass::kBadRequest,
                  "a malformed message is a bad request");
    return;
  }
  const std::string bytes = encode(*message);
  const auto again = decode<Message>(bytes);
  fuzz::require(again.ok() && encode(*again) == bytes, "a message that was written reads the same");
}

using Check = void (*)(std::string_view);
constexpr std::array<Check, 32> kChecks = {
    check<SubmitRequest>,     check<SubmitReply>,       check<AwaitRequest>,
    check<JobReport>,         check<CancelRequest>,     check<CancelReply>,
    check<JobsRequest>,       check<JobsReply>,         check<CircuitAddRequest>,
    check<CircuitInfo>,       check<CircuitListReply>,  check<CircuitRemoveRequest>,
    check<StatusReply>,       check<ProgressEvent>,     check<VersionReply>,
    check<PrepareKeyCommand>, check<KeyInfo>,           check<AddCircuitCommand>,
    check<CircuitArtefacts>,  check<SpoolInputCommand>, check<SpoolInfo>,
    check<SynthesiseCommand>, check<SynthesiseResult>,  check<ProveCommand>,
    check<ProveResult>,       check<VerifyCommand>,     check<VerifyResult>,
    check<ExplainCommand>,    check<ExplainResult>,     check<WipeSlotCommand>,
    check<DropKeyCommand>,    check<TaskProgress>};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  kChecks[data[0] % kChecks.size()](fuzz::text_of(data + 1, size - 1));
  return 0;
}
