// The tuner's memory: trials in SQLite (<store>/tuner.db, over a read-only system database), winners in an immutable
// table in RAM. A database problem never fails a call: it costs one warning, and records then live in memory only.
#pragma once

#include "records/winners.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit {

struct RecordsOptions {
  std::string store_path;               ///< folder of the writable tuner.db; "" for memory only
  std::string system_store_path;        ///< folder of a read-only tuner.db underneath; "" for none
  std::vector<std::string> seeds = {};  ///< exported texts underneath both
  /// Exported texts underneath everything, see shipped.hpp; they outlive the object, and exports leave them out.
  std::vector<std::string_view> shipped = {};
};

/// Which jobs an export contains.
enum class ExportKind {
  everything,
  winners,  ///< of each problem the deciding jobs only, with the trials that decided: what seeds are made of
};

/// What a merge brought in that was not there before.
struct Added {
  int64_t jobs = 0, trials = 0;
};

class Records {
 public:
  explicit Records(RecordsOptions options);
  ~Records();
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  // ---- Answers from memory: no SQLite call, any thread.

  /// The record of exactly this problem on this device class.
  std::optional<Record> find(const Problem& problem, std::string_view device_class) const;
  /// The nearest one, see distance(); also the exact one, at distance 0.
  std::optional<Neighbour> nearest(const Problem& problem, std::string_view device_class) const;
  /// At most `limit` of them, nearest first; of two for one problem, the one that find() gives.
  std::vector<Neighbour> neighbours(const Problem& problem, std::string_view device_class, size_t limit) const;
  /// The table of this moment, without what is shipped; it stays as it is while the caller holds it.
  std::shared_ptr<const Winners> winners() const;

  // ---- Work on the writable database: any thread, one short transaction each.

  /// Stores one trial of a job (head: all but its trials). On disk when it returns, unless durable() is false.
  void save(const Job& head, const Trial& trial);
  /// Stores the job's state, decides its problem anew and shows the result to find().
  void close(const Job& head);
  /// The jobs of a problem on a device class, with their trials, oldest first.
  std::vector<Job> jobs(const Problem& problem, std::string_view device_class) const;
  /// All jobs, sorted by device class, problem, start and uid.
  std::vector<Job> jobs() const;

  /// Adds what another database, an exported text or a list of jobs has: a set union of trials, after which every
  /// problem touched is decided anew. All or nothing. Throws Error{STORE} when the source cannot be read.
  Added merge(const std::string& database_path);
  Added import_text(std::string_view exported);
  Added absorb(const std::vector<Job>& jobs);

  /// Canonical JSON: equal contents give equal bytes. One line per problem and device class.
  std::string export_text(ExportKind kind = ExportKind::everything) const;
  /// The same of the winners that `wanted` accepts.
  std::string export_winners(const std::function<bool(const Record&)>& wanted) const;

  /// Reads the winners again if another process changed the database since.
  void refresh();

  /// False when new trials live in memory only: asked for, or after a database problem.
  bool durable() const;
  /// The writable database's file; "" when there is none.
  std::string path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hstujit
