// Circuits that clients registered under a name.
//
// Adding one prepares its key and then has a synth worker make its folder (witness program,
// compiled ahead of time, and constraint system), whole or not at all. Jobs name the folder, not
// the circuit, so a circuit may be removed and added again while jobs of the old one are still
// under way.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "supervisor/clock.hpp"
#include "supervisor/journal/journal.hpp"
#include "supervisor/scheduler/attempts.hpp"
#include "supervisor/scheduler/dispatcher.hpp"
#include "supervisor/stores/client_file.hpp"
#include "supervisor/stores/key_store.hpp"

namespace cuzk::supervisor {

class CircuitStore {
 public:
  using Done = std::function<void(Result<CircuitInfo>)>;
  // (stage, progress): "preparing key", then "compiling circuit".
  using Progress = std::function<void(const char*, const TaskProgress&)>;

  CircuitStore(std::filesystem::path folder, const Clock& clock, Journal& journal,
               Dispatcher& dispatcher, KeyStore& keys)
      : folder_(std::move(folder)),
        clock_(clock),
        journal_(journal),
        dispatcher_(dispatcher),
        keys_(keys) {}

  Status load();

  struct Addition {
    std::string name;
    std::shared_ptr<ClientFile> key;
    std::vector<std::pair<FdRole, std::shared_ptr<ClientFile>>> files;
  };
  void add(Addition addition, std::int64_t order, Progress progress, Done done);
  // The folder goes when no job names it any more: see `forget_folders`.
  Result<CircuitInfo> remove(const std::string& name);

  const CircuitRecord* find(const std::string& name) const;
  std::vector<CircuitInfo> list() const;
  std::set<std::string> folders() const;
  std::filesystem::path path_of(const std::string& folder) const { return folder_ / folder; }

  // Deletes the folders of removed circuits for which `in_use` says false.
  void forget_folders(const std::function<bool(const std::string&)>& in_use);

 private:
  struct Pending {
    Addition addition;
    std::int64_t order = 0;
    Progress progress;
    Done done;
    KeyInfo key;
    std::string folder;
    Attempts attempts;
  };

  void submit(const std::string& name);
  Result<std::optional<Command>> build(const Pending& pending) const;
  void ended(const std::string& name, const Outcome& outcome);
  void answer(const std::string& name, const Result<CircuitInfo>& result);

  std::filesystem::path folder_;
  const Clock& clock_;
  Journal& journal_;
  Dispatcher& dispatcher_;
  KeyStore& keys_;
  std::map<std::string, CircuitRecord> circuits_;
  std::map<std::string, Pending> pending_;
  std::set<std::string> doomed_;  // folders of removed circuits
};

// A name that is also a safe file name: letters, digits, '-', '_', '.', at most 64, no leading dot.
Status check_circuit_name(const std::string& name);

}  // namespace cuzk::supervisor
