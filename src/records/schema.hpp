// Brings a database file to the schema of this library: creates it, migrates it forward, or says that it is newer.
#pragma once

#include "records/database.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hstujit {

/// One forward step: runs on a database of version `from`, leaves version `from + 1`.
struct Migration {
  int from;
  std::string_view sql;
};

struct Schema {
  int version;
  int64_t application_id;
  std::string_view create;  ///< the whole schema; sets application_id and user_version itself
  std::span<const Migration> migrations;
};

/// tuner_db/schema.sql and the steps to it.
const Schema& tuner_schema();

enum class SchemaState {
  current,  ///< ready for use
  newer,    ///< written by a later library: read at most
};

/// Creates the tables of an empty database, or migrates an older one in one transaction after a copy to
/// <path>.v<version>.bak. Safe against other processes doing the same. Throws DatabaseError, as damaged when the file
/// is a database of somebody else.
SchemaState prepare_schema(Connection& connection, const std::string& path, const Schema& schema = tuner_schema());

/// The same question without writing; an empty database counts as damaged.
SchemaState check_schema(Connection& connection, const Schema& schema = tuner_schema());

/// Digest of the operators' field tables: Problem bytes mean the same under the same layout only.
int64_t problem_layout();

}  // namespace hstujit
