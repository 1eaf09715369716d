// The state folder: who may use it, what lies in it, and what is left over from a death.
//
//   lock        held by the one supervisor that uses the folder; contains its pid
//   journal.db  jobs, answers, circuits, known keys
//   keys/       prepared keys        circuits/  what synth workers made of registered circuits
//   spool/      inputs of open jobs that are too large for the journal
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "common/result.hpp"
#include "common/unique_fd.hpp"

namespace cuzk::supervisor {

class StateFolder {
 public:
  // Makes the folders (0700) and takes the lock. Fails, naming the other process, while it is in
  // use.
  static Result<StateFolder> open(const std::filesystem::path& root,
                                  const std::filesystem::path& key_cache);

  const std::filesystem::path& root() const { return root_; }
  const std::filesystem::path& keys() const { return keys_; }
  std::filesystem::path journal() const { return root_ / "journal.db"; }
  std::filesystem::path spool() const { return root_ / "spool"; }
  std::filesystem::path circuits() const { return root_ / "circuits"; }

  // Removes what a death left: unfinished files, and inputs and circuits that nobody names any
  // more. Returns how many entries went.
  std::size_t clean_up(const std::set<std::string>& inputs,
                       const std::set<std::string>& circuits) const;

  // The input of a job and what a worker left unfinished beside it.
  void remove_input(const std::string& name) const;

  // False when the disk has less room than `bytes` and a margin.
  bool has_room_for(std::uint64_t bytes) const;

 private:
  StateFolder(std::filesystem::path root, std::filesystem::path keys, UniqueFd lock)
      : root_(std::move(root)),
        keys_(std::move(keys)),
        lock_(std::move(lock)) {}

  std::filesystem::path root_;
  std::filesystem::path keys_;
  UniqueFd lock_;
};

}  // namespace cuzk::supervisor
