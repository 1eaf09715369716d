// A thin owner of SQLite's handles: a database and its prepared statements.
//
// Errors become values, and a statement that is stepped to its end is reset by its destructor, so
// no cursor stays open over a commit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace cuzk::supervisor {

// One use of a prepared statement: bind, step, read.
class Query {
 public:
  Query(sqlite3* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  Query(Query&& other) noexcept;
  Query& operator=(Query&&) = delete;
  ~Query();

  // Parameters are numbered from 1 in the order of the calls.
  Query& bind(std::int64_t value);
  Query& bind_text(std::string_view value);
  Query& bind_blob(std::string_view value);
  Query& bind_null();

  // True: a row is there to read. False: the statement is finished.
  Result<bool> step();
  // For statements without rows.
  Status run();

  std::int64_t integer(int column) const;
  std::string text(int column) const;  // also blobs; NULL reads as empty
  bool is_null(int column) const;

 private:
  sqlite3* database_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

class Sqlite {
 public:
  static Result<Sqlite> open(const std::filesystem::path& path);

  // Statements without parameters or rows, several separated by semicolons.
  Status execute(const std::string& sql);
  // Prepared once and kept; `sql` is a literal.
  Result<Query> query(const char* sql);
  // The first column of the first row.
  Result<std::int64_t> scalar(const char* sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  struct Cache;
  struct DeleteCache {
    void operator()(Cache* cache) const;
  };

  explicit Sqlite(sqlite3* database, std::string name);

  std::string name_;
  std::unique_ptr<sqlite3, Close> database_;
  std::unique_ptr<Cache, DeleteCache> cache_;  // goes before the database
};

}  // namespace cuzk::supervisor
