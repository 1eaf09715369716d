// The prepared keys that this supervisor knows, and how a client's key file becomes one.
//
// Conversion and checking are tasks of synth workers. A key is checked in full once in each run of
// the supervisor before it is used, and made again from its source where that is at hand. A file
// that was seen before is recognised by its identity, so that warm submissions read no key at all;
// clients that bring the same new file at the same time share one conversion.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/clock.hpp"
#include "supervisor/journal/journal.hpp"
#include "supervisor/scheduler/attempts.hpp"
#include "supervisor/scheduler/dispatcher.hpp"
#include "supervisor/stores/client_file.hpp"

namespace cuzk::supervisor {

class KeyStore {
 public:
  using Done = std::function<void(Result<KeyInfo>)>;
  using Progress = std::function<void(const TaskProgress&)>;
  struct Settings {
    std::filesystem::path cache_folder;
    std::uint32_t threads = 1;
  };

  // `replaced` is told of a key whose file was made anew: whoever maps the old one should let go.
  KeyStore(Settings settings, const Clock& clock, Journal& journal, Dispatcher& dispatcher,
           std::function<void(const Digest&)> replaced);

  // Reads what earlier runs knew; nothing of it counts as checked.
  Status load();

  // `order`: place in the queue. `done` may be called at once.
  void resolve(std::shared_ptr<ClientFile> file, std::int64_t order, Progress progress, Done done);
  // A key that must be in the cache already. Fails with kBadRequest when it is not, or not sound.
  void ensure(const Digest& digest, std::int64_t order, Progress progress, Done done);
  // A worker died over it: it is checked again before the next use.
  void distrust(const Digest& digest);

  const KeyInfo* find(const Digest& digest) const;
  std::vector<KeyInfo> list() const;

 private:
  struct Waiter {
    Progress progress;
    Done done;
  };
  struct Entry {
    KeyInfo info;
    bool checked = false;
    std::vector<Waiter> waiting;  // for the check that runs
    Attempts attempts;
  };
  struct Conversion {
    std::shared_ptr<ClientFile> file;
    std::vector<Waiter> waiting;
    Attempts attempts;
    std::int64_t order = 0;
  };

  bool usable(const Entry& entry) const;
  void convert(std::shared_ptr<ClientFile> file, std::int64_t order, Waiter waiter);
  void submit_conversion(const FileIdentity& identity);
  void submit_check(const Digest& digest, std::int64_t order);
  void conversion_ended(const FileIdentity& identity, const Outcome& outcome);
  void check_ended(const Digest& digest, std::int64_t order, const Outcome& outcome);
  Result<KeyInfo> take_in(const Outcome& outcome);
  void remember(const ClientFile& file, const Digest& digest);

  Settings settings_;
  const Clock& clock_;
  Journal& journal_;
  Dispatcher& dispatcher_;
  std::function<void(const Digest&)> replaced_;
  std::map<Digest, Entry> entries_;
  std::map<FileIdentity, Digest> identities_;
  std::map<FileIdentity, Conversion> conversions_;
};

}  // namespace cuzk::supervisor
