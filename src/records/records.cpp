#include "records/records.hpp"

#include "records/decide.hpp"
#include "records/records_text.hpp"
#include "records/shipped.hpp"
#include "records/tables.hpp"
#include "records/tuner_file.hpp"
#include "records/winners_cache.hpp"
#include "support/error.hpp"
#include "support/forks.hpp"
#include "support/log.hpp"
#include "support/unkept.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <set>

namespace hstujit {
namespace {

constexpr std::chrono::seconds kPatienceAtStart{2};  // for all locks of others together

std::string file_in(const std::string& folder) { return folder + "/tuner.db"; }

/// Adds a read-only source's winners. What it holds is a help, not a duty: "" when all went well or it is not there,
/// else why it is left out.
std::string read_layer(const std::string& path, Connection::Mode mode, Patience patience, Winners& winners) {
  if (access(path.c_str(), F_OK) != 0) return "";
  try {
    Connection connection(path, mode, patience);
    check_schema(connection);
    read_winners(connection, winners);
    return "";
  } catch (const DatabaseError& e) { return e.what(); }
}

Added put(Connection& connection, const std::vector<Job>& jobs) {
  Added added;
  Transaction transaction(connection);
  Writer writer(connection);
  std::set<std::pair<std::string, std::string>> touched;
  for (const Job& job : jobs) {
    added.jobs += writer.put_job(job);
    for (const Trial& trial : job.trials) added.trials += writer.put_trial(job.uid, trial);
  }
  for (const Job& job : jobs)
    if (touched.emplace(text(job.problem), job.device_class).second) writer.decide_again(job.problem, job.device_class);
  transaction.commit();
  return added;
}

void read_seeds(const std::vector<std::string>& seeds, Winners& winners) {
  if (seeds.empty()) return;
  TunerFile memory = open_in_memory();
  for (const std::string& seed : seeds) {
    try {
      put(memory.connection, jobs_of_text(seed));
    } catch (const Error& error) {
      log().warn("tuner: a text of records is left out: {}", error.message());
    } catch (const DatabaseError& error) { log().warn("tuner: a text of records is left out: {}", error.what()); }
  }
  read_winners(memory.connection, winners);
}

}  // namespace

struct Records::State {
  explicit State(RecordsOptions o) : options(std::move(o)), shipped(options.shipped) {
    read_seeds(options.seeds, base);
    read_system_layer();
    open();
  }

  /// Runs work(connection) under the lock. A damaged file is replaced and the work repeated; when the database fails
  /// otherwise, or again, this and all later work is done in memory.
  template <class Work>
  auto with_database(Work work) {
    const NoForkMeanwhile whole;  // SQLite has locks that all connections share
    const std::lock_guard lock(database);
    for (bool repaired = false;;) {
      try {
        if (!file.current()) reopen();
        file.connection.wait_until(patience_of(kPatience));
        return work(file.connection);
      } catch (const DatabaseError& e) {
        if (e.of_data()) fail(HSTU_ERROR_STORE, "records cannot be kept: {}", e.what());
        if (!file.durable()) fail(HSTU_ERROR_STORE, "tuning database in memory: {}", e.what());
        if (!e.damaged() || repaired || !repair()) go_to_memory(e.what());
        repaired = true;
      }
    }
  }

  void read_system_layer() {
    if (options.system_store_path.empty()) return;
    const std::string path = file_in(options.system_store_path);
    const std::string trouble = read_layer(path, Connection::Mode::immutable, patience, base);
    if (!trouble.empty()) log().warn("tuner: {} is left out: {}", path, trouble);
  }

  void open() {
    if (options.store_path.empty()) {
      file = open_in_memory();
      return publish();
    }
    const std::string path = file_in(options.store_path);
    try {
      file = open_file(path, patience);
      if (file.schema == SchemaState::current) return publish(true);
      read_winners(file.connection, base);
      go_to_memory("it was written by a later version of this library");
    } catch (const DatabaseError& e) {
      read_layer(path, Connection::Mode::read_only, patience, base);
      go_to_memory(e.what());
    }
    publish();
  }

  void reopen() {
    if (file.process != getpid()) file.connection.abandon();
    file = open_file(file.path);
    publish();
  }

  /// To be asked after work that adds: what is in memory instead of the store is lost with the process.
  void count_if_lost(int64_t trials) {
    const std::lock_guard lock(database);
    if (!file.durable() && !options.store_path.empty()) count_unkept_records(trials, why_in_memory);
  }

  bool repair() {
    try {
      set_aside_if_damaged(file.path);
      reopen();
      return true;
    } catch (const DatabaseError& e) {
      log().warn("tuner: {}", e.what());
      return false;
    }
  }

  void go_to_memory(const std::string& why) {
    log().warn("tuner: {} is not written from now on, new records stay in memory: {}", file_in(options.store_path),
               why);
    why_in_memory = fmt::format("{}: {}", file_in(options.store_path), why);
    if (winners) base = *winners;  // what was known stays known
    file = open_in_memory();
  }

  /// Makes the database's winners, over the layers beneath, the ones that readers see.
  void publish(bool keep_copy = false) {
    seen_version = file.connection.number("PRAGMA data_version");
    const Transaction reading(file.connection, "BEGIN");
    const Mark now = latest_mark(file.connection);  // from here on nobody writes
    std::shared_ptr<const Winners> fresh = brought_up_to_date();
    if (!fresh) fresh = std::make_shared<const Winners>(read_again(now, keep_copy));
    seen = now;
    const std::lock_guard lock(publishing);
    winners = std::move(fresh);
  }

