// The supervisor's memory on disk: jobs, answers, circuits, and keys that were seen.
//
// SQLite in WAL mode with synchronous=FULL. Writes collect in one transaction that `commit` ends;
// the loop calls it once a turn and lets no reply leave before it, so "accepted" means "on disk"
// and a hundred submissions in a turn cost one flush. A supervisor that dies between two commits
// has promised nothing of what is lost. A journal of a newer program, or a damaged one, is refused
// and not touched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/journal/job_record.hpp"
#include "supervisor/journal/sqlite.hpp"

namespace cuzk::supervisor {

inline constexpr std::int64_t kJournalSchema = 1;

class Journal {
 public:
  static Result<Journal> open(const std::filesystem::path& path);

  // Jobs. Ids start at 1 and are never used again, also after a job is pruned.
  Result<JobId> next_job_id();
  Status insert_job(const JobRecord& job);
  Status finish_job(const JobRecord& job);  // the answer; the input goes
  Status record_kills(JobId id, std::uint32_t kills);
  Result<std::optional<JobRecord>> find_job(JobId id);
  Result<std::optional<JobId>> find_request(const std::string& request_id);
  Result<std::vector<JobRecord>> open_jobs();  // oldest first, without inline inputs
  Result<std::string> input_of(JobId id);      // the inline input of an open job
  Result<std::vector<JobRecord>> newest_jobs(
      std::uint32_t limit);  // without inputs, proofs, publics
  Result<std::uint64_t> count_jobs(JobState state);
  // Removes finished jobs beyond `keep` and those that finished before `before_ms`.
  Result<std::uint64_t> prune(std::uint32_t keep, std::int64_t before_ms);

  // Keys, by the digest of their source.
  Status save_key(const KeyInfo& key);
  Status forget_key(const Digest& digest);
  Result<std::vector<KeyInfo>> keys();
  Status save_identity(const FileIdentity& file, const Digest& digest);
  Result<std::map<FileIdentity, Digest>> identities();

  // Circuits, by name.
  Status save_circuit(const CircuitRecord& circuit);
  Status remove_circuit(const std::string& name);
  Result<std::vector<CircuitRecord>> circuits();

  bool has_uncommitted() const { return in_transaction_; }
  // Ends the transaction, flushed to disk. An error means that nothing since the last commit is
  // kept.
  Status commit();

 private:
  explicit Journal(Sqlite database) : database_(std::move(database)) {}
  Result<Query> write(const char* sql);  // begins the transaction where there is none

  Sqlite database_;
  bool in_transaction_ = false;
};

}  // namespace cuzk::supervisor
