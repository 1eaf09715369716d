#include "supervisor/stores/circuit_store.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

namespace cuzk::supervisor {

Status check_circuit_name(const std::string& name) {
  constexpr std::size_t kMaxLength = 64;
  const auto allowed = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (name.empty() || name.size() > kMaxLength || name.front() == '.' ||
      !std::ranges::all_of(name, allowed)) {
    return bad_request("not a circuit name", clean_name(name),
                       "use 1 to 64 letters, digits, '-', '_' or '.', not beginning with '.'");
  }
  return {};
}

Status CircuitStore::load() {
  CUZK_TRY(circuits, journal_.circuits());
  for (CircuitRecord& circuit : circuits) {
    const std::string name = circuit.info.name;
    circuits_.emplace(name, std::move(circuit));
  }
  return {};
}

void CircuitStore::add(Addition addition, std::int64_t order, Progress progress, Done done) {
  const std::string name = addition.name;
  if (const auto sound = check_circuit_name(name); !sound) return done(sound.error());
  if (circuits_.contains(name) || pending_.contains(name)) {
    return done(bad_request(circuits_.contains(name) ? "a circuit of this name exists"
                                                     : "a circuit of this name is being added",
                            name, "remove it first, or choose another name"));
  }
  Pending& pending = pending_[name];
  pending.addition = std::move(addition);
  pending.order = order;
  pending.progress = std::move(progress);
  pending.done = std::move(done);
  const auto tell = pending.progress;
  keys_.resolve(
      pending.addition.key, order,
      [tell](const TaskProgress& step) {
        if (tell) tell("preparing key", step);
      },
      [this, name](Result<KeyInfo> key) {
        if (!key) return answer(name, std::move(key).error());
        Pending& prepared = pending_.at(name);
        prepared.key = *std::move(key);
        prepared.folder = fmt::format("{}.{}", name, clock_.unix_ms());
        submit(name);
      });
}

void CircuitStore::submit(const std::string& name) {
  const Pending& pending = pending_.at(name);
  TaskRequest request;
  request.kind = CommandKind::kAddCircuit;
  request.order = pending.order;
  request.long_running = true;
  request.avoid = pending.attempts.avoid;
  request.build = [this, name](WorkerLife) { return build(pending_.at(name)); };
  request.progress = [this, name](const TaskProgress& step) {
    const auto& tell = pending_.at(name).progress;
    if (tell) tell("compiling circuit", step);
  };
  request.ended = [this, name](const Outcome& outcome) { ended(name, outcome); };
  dispatcher_.submit(std::move(request));
}

Result<std::optional<Command>> CircuitStore::build(const Pending& pending) const {
  Command command;
  for (const auto& [role, file] : pending.addition.files) {
    CUZK_TRY(copy, file->fd.duplicate());
    command.fds.push_back({role, std::move(copy)});
  }
  // What a worker that died left half made.
  std::error_code ignored;
  std::filesystem::remove_all(path_of(pending.folder), ignored);
  AddCircuitCommand body;
  body.name = pending.addition.name;
  body.folder = path_of(pending.folder).string();
  body.key_path = pending.key.path;
  command.body = encode(body);
  return std::optional<Command>(std::move(command));
}

void CircuitStore::ended(const std::string& name, const Outcome& outcome) {
  Pending& pending = pending_.at(name);
  if (outcome.ending != Ending::kDone) {
    const auto given_up = pending.attempts.count(outcome);
    return given_up ? answer(name, *given_up) : submit(name);
  }
  const auto artefacts = decode<CircuitArtefacts>(outcome.body);
  if (!artefacts) return answer(name, bug("a worker's answer is not a circuit", name));
  CircuitRecord record;
  record.folder = pending.folder;
  record.info.name = name;
  record.info.key_name = pending.addition.key->name;
  record.info.key = pending.key;
  record.info.artefacts = *artefacts;
  record.info.added_ms = clock_.unix_ms();
  if (const auto saved = journal_.save_circuit(record); !saved) return answer(name, saved.error());
  spdlog::info("circuit \"{}\": added{}{}{}", name, artefacts->has_wasm ? ", with wasm" : "",
               artefacts->has_program ? ", with witness program" : "",
               artefacts->has_r1cs ? ", with r1cs" : "");
  const CircuitInfo info = record.info;
  circuits_[name] = std::move(record);
  answer(name, info);
}

void CircuitStore::answer(const std::string& name, const Result<CircuitInfo>& result) {
  const Pending pending = std::move(pending_.at(name));
  pending_.erase(name);
  if (!result && !pending.folder.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(path_of(pending.folder), ignored);
  }
  pending.done(result);
}

Result<CircuitInfo> CircuitStore::remove(const std::string& name) {
  const auto found = circuits_.find(name);
  if (found == circuits_.end()) {
    return bad_request("there is no circuit of this name", clean_name(name),
                       "see cuzkctl circuit list");
  }
  CUZK_CHECK(journal_.remove_circuit(name));
  const CircuitInfo info = found->second.info;
  doomed_.insert(found->second.folder);
  circuits_.erase(found);
  spdlog::info("circuit \"{}\": removed", name);
  return info;
}

void CircuitStore::forget_folders(const std::function<bool(const std::string&)>& in_use) {
  std::erase_if(doomed_, [&](const std::string& folder) {
    if (in_use(folder)) return false;
    std::error_code error;
    std::filesystem::remove_all(path_of(folder), error);
    if (error) spdlog::warn("cannot remove {}: {}", path_of(folder).string(), error.message());
    return true;
  });
}

const CircuitRecord* CircuitStore::find(const std::string& name) const {
  const auto found = circuits_.find(name);
  return found == circuits_.end() ? nullptr : &found->second;
}

std::vector<CircuitInfo> CircuitStore::list() const {
  std::vector<CircuitInfo> infos;
  for (const auto& [name, circuit] : circuits_) infos.push_back(circuit.info);
  return infos;
}

std::set<std::string> CircuitStore::folders() const {
  std::set<std::string> folders;
  for (const auto& [name, circuit] : circuits_) folders.insert(circuit.folder);
  return folders;
}

}  // namespace cuzk::supervisor
