#include "supervisor/journal/journal.hpp"

#include <algorithm>

#include "common/protocol/archive.hpp"
#include "supervisor/journal/schema.hpp"

namespace cuzk::supervisor {
namespace {

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Result<Digest> digest_of(const std::string& bytes) {
  Digest digest{};
  if (bytes.size() != digest.size()) return bug("a digest has the wrong length", "journal");
  std::copy_n(reinterpret_cast<const std::uint8_t*>(bytes.data()), digest.size(), digest.begin());
  return digest;
}

// SQLite's integers are signed; the bits are kept.
std::int64_t as_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }
std::uint64_t as_unsigned(std::int64_t value) { return static_cast<std::uint64_t>(value); }

constexpr std::int64_t kFirstFinal = static_cast<std::int64_t>(JobState::kDone);

#define CUZK_JOB_HEAD                                                                       \
  "SELECT id, request_id, uid, circuit_name, key_name, circuit_folder, circuit, curve, "    \
  "priority, submitted_ms, input_kind, input_name, input_file, kills, state, finished_ms, " \
  "attempts, device, error, stages"

// Reads the columns of CUZK_JOB_HEAD.
Result<JobRecord> read_job(const Query& row) {
  JobRecord job;
  job.id = JobId{as_unsigned(row.integer(0))};
  job.request_id = row.text(1);
  job.uid = static_cast<std::uint32_t>(row.integer(2));
  job.circuit_name = row.text(3);
  job.key_name = row.text(4);
  job.circuit_folder = row.text(5);
  CUZK_TRY(circuit, digest_of(row.text(6)));
  job.circuit = circuit;
  job.curve = static_cast<CurveId>(row.integer(7));
  job.priority = static_cast<Priority>(row.integer(8));
  job.submitted_ms = row.integer(9);
  job.input_kind = static_cast<InputKind>(row.integer(10));
  job.input_name = row.text(11);
  job.input_file = row.text(12);
  job.kills = static_cast<std::uint32_t>(row.integer(13));
  job.state = static_cast<JobState>(row.integer(14));
  job.finished_ms = row.integer(15);
  job.attempts = static_cast<std::uint32_t>(row.integer(16));
  job.device = row.text(17);
  if (!row.is_null(18)) {
    CUZK_TRY(error, decode<std::optional<Error>>(row.text(18)));
    job.error = std::move(error);
  }
  if (!row.is_null(19)) {
    CUZK_TRY(stages, decode<std::vector<StepTime>>(row.text(19)));
    job.stages = std::move(stages);
  }
  return job;
}

}  // namespace

Result<Journal> Journal::open(const std::filesystem::path& path) {
  CUZK_TRY(database, Sqlite::open(path));
  CUZK_CHECK(prepare_schema(database, path));
  // FULL: the log is flushed at each commit, so that an accepted job survives a power cut.
  // secure_delete: inputs hold witnesses, which are secrets.
  CUZK_CHECK(
      database.execute("PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; "
                       "PRAGMA wal_autocheckpoint = 1000; PRAGMA temp_store = MEMORY"));
  return Journal(std::move(database));
}

Result<Query> Journal::write(const char* sql) {
  if (!in_transaction_) {
    CUZK_CHECK(database_.execute("BEGIN IMMEDIATE"));
    in_transaction_ = true;
  }
  return database_.query(sql);
}

Status Journal::commit() {
  if (!in_transaction_) return {};
  in_transaction_ = false;
  CUZK_TRY(statement, database_.query("COMMIT"));
  return statement.run();
}

Result<JobId> Journal::next_job_id() {
  CUZK_TRY(last, database_.scalar("SELECT seq FROM sqlite_sequence WHERE name = 'jobs'"));
  return JobId{as_unsigned(last) + 1};
}