  /// What readers see with the changes since; null when all has to be read again.
  std::shared_ptr<const Winners> brought_up_to_date() {
    if (!winners) return nullptr;
    Winners next = Winners::over(winners);
    const auto changes = read_changes(file.connection, seen, base, next);
    if (!changes) return nullptr;
    return *changes == 0 ? winners : std::make_shared<const Winners>(std::move(next));
  }

  Winners read_again(const Mark& now, bool keep_copy) {
    if (base.size() == 0) return winners_of(file, now, keep_copy);
    Winners all = base;
    read_winners(file.connection, all);
    return all;
  }

  const RecordsOptions options;
  const Patience patience = patience_of(kPatienceAtStart);  ///< of the construction
  const ShippedRecords shipped;
  Winners base;  ///< seeds and read-only layers

  std::mutex database;  ///< guards file and seen_version, and base once readers exist
  TunerFile file;
  std::string why_in_memory;  ///< although there is a store
  int64_t seen_version = 0;   ///< PRAGMA data_version when the winners were read
  Mark seen;                  ///< their state

  // A plain lock: readers come here once per new problem, and libstdc++'s atomic<shared_ptr> is a lock, too.
  mutable std::mutex publishing;
  std::shared_ptr<const Winners> winners;
};

Records::Records(RecordsOptions options) try : state_(std::make_unique<State>(std::move(options))) {
} catch (const DatabaseError& e) { fail(HSTU_ERROR_STORE, "tuning database in memory: {}", e.what()); }
Records::~Records() {
  const NoForkMeanwhile whole;
  if (state_->file.durable() && state_->file.process != getpid()) state_->file.connection.abandon();
  state_.reset();
}

std::shared_ptr<const Winners> Records::winners() const {
  const std::lock_guard lock(state_->publishing);
  return state_->winners;
}

std::optional<Record> Records::find(const Problem& problem, std::string_view device_class) const {
  if (auto record = winners()->find(problem, device_class)) return record;
  return state_->shipped.find(problem, device_class);
}

std::vector<Neighbour> Records::neighbours(const Problem& problem, std::string_view device_class, size_t limit) const {
  const auto own = winners();
  std::vector<Neighbour> found = own->neighbours(problem, device_class, limit);
  for (Neighbour& shipped : state_->shipped.all().neighbours(problem, device_class, limit))
    if (!own->find(shipped.record.problem, device_class)) found.push_back(std::move(shipped));
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; });
  if (found.size() > limit) found.erase(found.begin() + static_cast<std::ptrdiff_t>(limit), found.end());
  return found;
}

std::optional<Neighbour> Records::nearest(const Problem& problem, std::string_view device_class) const {
  auto found = neighbours(problem, device_class, 1);
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

void Records::save(const Job& head, const Trial& trial) {
  state_->with_database([&](Connection& connection) {
    Transaction transaction(connection);
    Writer writer(connection);
    writer.put_job(head);
    writer.put_trial(head.uid, trial);
    transaction.commit();
  });
  state_->count_if_lost(1);
}

void Records::close(const Job& head) {
  state_->with_database([&](Connection& connection) {
    Transaction transaction(connection);
    Writer writer(connection);
    writer.put_job(head);
    writer.decide_again(head.problem, head.device_class);
    transaction.commit();
    state_->publish();
  });
}

std::vector<Job> Records::jobs(const Problem& problem, std::string_view device_class) const {
  return state_->with_database([&](Connection& connection) {
    return Reader(connection).of({problem, std::string(device_class)});
  });
}

std::vector<Job> Records::jobs() const {
  return state_->with_database([](Connection& connection) { return Reader(connection).all(); });
}

Added Records::absorb(const std::vector<Job>& jobs) {
  const Added added = state_->with_database([&](Connection& connection) {
    const Added put_there = put(connection, jobs);
    state_->publish();
    return put_there;
  });
  state_->count_if_lost(added.trials);
  return added;
}

Added Records::import_text(std::string_view exported) { return absorb(jobs_of_text(exported)); }

Added Records::merge(const std::string& database_path) {
  std::vector<Job> theirs;
  try {
    Connection connection(database_path, Connection::Mode::read_only);
    if (check_schema(connection) == SchemaState::newer)
      fail(HSTU_ERROR_STORE, "{} was written by a later version of this library; merge with that version",
           database_path);
    theirs = Reader(connection).all();
  } catch (const DatabaseError& e) { fail(HSTU_ERROR_STORE, "{} cannot be merged: {}", database_path, e.what()); }
  return absorb(theirs);
}

std::string Records::export_text(ExportKind kind) const {
  if (kind == ExportKind::everything) return to_text(jobs());
  return export_winners([](const Record&) { return true; });
}

std::string Records::export_winners(const std::function<bool(const Record&)>& wanted) const {
  std::vector<Job> deciding;
  const std::vector<Job> all = jobs();
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(), [&](const Job& job) {
      return !(job.problem == first->problem) || job.device_class != first->device_class;
    });
    const auto record = find(first->problem, first->device_class);
    if (record && wanted(*record))
      for (const Job* job : deciding_jobs({first, last})) {
        deciding.push_back(*job);
        deciding.back().trials = deciding_trials(*job);
      }
    first = last;
  }
  return to_text(std::move(deciding));
}

void Records::refresh() {
  state_->with_database([&](Connection& connection) {
    if (connection.number("PRAGMA data_version") != state_->seen_version) state_->publish();
  });
}

bool Records::durable() const {
  const std::lock_guard lock(state_->database);
  return state_->file.durable();
}

std::string Records::path() const {
  const std::lock_guard lock(state_->database);
  return state_->file.path;
}

}  // namespace hstujit
