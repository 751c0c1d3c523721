#include "records/database.hpp"

#include "support/write_signals.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <new>
#include <optional>
#include <thread>

namespace hstujit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongestStep{20};  // a check of a large file takes one
constexpr int kInstructionsBetweenLooks = 10'000;

// A database of ours needs no more, and one of anybody's gets no more.
constexpr std::pair<int, int> kLimits[] = {
    {SQLITE_LIMIT_LENGTH, 1 << 24},      {SQLITE_LIMIT_SQL_LENGTH, 1 << 20}, {SQLITE_LIMIT_COLUMN, 100},
    {SQLITE_LIMIT_EXPR_DEPTH, 100},      {SQLITE_LIMIT_COMPOUND_SELECT, 10}, {SQLITE_LIMIT_VDBE_OP, 25'000},
    {SQLITE_LIMIT_FUNCTION_ARG, 8},      {SQLITE_LIMIT_ATTACHED, 0},         {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 100}, {SQLITE_LIMIT_TRIGGER_DEPTH, 4},    {SQLITE_LIMIT_WORKER_THREADS, 0}};

/// Memory that ran out is nothing that the database did.
void refuse_lack_of_memory(int result) {
  if ((result & 0xff) == SQLITE_NOMEM) throw std::bad_alloc();
}

[[noreturn]] void raise(sqlite3* db, int result, std::string_view doing) {
  refuse_lack_of_memory(result);
  const char* text = db ? sqlite3_errmsg(db) : sqlite3_errstr(result);
  throw DatabaseError(result & 0xff, fmt::format("{}: {}", doing, text));
}

/// Path as it stands in a "file:" URI. Before one from "/" on an empty host is named, since SQLite takes what follows
/// "//" for one.
std::string escaped(const std::string& path) {
  std::string out = path.starts_with('/') ? "//" : "";
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

/// SQLite would wait for the other end of a pipe, also in the place of its journals.
void refuse_what_is_no_file(const std::string& path) {
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    struct stat info {};
    const std::string file = path + suffix;
    if (stat(file.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
      throw DatabaseError(SQLITE_CANTOPEN, fmt::format("{} is not a regular file", file));
  }
}

int wait_for_lock(void* limits, int waits) {
  if (Clock::now() >= static_cast<Connection::Limits*>(limits)->locks) return 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(std::min(1 + waits, 25)));
  return 1;
}

int ends_step(void* limits) { return Clock::now() >= static_cast<Connection::Limits*>(limits)->step; }

}  // namespace

Patience patience_of(std::chrono::milliseconds from_now) { return Clock::now() + from_now; }

void Connection::Limits::begin_step() { step = Clock::now() + kLongestStep; }

bool DatabaseError::of_data() const {
  return code_ == SQLITE_CONSTRAINT || code_ == SQLITE_TOOBIG || code_ == SQLITE_MISMATCH;
}

bool DatabaseError::damaged() const { return code_ == SQLITE_CORRUPT || code_ == SQLITE_NOTADB; }

Connection::Connection(const std::string& path, Mode mode, Patience patience)
    : limits_(std::make_unique<Limits>(Limits{patience, {}})) {
  if (mode != Mode::memory) refuse_what_is_no_file(path);
  const HeldWriteSignals held;
  const int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (mode == Mode::writable || mode == Mode::memory ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                                    : SQLITE_OPEN_READONLY);
  const int result = sqlite3_open_v2(uri_of(path, mode).c_str(), &db_, flags, nullptr);
  try {
    if (result != SQLITE_OK) raise(db_, result, "opening " + path);
    harden();
    // Whatever the environment's SQLite was built with: a trial that save() returned from is on disk.
    if (mode == Mode::writable) run("PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=FULL;");
    if (mode != Mode::immutable) run("PRAGMA mmap_size=0; PRAGMA cell_size_check=ON;");
  } catch (...) {
    sqlite3_close(db_);
    throw;
  }
}

Connection::~Connection() {
  const HeldWriteSignals held;
  sqlite3_close(db_);
}

/// As https://sqlite.org/security.html has it for files that others may have written.
void Connection::harden() {
  for (const auto& [limit, most] : kLimits) sqlite3_limit(db_, limit, most);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_busy_handler(db_, wait_for_lock, limits_.get());
  sqlite3_progress_handler(db_, kInstructionsBetweenLooks, ends_step, limits_.get());
}

void Connection::run(const std::string& sql) {
  limits_->begin_step();
  const HeldWriteSignals held;
  const int result = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) raise(db_, result, sql);
}

int64_t Connection::number(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.number(0) : 0;
}

Statement::Statement(Connection& connection, std::string_view sql) : db_(connection.get()), connection_(connection) {
  connection_.begin_step();     // preparing reads the schema
  const HeldWriteSignals held;  // and, first of all, rolls back what a killed process left
  const int result = sqlite3_prepare_v2(db_, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  if (result != SQLITE_OK) raise(db_, result, sql);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

bool Statement::step() {
  connection_.begin_step();
  // Of a statement that only reads, the first step alone can write: what a killed process left, or a large sort aside.
  std::optional<HeldWriteSignals> held;
  if (!sqlite3_stmt_busy(statement_) || !sqlite3_stmt_readonly(statement_)) held.emplace();
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) raise(db_, result, sqlite3_sql(statement_));
  return false;
}

void Statement::try_to_run() noexcept {
  connection_.begin_step();
  const HeldWriteSignals held;
  sqlite3_step(statement_);
  sqlite3_reset(statement_);
}

int64_t Statement::number(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Statement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  if (!data) refuse_lack_of_memory(sqlite3_errcode(db_));
  return {static_cast<const char*>(data), data ? static_cast<size_t>(sqlite3_column_bytes(statement_, column)) : 0};
}

void Statement::check(int result) const {
  if (result != SQLITE_OK) raise(db_, result, sqlite3_sql(statement_));
}

void Statement::set(int index, int64_t value) { check(sqlite3_bind_int64(statement_, index, value)); }

void Statement::set(int index, const std::string& value) {
  check(sqlite3_bind_text64(statement_, index, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::set(int index, std::span<const std::byte> blob) {
  check(sqlite3_bind_blob64(statement_, index, blob.data(), blob.size(), SQLITE_TRANSIENT));
}

Transaction::Transaction(Connection& connection, const char* begin)
    : connection_(connection), rollback_(connection, "ROLLBACK") {
  if (sqlite3_get_autocommit(connection.get()) == 0) connection_.run("ROLLBACK");  // one before had no memory for it
  connection_.run(begin);
}

Transaction::~Transaction() {
  // After some errors SQLite has rolled back already; the second ROLLBACK then fails and changes nothing.
  if (open_) rollback_.try_to_run();
}

void Transaction::commit() {
  connection_.run("COMMIT");
  open_ = false;
}

}  // namespace hstujit