Status Journal::insert_job(const JobRecord& job) {
  CUZK_TRY(insert, write("INSERT INTO jobs (id, request_id, uid, circuit_name, key_name, "
                         "circuit_folder, circuit, curve, priority, submitted_ms, input_kind, "
                         "input_name, input_inline, input_file, state) "
                         "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.bind(as_signed(job.id.value));
  if (job.request_id.empty()) {
    insert.bind_null();
  } else {
    insert.bind_text(job.request_id);
  }
  insert.bind(job.uid).bind_text(job.circuit_name).bind_text(job.key_name);
  insert.bind_text(job.circuit_folder).bind_blob(bytes_of(job.circuit));
  insert.bind(static_cast<std::int64_t>(job.curve)).bind(static_cast<std::int64_t>(job.priority));
  insert.bind(job.submitted_ms).bind(static_cast<std::int64_t>(job.input_kind));
  insert.bind_text(job.input_name).bind_blob(job.input_inline).bind_text(job.input_file);
  insert.bind(static_cast<std::int64_t>(JobState::kAccepted));
  return insert.run();
}

Status Journal::finish_job(const JobRecord& job) {
  CUZK_TRY(update, write("UPDATE jobs SET state = ?, finished_ms = ?, attempts = ?, device = ?, "
                         "error = ?, stages = ?, proof = ?, publics = ?, kills = ?, "
                         "input_inline = NULL, input_file = '' WHERE id = ?"));
  update.bind(static_cast<std::int64_t>(job.state)).bind(job.finished_ms).bind(job.attempts);
  update.bind_text(job.device);
  update.bind_blob(encode(job.error))
      .bind_blob(encode(job.stages))
      .bind_blob(job.proof)
      .bind_blob(job.publics);
  update.bind(job.kills).bind(as_signed(job.id.value));
  return update.run();
}

Status Journal::record_kills(JobId id, std::uint32_t kills) {
  CUZK_TRY(update, write("UPDATE jobs SET kills = ? WHERE id = ?"));
  return update.bind(kills).bind(as_signed(id.value)).run();
}

Result<std::optional<JobRecord>> Journal::find_job(JobId id) {
  CUZK_TRY(select, database_.query(CUZK_JOB_HEAD ", proof, publics FROM jobs WHERE id = ?"));
  select.bind(as_signed(id.value));
  CUZK_TRY(found, select.step());
  if (!found) return std::optional<JobRecord>{};
  CUZK_TRY(job, read_job(select));
  job.proof = select.text(20);
  job.publics = select.text(21);
  return std::optional<JobRecord>{std::move(job)};
}

Result<std::optional<JobId>> Journal::find_request(const std::string& request_id) {
  CUZK_TRY(select, database_.query("SELECT id FROM jobs WHERE request_id = ?"));
  select.bind_text(request_id);
  CUZK_TRY(found, select.step());
  if (!found) return std::optional<JobId>{};
  return std::optional<JobId>{JobId{as_unsigned(select.integer(0))}};
}

Result<std::vector<JobRecord>> Journal::open_jobs() {
  CUZK_TRY(select, database_.query(CUZK_JOB_HEAD " FROM jobs WHERE state < ? ORDER BY id"));
  select.bind(kFirstFinal);
  std::vector<JobRecord> jobs;
  while (true) {
    CUZK_TRY(found, select.step());
    if (!found) return jobs;
    CUZK_TRY(job, read_job(select));
    jobs.push_back(std::move(job));
  }
}

Result<std::string> Journal::input_of(JobId id) {
  CUZK_TRY(select, database_.query("SELECT input_inline FROM jobs WHERE id = ?"));
  select.bind(as_signed(id.value));
  CUZK_TRY(found, select.step());
  if (!found || select.text(0).empty()) return bug("a job's input is not in the journal");
  return select.text(0);
}

Result<std::vector<JobRecord>> Journal::newest_jobs(std::uint32_t limit) {
  CUZK_TRY(select, database_.query(CUZK_JOB_HEAD " FROM jobs ORDER BY id DESC LIMIT ?"));
  select.bind(limit);
  std::vector<JobRecord> jobs;
  while (true) {
    CUZK_TRY(found, select.step());
    if (!found) return jobs;
    CUZK_TRY(job, read_job(select));
    jobs.push_back(std::move(job));
  }
}

Result<std::uint64_t> Journal::count_jobs(JobState state) {
  CUZK_TRY(select, database_.query("SELECT count(*) FROM jobs WHERE state = ?"));
  select.bind(static_cast<std::int64_t>(state));
  CUZK_TRY(found, select.step());
  return found ? as_unsigned(select.integer(0)) : 0;
}

Result<std::uint64_t> Journal::prune(std::uint32_t keep, std::int64_t before_ms) {
  CUZK_TRY(remove,
           write("DELETE FROM jobs WHERE state >= ? AND (finished_ms < ? OR id <= "
                 "(SELECT id FROM jobs WHERE state >= ? ORDER BY id DESC LIMIT 1 OFFSET ?)) "
                 "RETURNING id"));
  remove.bind(kFirstFinal).bind(before_ms).bind(kFirstFinal).bind(keep);
  std::uint64_t removed = 0;
  while (true) {
    CUZK_TRY(found, remove.step());
    if (!found) return removed;
    ++removed;
  }
}

Status Journal::save_key(const KeyInfo& key) {
  CUZK_TRY(save, write("INSERT OR REPLACE INTO keys (digest, info) VALUES (?, ?)"));
  return save.bind_blob(bytes_of(key.digest)).bind_blob(encode(key)).run();
}

Status Journal::forget_key(const Digest& digest) {
  CUZK_TRY(remove, write("DELETE FROM keys WHERE digest = ?"));
  return remove.bind_blob(bytes_of(digest)).run();
}

Result<std::vector<KeyInfo>> Journal::keys() {
  CUZK_TRY(select, database_.query("SELECT info FROM keys ORDER BY digest"));
  std::vector<KeyInfo> keys;
  while (true) {
    CUZK_TRY(found, select.step());
    if (!found) return keys;
    CUZK_TRY(key, decode<KeyInfo>(select.text(0)));
    keys.push_back(std::move(key));
  }
}

Status Journal::save_identity(const FileIdentity& file, const Digest& digest) {
  CUZK_TRY(save, write("INSERT OR REPLACE INTO key_files (device, inode, size, modified_ns, "
                       "changed_ns, digest) VALUES (?, ?, ?, ?, ?, ?)"));
  save.bind(as_signed(file.device)).bind(as_signed(file.inode)).bind(as_signed(file.size));
  return save.bind(file.modified_ns).bind(file.changed_ns).bind_blob(bytes_of(digest)).run();
}

Result<std::map<FileIdentity, Digest>> Journal::identities() {
  CUZK_TRY(select, database_.query("SELECT device, inode, size, modified_ns, changed_ns, digest "
                                   "FROM key_files"));
  std::map<FileIdentity, Digest> identities;
  while (true) {
    CUZK_TRY(found, select.step());
    if (!found) return identities;
    FileIdentity file{as_unsigned(select.integer(0)), as_unsigned(select.integer(1)),
                      as_unsigned(select.integer(2)), select.integer(3), select.integer(4)};
    CUZK_TRY(digest, digest_of(select.text(5)));
    identities.emplace(file, digest);
  }
}

Status Journal::save_circuit(const CircuitRecord& circuit) {
  CUZK_TRY(save, write("INSERT OR REPLACE INTO circuits (name, folder, info) VALUES (?, ?, ?)"));
  return save.bind_text(circuit.info.name)
      .bind_text(circuit.folder)
      .bind_blob(encode(circuit.info))
      .run();
}

Status Journal::remove_circuit(const std::string& name) {
  CUZK_TRY(remove, write("DELETE FROM circuits WHERE name = ?"));
  return remove.bind_text(name).run();
}

Result<std::vector<CircuitRecord>> Journal::circuits() {
  CUZK_TRY(select, database_.query("SELECT folder, info FROM circuits ORDER BY name"));
  std::vector<CircuitRecord> circuits;
  while (true) {
    CUZK_TRY(found, select.step());
    if (!found) return circuits;
    CUZK_TRY(info, decode<CircuitInfo>(select.text(1)));
    circuits.push_back({std::move(info), select.text(0)});
  }
}

}  // namespace cuzk::supervisor
