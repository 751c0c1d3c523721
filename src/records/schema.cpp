#include "records/schema.hpp"

#include "operators/problem.hpp"
#include "support/embedded_text.hpp"
#include "support/hash.hpp"
#include "support/log.hpp"
#include "support/write_signals.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

namespace hstujit {
namespace {

int version_of(Connection& connection) { return static_cast<int>(connection.number("PRAGMA user_version")); }

bool is_empty(Connection& connection) { return connection.number("SELECT count(*) FROM sqlite_schema") == 0; }

void refuse_foreign(Connection& connection, const Schema& schema) {
  const int64_t id = connection.number("PRAGMA application_id");
  if (id != schema.application_id)
    throw DatabaseError(SQLITE_NOTADB, fmt::format("application_id {} is not that of a tuning database", id));
}

/// What defines tables and code: of each kind's names the text that made it, without comments and blanks.
struct Definitions {
  std::map<std::string, std::string> tables, triggers;
  int64_t views = 0;
};

std::string without_comments(std::string_view sql) {
  std::string out;
  for (size_t i = 0; i < sql.size(); ++i) {
    if (sql.substr(i, 2) == "--") i = std::min(sql.find('\n', i), sql.size() - 1);
    if (!std::isspace(static_cast<unsigned char>(sql[i]))) out += sql[i];
  }
  // The first databases of version 1 lack this one.
  static constexpr std::string_view kLater = "CHECK(length(uid)BETWEEN1AND32)";
  if (const size_t at = out.find(kLater); at != std::string::npos) out.erase(at, kLater.size());
  return out;
}

Definitions definitions_of(Connection& connection) {
  Definitions out;
  Statement object(connection, "SELECT type, name, sql FROM sqlite_schema");
  while (object.step()) {
    const std::string_view type = object.text(0);
    out.views += type == "view";
    if (type == "table") out.tables[object.string(1)] = without_comments(object.text(2));
    if (type == "trigger") out.triggers[object.string(1)] = without_comments(object.text(2));
  }
  return out;
}

/// As SQLite would keep them, without asking it: making the tables takes longer than all else at a process's start.
Definitions definitions_of(const Schema& schema) {
  static constexpr std::string_view kTable = "CREATETABLE", kTrigger = "CREATETRIGGER";
  Definitions out;
  const std::string statements = without_comments(schema.create) + ";CREATE";  // no statement has that within
  for (size_t end, at = statements.find("CREATE"); (end = statements.find(";CREATE", at)) != std::string::npos;
       at = end + 1) {
    const std::string sql = statements.substr(at, statements.find_last_not_of(';', end) + 1 - at);
    if (sql.starts_with(kTable))
      out.tables[sql.substr(kTable.size(), sql.find('(') - kTable.size())] = sql.substr(0, sql.find(';'));
    if (sql.starts_with(kTrigger)) out.triggers[sql.substr(kTrigger.size(), sql.find("AFTER") - kTrigger.size())] = sql;
  }
  return out;
}

/// Throws, as damaged, where a name of the schema stands for something else than it does there. Tables and indices
/// beside those of the schema harm nobody; views and triggers are code that ours would run.
void refuse_other_definitions(Connection& connection, const Schema& schema) {
  // Not kept: a child of fork() would wait for a thread of its parent that was about to.
  const Definitions wanted = definitions_of(schema);
  const Definitions found = definitions_of(connection);
  const int version = version_of(connection);
  const bool same_version = version == schema.version;
  for (const auto& [name, sql] : wanted.tables) {
    const auto table = found.tables.find(name);
    if (table == found.tables.end() ? version >= schema.version : same_version && table->second != sql)
      throw DatabaseError(SQLITE_NOTADB, fmt::format("its table {} is not that of a tuning database", name));
  }
  if (found.views > 0 || (same_version && found.triggers != wanted.triggers && !wanted.tables.empty()))
    throw DatabaseError(SQLITE_NOTADB, "it has views or triggers that a tuning database does not have");
}

/// Copies through SQLite: reading the file by other means would drop this process's locks on it when closed. The source
/// is a connection of its own, because one that is inside a writing transaction cannot be copied.
void back_up(const std::string& path, const std::string& to) {
  std::error_code none;
  if (std::filesystem::is_symlink(to, none)) std::filesystem::remove(to, none);  // what it leads to is not ours
  Connection source(path, Connection::Mode::read_only), copy(to, Connection::Mode::writable);
  const HeldWriteSignals held;
  sqlite3_backup* backup = sqlite3_backup_init(copy.get(), "main", source.get(), "main");
  if (backup) sqlite3_backup_step(backup, -1);
  const int result = backup ? sqlite3_backup_finish(backup) : sqlite3_errcode(copy.get());
  if (result != SQLITE_OK)
    throw DatabaseError(result & 0xff, fmt::format("backing up to {}: {}", to, sqlite3_errstr(result)));
}

void migrate(Connection& connection, const std::string& path, const Schema& schema) {
  int version = version_of(connection);
  if (!path.empty()) back_up(path, fmt::format("{}.v{}.bak", path, version));
  for (const Migration& step : schema.migrations) {
    if (step.from != version) continue;
    connection.run(std::string(step.sql));
    connection.run(fmt::format("PRAGMA user_version = {}", ++version));
  }
  if (version != schema.version)
    throw DatabaseError(SQLITE_NOTADB, fmt::format("no way from schema version {} to {}", version, schema.version));
  log().info("tuner: {} migrated to schema version {}", path, version);
}

}  // namespace

const Schema& tuner_schema() {
  // What a version has that its forerunner had not stands last in schema.sql, from a line on.
  static const std::string_view changes = embedded_schema().substr(embedded_schema().find("CREATE TABLE change("));
  static const Migration steps[] = {{1, changes}};
  static const Schema schema{2, 0x68737475, embedded_schema(), steps};
  return schema;
}

SchemaState check_schema(Connection& connection, const Schema& schema) {
  if (is_empty(connection)) throw DatabaseError(SQLITE_NOTADB, "an empty database");
  refuse_foreign(connection, schema);
  refuse_other_definitions(connection, schema);
  return version_of(connection) > schema.version ? SchemaState::newer : SchemaState::current;
}

SchemaState prepare_schema(Connection& connection, const std::string& path, const Schema& schema) {
  {
    const Transaction look(connection, "BEGIN");  // one lock for all that is read
    if (!is_empty(connection)) {
      const SchemaState state = check_schema(connection, schema);
      if (state == SchemaState::newer || version_of(connection) == schema.version) return state;
    }
  }
  Transaction transaction(connection);
  // Another process may have been here between the look above and the lock.
  if (is_empty(connection))
    connection.run(std::string(schema.create));
  else if (check_schema(connection, schema) == SchemaState::newer)
    return SchemaState::newer;
  else if (version_of(connection) < schema.version)
    migrate(connection, path, schema), refuse_other_definitions(connection, schema);
  transaction.commit();
  return SchemaState::current;
}

int64_t problem_layout() {
  std::string fields;
  for (int i = 0; i < kOpCount; ++i) {
    fields += name_of(static_cast<Op>(i));
    for (const FieldInfo& info : fields_of(static_cast<Op>(i)))
      fields += fmt::format(" {}:{}", info.name, static_cast<int>(info.kind));
    fields += '\n';
  }
  return static_cast<int64_t>(hash64(fields.data(), fields.size()));
}

}  // namespace hstujit
