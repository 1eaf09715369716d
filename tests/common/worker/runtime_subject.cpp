// A worker whose commands exercise the runtime; see runtime_test.cpp.
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include <unistd.h>

#include "common/hash.hpp"
#include "common/worker/runtime.hpp"
#include "shm/slot.hpp"

namespace cuzk {
namespace {

// Writes the wanted number of known bytes into the slot and commits them.
Status synthesise(WorkerRuntime& runtime, const Command& command) {
  CUZK_TRY(message, command.as<SynthesiseCommand>());
  CUZK_TRY(fd, runtime.take_fd(FdRole::kSlotWritable));
  CUZK_TRY(writer, shm::SlotWriter::open(fd, command.slot_word));
  writer.begin(message.work, message.circuit, AssignmentLayout::kDense);
  const auto payload = writer.payload().first(message.slot_bytes);
  std::memset(payload.data(), 'w', payload.size());
  const std::uint64_t checksum = xxh3_64(payload);
  CUZK_CHECK(writer.commit(payload.size(), checksum));
  runtime.done(SynthesiseResult{AssignmentLayout::kDense, payload.size(), checksum, 1});
  return {};
}

Status prove(WorkerRuntime& runtime, const Command& command) {
  CUZK_TRY(message, command.as<ProveCommand>());
  CUZK_TRY(fd, runtime.take_fd(FdRole::kSlotReadOnly));
  shm::SlotExpectation expected;
  expected.work = message.work;
  expected.circuit = message.circuit;
  expected.generation = command.slot_word.generation;
  expected.payload_bytes = message.payload_bytes;
  CUZK_TRY(reader, shm::SlotReader::open(fd, expected, shm::SlotReader::Payload::kCheck));
  runtime.done(ProveResult{std::string(reader.payload().size(), 'p'), {}});
  return {};
}

void work_until_cancelled(WorkerRuntime& runtime) {
  for (std::uint32_t i = 0; !runtime.cancelled(); ++i) {
    runtime.progress("waiting", i % 1001);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  runtime.failed(WorkerRuntime::cancelled_error());
}

void serve(WorkerRuntime& runtime, const Command& command) {
  switch (command.kind) {
    case CommandKind::kVerify: return runtime.done(command.body);  // an echo
    case CommandKind::kExplain: return work_until_cancelled(runtime);
    case CommandKind::kPrepareKey: return;  // forgets to answer
    case CommandKind::kDropKey: return runtime.finish_silently();
    case CommandKind::kAddCircuit: return runtime.done(std::string(shm::kBodyCellBytes + 1, 'x'));
    case CommandKind::kSpoolInput:
      for (std::uint32_t i = 0; i < 1000; ++i) runtime.progress("step " + std::to_string(i), i);
      return runtime.done(std::string("after much progress"));
    case CommandKind::kWipeSlot: ::_exit(3);  // dies in the middle
    case CommandKind::kSynthesise:
    case CommandKind::kProve: {
      const Status served = command.kind == CommandKind::kProve ? prove(runtime, command)
                                                                : synthesise(runtime, command);
      if (!served) runtime.failed(served.error());
      return;
    }
    case CommandKind::kShutdown: break;
  }
  runtime.failed(bad_request("no such command"));
}

}  // namespace
}  // namespace cuzk

int main(int argc, char** argv) {
  auto options = cuzk::parse_arguments(argc, argv);
  if (!options) {
    std::fprintf(stderr, "%s\n", options.error().message().c_str());
    return 2;
  }
  auto runtime = cuzk::WorkerRuntime::attach(*options);
  if (!runtime) {
    std::fprintf(stderr, "%s\n", runtime.error().message().c_str());
    return 2;
  }
  (*runtime)->ready();
  while (auto command = (*runtime)->next()) cuzk::serve(**runtime, *command);
  return (*runtime)->exit_code();
}
