#include "supervisor/journal/schema.hpp"

#include "supervisor/journal/journal.hpp"

namespace cuzk::supervisor {
namespace {

// "CZKJ": tells this file from other programs' SQLite files.
constexpr std::int64_t kApplicationId = 0x435a4b4a;

constexpr const char* kTables = R"sql(
CREATE TABLE jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  request_id TEXT UNIQUE,
  uid INTEGER NOT NULL,
  circuit_name TEXT NOT NULL,
  key_name TEXT NOT NULL,
  circuit_folder TEXT NOT NULL,
  circuit BLOB NOT NULL,
  curve INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  submitted_ms INTEGER NOT NULL,
  input_kind INTEGER NOT NULL,
  input_name TEXT NOT NULL,
  input_inline BLOB,
  input_file TEXT NOT NULL,
  kills INTEGER NOT NULL DEFAULT 0,
  state INTEGER NOT NULL,
  finished_ms INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  device TEXT NOT NULL DEFAULT '',
  error BLOB,
  stages BLOB,
  proof BLOB,
  publics BLOB
);
CREATE INDEX jobs_by_state ON jobs (state, finished_ms);
CREATE TABLE keys (digest BLOB PRIMARY KEY, info BLOB NOT NULL);
CREATE TABLE key_files (
  device INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  changed_ns INTEGER NOT NULL,
  digest BLOB NOT NULL,
  PRIMARY KEY (device, inode)
);
CREATE TABLE circuits (name TEXT PRIMARY KEY, folder TEXT NOT NULL, info BLOB NOT NULL);
)sql";

Error not_ours(const std::filesystem::path& path, std::string what) {
  return {ErrorClass::kOperator, std::move(what), path.string(),
          "move it away to start with an empty journal"};
}

Status create_tables(Sqlite& database) {
  CUZK_CHECK(database.execute("BEGIN IMMEDIATE"));
  CUZK_CHECK(database.execute(kTables));
  CUZK_CHECK(database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId)));
  CUZK_CHECK(database.execute(fmt::format("PRAGMA user_version = {}", kJournalSchema)));
  return database.execute("COMMIT");
}

}  // namespace

Status prepare_schema(Sqlite& database, const std::filesystem::path& path) {
  const auto version = database.scalar("PRAGMA user_version");
  if (!version) return not_ours(path, "the journal is damaged: " + version.error().what);
  const auto application = database.scalar("PRAGMA application_id");
  if (!application) return not_ours(path, "the journal is damaged: " + application.error().what);
  CUZK_TRY(tables, database.scalar("SELECT count(*) FROM sqlite_schema"));

  if (*version == 0 && *application == 0 && tables == 0) {
    CUZK_CHECK(database.execute("PRAGMA journal_mode = WAL"));
    CUZK_CHECK(create_tables(database));
  } else if (*application != kApplicationId) {
    return not_ours(path, "this file is not a cuzk journal");
  } else if (*version > kJournalSchema) {
    return Error{
        ErrorClass::kOperator,
        fmt::format("the journal has schema {}, this program knows {}", *version, kJournalSchema),
        path.string(), "start the newer version of cuzk that wrote it"};
  }
  // quick_check reads every page: damage is found now and not in the middle of an answer.
  CUZK_TRY(check, database.query("PRAGMA quick_check(1)"));
  const auto row = check.step();
  if (!row) return not_ours(path, "the journal is damaged: " + row.error().what);
  if (*row && check.text(0) != "ok")
    return not_ours(path, "the journal is damaged: " + check.text(0));
  return {};
}

}  // namespace cuzk::supervisor
