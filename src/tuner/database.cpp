#include "tuner/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

namespace hstujit {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

[[noreturn]] void raise(sqlite3* db, int result, std::string_view doing) {
  const char* text = db ? sqlite3_errmsg(db) : sqlite3_errstr(result);
  throw DatabaseError(result & 0xff, fmt::format("{}: {}", doing, text));
}

/// Path as it stands in a "file:" URI.
std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%')
      out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

std::string uri_of(const std::string& path, Connection::Mode mode) {
  switch (mode) {
    case Connection::Mode::memory:
      return ":memory:";
    case Connection::Mode::writable:
      return "file:" + escaped(path) + "?mode=rwc";
    case Connection::Mode::read_only:
      return "file:" + escaped(path) + "?mode=ro";
    case Connection::Mode::immutable:
      return "file:" + escaped(path) + "?mode=ro&immutable=1";
  }
  return {};
}

}  // namespace

bool DatabaseError::damaged() const { return code_ == SQLITE_CORRUPT || code_ == SQLITE_NOTADB; }

Connection::Connection(const std::string& path, Mode mode) {
  const int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (mode == Mode::writable || mode == Mode::memory ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                                    : SQLITE_OPEN_READONLY);
  const int result = sqlite3_open_v2(uri_of(path, mode).c_str(), &db_, flags, nullptr);
  try {
    if (result != SQLITE_OK) raise(db_, result, "opening " + path);
    sqlite3_busy_timeout(db_, kBusyTimeoutMs);
    // Whatever the environment's SQLite was built with: a trial that save() returned from is on disk.
    if (mode == Mode::writable) run("PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=FULL;");
    if (mode != Mode::immutable) run("PRAGMA mmap_size=0;");
  } catch (...) {
    sqlite3_close(db_);
    throw;
  }
}

Connection::~Connection() { sqlite3_close(db_); }

void Connection::run(const std::string& sql) {
  const int result = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) raise(db_, result, sql);
}

int64_t Connection::number(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.number(0) : 0;
}

Statement::Statement(Connection& connection, std::string_view sql) : db_(connection.get()) {
  const int result = sqlite3_prepare_v2(db_, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  if (result != SQLITE_OK) raise(db_, result, sql);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

bool Statement::step() {
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) raise(db_, result, sqlite3_sql(statement_));
  return false;
}

int64_t Statement::number(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Statement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  return {static_cast<const char*>(data), data ? static_cast<size_t>(sqlite3_column_bytes(statement_, column)) : 0};
}

void Statement::set(int index, int64_t value) { sqlite3_bind_int64(statement_, index, value); }

void Statement::set(int index, const std::string& value) {
  sqlite3_bind_text(statement_, index, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
}

void Statement::set(int index, std::span<const std::byte> blob) {
  sqlite3_bind_blob(statement_, index, blob.data(), static_cast<int>(blob.size()), SQLITE_TRANSIENT);
}

Transaction::Transaction(Connection& connection, const char* begin) : connection_(connection) {
  connection_.run(begin);
}

Transaction::~Transaction() {
  // After some errors SQLite has rolled back already; the second ROLLBACK then fails and changes nothing.
  if (open_) sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  connection_.run("COMMIT");
  open_ = false;
}

}  // namespace hstujit
