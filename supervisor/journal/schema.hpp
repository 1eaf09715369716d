// The journal's tables, and the check that an existing file is one of ours.
#pragma once

#include <filesystem>

#include "supervisor/journal/sqlite.hpp"

namespace cuzk::supervisor {

// Creates the tables in an empty file; refuses damaged files, other programs' and newer ones.
Status prepare_schema(Sqlite& database, const std::filesystem::path& path);

}  // namespace cuzk::supervisor
