#include "supervisor/journal/sqlite.hpp"

#include <unordered_map>
#include <utility>

#include <sqlite3.h>

namespace cuzk::supervisor {
namespace {

Error sqlite_error(sqlite3* database, const char* action) {
  return {ErrorClass::kRetryHere, fmt::format("{}: {}", action, sqlite3_errmsg(database)),
          "journal", "is the disk full, or the state folder not writable?"};
}

}  // namespace

Query::Query(Query&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bound_(other.bound_) {}

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

Query& Query::bind_text(std::string_view value) {
  sqlite3_bind_text64(statement_, ++bound_, value.data(), value.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
  return *this;
}

Query& Query::bind_blob(std::string_view value) {
  // A null pointer would bind NULL.
  const void* data = value.empty() ? "" : value.data();
  sqlite3_bind_blob64(statement_, ++bound_, data, value.size(), SQLITE_TRANSIENT);
  return *this;
}

Query& Query::bind_null() {
  sqlite3_bind_null(statement_, ++bound_);
  return *this;
}

Result<bool> Query::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return sqlite_error(database_, "statement");
}

Status Query::run() {
  CUZK_TRY(row, step());
  if (row) return bug("a statement without rows has one", "journal");
  return {};
}

std::int64_t Query::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string Query::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (data == nullptr || size <= 0) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

struct Sqlite::Cache {
  struct Finalise {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  // Keyed by the literal's address: each place in the code has its own statement.
  std::unordered_map<const char*, std::unique_ptr<sqlite3_stmt, Finalise>> statements;
};

void Sqlite::Close::operator()(sqlite3* database) const { sqlite3_close(database); }
void Sqlite::DeleteCache::operator()(Cache* cache) const { delete cache; }

Sqlite::Sqlite(sqlite3* database, std::string name)
    : name_(std::move(name)),
      database_(database),
      cache_(new Cache) {}

Result<Sqlite> Sqlite::open(const std::filesystem::path& path) {
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &raw,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  Sqlite database(raw, path.string());
  if (code != SQLITE_OK) {
    return Error{ErrorClass::kRetryHere,
                 fmt::format("cannot open: {}", raw != nullptr ? sqlite3_errmsg(raw) : "no memory"),
                 path.string(), "check the folder's owner and mode"};
  }
  return database;
}

Status Sqlite::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    Error error = sqlite_error(database_.get(), "statement");
    error.where = name_;
    return error;
  }
  return {};
}

Result<Query> Sqlite::query(const char* sql) {
  auto& slot = cache_->statements[sql];
  if (!slot) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                           nullptr) != SQLITE_OK) {
      Error error = sqlite_error(database_.get(), "prepare");
      error.where = name_;
      return error;
    }
    slot.reset(statement);
  }
  return Query(database_.get(), slot.get());
}

Result<std::int64_t> Sqlite::scalar(const char* sql) {
  CUZK_TRY(statement, query(sql));
  CUZK_TRY(row, statement.step());
  return row ? statement.integer(0) : 0;
}

}  // namespace cuzk::supervisor
