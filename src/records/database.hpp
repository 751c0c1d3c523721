// A thin C++ face of SQLite's C interface: connections, statements and transactions that clean up after themselves and
// throw DatabaseError, which the records catch; it never leaves this room.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace hstujit {

class DatabaseError : public std::exception {
 public:
  DatabaseError(int code, std::string message) : code_(code), message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  int code() const { return code_; }  ///< primary result code, e.g. SQLITE_FULL
  bool damaged() const;               ///< the file is not, or no longer, a database
  bool of_data() const;               ///< what was to be written is refused; the database is as sound as before

 private:
  int code_;
  std::string message_;
};

/// Until when a connection waits for those who hold locks.
using Patience = std::chrono::steady_clock::time_point;
Patience patience_of(std::chrono::milliseconds from_now);
constexpr std::chrono::seconds kPatience{10};  ///< of one piece of work

class Connection {
 public:
  enum class Mode {
    memory,     ///< private, path ignored
    writable,   ///< created when absent
    read_only,  ///< sees what other processes commit
    immutable,  ///< nobody writes the file while it is open; needs no locks, works on a read-only medium
  };

  Connection() = default;
  /// A file may be anybody's: it must be a regular one, runs no code of its own (views, functions with side effects),
  /// and no single step of it takes longer than some seconds.
  Connection(const std::string& path, Mode mode, Patience patience = patience_of(kPatience));
  ~Connection();
  Connection(Connection&& other) noexcept : db_(std::exchange(other.db_, nullptr)), limits_(std::move(other.limits_)) {}
  Connection& operator=(Connection&& other) noexcept {
    std::swap(db_, other.db_);
    std::swap(limits_, other.limits_);
    return *this;
  }

  explicit operator bool() const { return db_ != nullptr; }
  sqlite3* get() const { return db_; }

  void wait_until(Patience patience) { limits_->locks = patience; }
  void begin_step() { limits_->begin_step(); }

  /// Runs statements that return nothing.
  void run(const std::string& sql);
  /// First column of the first row of a query, as an integer.
  int64_t number(const std::string& sql);
  /// Forgets the handle without closing it: a child after fork() must not touch its parent's database.
  void abandon() {
    db_ = nullptr;
    static_cast<void>(limits_.release());  // the handle's callbacks still name it
  }

  /// Points of time that SQLite's callbacks look at.
  struct Limits {
    Patience locks;  ///< no longer wait for a lock
    Patience step;   ///< the end of what runs now
    void begin_step();
  };

 private:
  void harden();

  sqlite3* db_ = nullptr;
  std::unique_ptr<Limits> limits_;  ///< lies still, whoever the connection moves to
};

/// A prepared statement. bind(a, b, ...) starts it over with these parameters, columns are read by index.
class Statement {
 public:
  Statement(Connection& connection, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  template <class... Values>
  Statement& bind(const Values&... values) {
    reset();
    [[maybe_unused]] int index = 0;
    (set(++index, values), ...);
    return *this;
  }

  /// True while there is a row.
  bool step();
  /// Runs a statement that returns no rows.
  void run() {
    while (step()) {}
    reset();
  }

  /// The same where nothing may throw; whether it worked is not told.
  void try_to_run() noexcept;

  int64_t number(int column) const;
  std::string_view text(int column) const;  ///< text or blob; valid until the next step
  std::string string(int column) const { return std::string(text(column)); }

 private:
  void reset();
  void set(int index, int64_t value);
  void set(int index, int32_t value) { set(index, int64_t{value}); }
  void set(int index, bool value) { set(index, int64_t{value}); }
  void set(int index, uint64_t value) { set(index, static_cast<int64_t>(value)); }
  void set(int index, const std::string& value);
  void set(int index, std::span<const std::byte> blob);

  void check(int result) const;

  sqlite3* db_;
  Connection& connection_;
  sqlite3_stmt* statement_ = nullptr;
};

/// BEGIN IMMEDIATE ... COMMIT; rolled back when it dies without commit().
class Transaction {
 public:
  explicit Transaction(Connection& connection, const char* begin = "BEGIN IMMEDIATE");
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Connection& connection_;
  Statement rollback_;  ///< prepared before, for its time may come where there is no memory left
  bool open_ = true;
};

}  // namespace hstujit
