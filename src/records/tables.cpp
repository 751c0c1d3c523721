#include "records/tables.hpp"

#include "operators/sound.hpp"
#include "records/decide.hpp"
#include "records/possible.hpp"
#include "records/schema.hpp"
#include "support/log.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace hstujit {
namespace {

// The columns that trial and winner share, in the order of with_columns() and read_columns().
#define HSTU_TRIAL_COLUMNS                                                                                            \
  "stage, standard, status, samples, median_ns, mad_ns, p20_ns, p80_ns, sm_mhz, registers, smem_bytes, spill_bytes, " \
  "at_ms"
constexpr int kTrialColumns = 13;

// Of two measurements of one configuration in one job the later stays; the other columns break ties, so that the result
// does not depend on the order of arrival.
constexpr const char* kPutTrial =
    "INSERT INTO trial(job_id, space_id, config, " HSTU_TRIAL_COLUMNS
    ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
    "ON CONFLICT(job_id, space_id, config, stage) DO UPDATE SET standard=excluded.standard, status=excluded.status, "
    "samples=excluded.samples, median_ns=excluded.median_ns, mad_ns=excluded.mad_ns, p20_ns=excluded.p20_ns, "
    "p80_ns=excluded.p80_ns, sm_mhz=excluded.sm_mhz, registers=excluded.registers, smem_bytes=excluded.smem_bytes, "
    "spill_bytes=excluded.spill_bytes, at_ms=excluded.at_ms "
    "WHERE (excluded.at_ms, excluded.standard, excluded.status, excluded.samples, excluded.median_ns, "
    "excluded.mad_ns, excluded.p20_ns, excluded.p80_ns, excluded.sm_mhz, excluded.registers, excluded.smem_bytes, "
    "excluded.spill_bytes) > (trial.at_ms, trial.standard, trial.status, trial.samples, trial.median_ns, "
    "trial.mad_ns, trial.p20_ns, trial.p80_ns, trial.sm_mhz, trial.registers, trial.smem_bytes, trial.spill_bytes)";

constexpr const char* kUpdateJob =
    "UPDATE job SET seed=?1, budget_ms=?2, state=?3, started_ms=?4, updated_ms=?5 WHERE uid=?6 AND "
    "(?3, ?5, ?4, ?2, ?1) > (state, updated_ms, started_ms, budget_ms, seed)";

constexpr const char* kPutWinner =
    "INSERT OR REPLACE INTO winner(problem_id, device_class, job_uid, env_id, space_id, config, " HSTU_TRIAL_COLUMNS
    ", standard_ns) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

constexpr const char* kReadJobs =
    "SELECT j.id, j.uid, p.text, j.device_class, j.seed, j.budget_ms, j.state, j.started_ms, j.updated_ms, e.device, "
    "e.driver, e.compiler, e.kernels, e.library FROM job j JOIN problem p ON p.id = j.problem_id JOIN env e ON e.id = "
    "j.env_id";

constexpr const char* kReadTrials = "SELECT s.family, t.config, s.text, " HSTU_TRIAL_COLUMNS
                                    " FROM trial t JOIN space s ON s.id = t.space_id WHERE t.job_id = ?";

#define HSTU_WINNER_COLUMNS "w.job_uid, w.env_id, w.space_id, w.config, " HSTU_TRIAL_COLUMNS ", w.standard_ns "
constexpr const char* kReadWinners = "SELECT p.key, p.layout, p.text, w.device_class, " HSTU_WINNER_COLUMNS
                                     "FROM winner w JOIN problem p ON p.id = w.problem_id";

// Changed winners; where one was removed, the columns of winner are null.
constexpr const char* kReadChanges =
    "SELECT p.key, p.layout, p.text, c.device_class, " HSTU_WINNER_COLUMNS
    "FROM (SELECT DISTINCT problem_id, device_class FROM change WHERE seq > ?) c JOIN problem p ON p.id = c.problem_id "
    "LEFT JOIN winner w ON w.problem_id = c.problem_id AND w.device_class = c.device_class";

/// Runs `insert` with the values, then gives the id that `find` has for them.
template <class... Values>
int64_t id_of(Statement& insert, Statement& find, const Values&... values) {
  insert.bind(values...).run();
  find.bind(values...);
  if (!find.step()) throw DatabaseError(SQLITE_CORRUPT, "a row that was just written is not there");
  return find.number(0);
}

/// Calls use(stage, standard, ..., at_ms) with the shared columns of a trial.
template <class Use>
void with_columns(const Trial& t, Use use) {
  use(static_cast<int32_t>(t.stage), t.standard, static_cast<int32_t>(t.status), t.timing.samples, t.timing.median_ns,
      t.timing.mad_ns, t.timing.p20_ns, t.timing.p80_ns, t.sm_mhz, t.registers, t.smem_bytes, t.spill_bytes, t.at_ms);
}

/// Rows that a database of somebody else's may have and none of ours: counted, and told of once.
class LeftOut {
 public:
  LeftOut() = default;
  LeftOut(const LeftOut&) = delete;
  LeftOut& operator=(const LeftOut&) = delete;
  ~LeftOut() {
    if (rows_ > 0) log().warn("tuner: {} rows of a database are left out: {}", rows_, first_);
  }
  /// Whether there is a reason.
  bool because(Impossible reason) {
    if (reason.empty()) return false;
    if (rows_++ == 0) first_ = std::move(reason);
    return true;
  }

 private:
  int64_t rows_ = 0;
  Impossible first_;
};

/// Takes the columns of a row, each if its type can hold it.
class Columns {
 public:
  explicit Columns(const Statement& row, int first) : row_(row), next_(first) {}

  template <class T>
  void take(const char* name, T& out) {
    const int64_t value = row_.number(next_++);
    if (std::in_range<T>(value))
      out = static_cast<T>(value);
    else if (flaw_.empty())
      flaw_ = fmt::format("{} = {}: it does not fit", name, value);
  }
  template <class Enum>
  void take_enum(const char* name, Enum& out) {
    int32_t value = 0;
    take(name, value);
    out = static_cast<Enum>(value);
  }
  const Impossible& flaw() const { return flaw_; }

 private:
  const Statement& row_;
  int next_;
  Impossible flaw_;
};

/// What the row has that cannot be, else "".
Impossible read_columns(const Statement& row, int first, Trial& t) {
  Columns columns(row, first);
  int64_t standard = 0;
  columns.take_enum("stage", t.stage);
  columns.take("standard", standard);
  columns.take_enum("status", t.status);
  columns.take("samples", t.timing.samples);
  columns.take("median_ns", t.timing.median_ns);
  columns.take("mad_ns", t.timing.mad_ns);
  columns.take("p20_ns", t.timing.p20_ns);
  columns.take("p80_ns", t.timing.p80_ns);
  columns.take("sm_mhz", t.sm_mhz);
  columns.take("registers", t.registers);
  columns.take("smem_bytes", t.smem_bytes);
  columns.take("spill_bytes", t.spill_bytes);
  columns.take("at_ms", t.at_ms);
  t.standard = standard != 0;
  return columns.flaw().empty() ? impossible(t) : columns.flaw();
}

std::optional<Job> job_of(const Statement& row, LeftOut& left_out) {
  const auto problem = parse_problem(row.text(2));
  if (!problem) return std::nullopt;
  Job job;
  Columns columns(row, 4);
  int64_t seed = 0;
  columns.take("seed", seed);
  columns.take("budget_ms", job.budget_ms);
  columns.take_enum("state", job.state);
  columns.take("started_ms", job.started_ms);
  columns.take("updated_ms", job.updated_ms);
  job.uid = row.string(1);
  job.problem = *problem;
  job.device_class = row.string(3);
  job.seed = static_cast<uint64_t>(seed);
  job.evidence = {row.string(9), row.string(11), row.string(12), row.string(13), row.number(10)};
  if (left_out.because(columns.flaw()) || left_out.because(impossible(job))) return std::nullopt;
  return job;
}

void read_trials(Statement& trials, int64_t job_id, Job& job, LeftOut& left_out) {
  trials.bind(job_id);
  while (trials.step()) {
    Trial t;
    t.family = trials.string(0);
    t.config = trials.string(1);
    t.space = trials.string(2);
    if (!left_out.because(read_columns(trials, 3, t))) job.trials.push_back(std::move(t));
  }
}

}  // namespace

Writer::Writer(Connection& c)
    : connection_(c),
      reader_(c),
      insert_problem_(c,
                      "INSERT INTO problem(text, key, layout) VALUES(?,?,?) ON CONFLICT(text) DO UPDATE SET "
                      "key=excluded.key, layout=excluded.layout WHERE layout <> excluded.layout"),
      find_problem_(c, "SELECT id FROM problem WHERE text=?"),
      insert_env_(c, "INSERT OR IGNORE INTO env(device, driver, compiler, kernels, library) VALUES(?,?,?,?,?)"),
      find_env_(c, "SELECT id FROM env WHERE device=? AND driver=? AND compiler=? AND kernels=? AND library=?"),
      insert_space_(c, "INSERT OR IGNORE INTO space(family, text) VALUES(?,?)"),
      find_space_(c, "SELECT id FROM space WHERE family=? AND text=?"),
      insert_job_(c,
                  "INSERT OR IGNORE INTO job(uid, problem_id, device_class, env_id, seed, budget_ms, state, "
                  "started_ms, updated_ms) VALUES(?,?,?,?,?,?,?,?,?)"),
      update_job_(c, kUpdateJob),
      find_job_(c, "SELECT id FROM job WHERE uid=?"),
      put_trial_(c, kPutTrial),
      put_winner_(c, kPutWinner),
      drop_winner_(c, "DELETE FROM winner WHERE problem_id=? AND device_class=?") {}

int64_t Writer::problem_id(const Problem& problem) {
  const std::string words = text(problem);
  const auto [entry, added] = problems_.try_emplace(words);
  if (!added) return entry->second;
  static const int64_t layout = problem_layout();
  insert_problem_.bind(words, std::as_bytes(std::span(&problem, 1)), layout).run();
  find_problem_.bind(words);
  if (!find_problem_.step()) throw DatabaseError(SQLITE_CORRUPT, "a problem that was just written is not there");
  return entry->second = find_problem_.number(0);
}

int64_t Writer::env_id(const Evidence& e) {
  const auto [entry, added] = envs_.try_emplace(e);
  if (added) entry->second = id_of(insert_env_, find_env_, e.device, e.driver, e.compiler, e.kernels, e.library);
  return entry->second;
}

int64_t Writer::space_id(const std::string& family, const std::string& space) {
  const auto [entry, added] = spaces_.try_emplace({family, space});
  if (added) entry->second = id_of(insert_space_, find_space_, family, space);
  return entry->second;
}

int64_t Writer::job_id(const std::string& uid) {
  const auto [entry, added] = jobs_.try_emplace(uid);
  if (!added) return entry->second;
  find_job_.bind(uid);
  if (!find_job_.step()) throw DatabaseError(SQLITE_CORRUPT, "a trial's job is not there: " + uid);
  return entry->second = find_job_.number(0);
}

bool Writer::put_job(const Job& job) {
  const int32_t state = static_cast<int32_t>(job.state);
  insert_job_
      .bind(job.uid, problem_id(job.problem), job.device_class, env_id(job.evidence), job.seed, job.budget_ms, state,
            job.started_ms, job.updated_ms)
      .run();
  if (sqlite3_changes(connection_.get()) > 0) return true;
  update_job_.bind(job.seed, job.budget_ms, state, job.started_ms, job.updated_ms, job.uid).run();
  return false;
}

bool Writer::put_trial(const std::string& job_uid, const Trial& trial) {
  with_columns(trial, [&](const auto&... columns) {
    put_trial_.bind(job_id(job_uid), space_id(trial.family, trial.space), trial.config, columns...).run();
  });
  return sqlite3_changes(connection_.get()) > 0;
}

void Writer::put_winner(const Record& record) {
  const Trial& t = record.trial;
  with_columns(t, [&](const auto&... columns) {
    put_winner_
        .bind(problem_id(record.problem), record.device_class, record.job, env_id(record.evidence),
              space_id(t.family, t.space), t.config, columns..., record.standard_ns)
        .run();
  });
}

void Writer::decide_again(const Problem& problem, const std::string& device_class) {
  if (const auto record = decide(reader_.of({problem, device_class})))
    put_winner(*record);
  else
    drop_winner_.bind(problem_id(problem), device_class).run();
}

Reader::Reader(Connection& c)
    : all_(c, kReadJobs),
      some_(c, std::string(kReadJobs) + " WHERE p.text = ? AND j.device_class = ?"),
      trials_(c, kReadTrials) {}

std::vector<Job> Reader::all() { return jobs_of(all_.bind()); }

std::vector<Job> Reader::of(const ProblemOnDevice& only) {
  return jobs_of(some_.bind(text(only.problem), only.device_class));
}

std::vector<Job> Reader::jobs_of(Statement& heads) {
  std::vector<Job> jobs;
  LeftOut left_out;
  while (heads.step()) {
    auto job = job_of(heads, left_out);
    if (!job) continue;
    read_trials(trials_, heads.number(0), *job, left_out);
    jobs.push_back(std::move(*job));
  }
  heads.bind();  // a statement that is not reset keeps its lock
  sort_canonically(jobs);
  return jobs;
}

namespace {

/// Reads rows of kReadWinners and kReadChanges.
class WinnerRows {
 public:
  explicit WinnerRows(Connection& connection) {
    Statement env(connection, "SELECT id, device, driver, compiler, kernels, library FROM env");
    while (env.step())
      envs_[env.number(0)] = {env.string(1), env.string(3), env.string(4), env.string(5), env.number(2)};
    Statement space(connection, "SELECT id, family, text FROM space");
    while (space.step()) spaces_[space.number(0)] = {space.string(1), space.string(2)};
  }

  /// The record of the row, of which only problem and device class count when it was removed. Null when the problem is
  /// from a library with other fields: stale, not wrong; or when the row is none of ours.
  const Record* read(const Statement& row) {
    const std::string_view key = row.text(0);
    if (row.number(1) == layout_ && key.size() == sizeof record_.problem) {
      std::memcpy(&record_.problem, key.data(), key.size());
      if (!sound(record_.problem)) return left_out_.because("its problem is none"), nullptr;
    } else if (const auto parsed = parse_problem(row.text(2))) {
      record_.problem = *parsed;
    } else {
      return nullptr;
    }
    record_.device_class = row.text(3);
    record_.job = row.text(4);
    if (removed(row)) return &record_;
    const auto env = envs_.find(row.number(5));
    const auto space = spaces_.find(row.number(6));
    if (env == envs_.end() || space == spaces_.end()) return left_out_.because("it names no circumstances"), nullptr;
    record_.evidence = env->second;
    std::tie(record_.trial.family, record_.trial.space) = space->second;
    record_.trial.config = row.text(7);
    record_.standard_ns = row.number(8 + kTrialColumns);
    if (left_out_.because(read_columns(row, 8, record_.trial)) ||
        left_out_.because(impossible_standard(record_.standard_ns)))
      return nullptr;
    return &record_;
  }
  static bool removed(const Statement& row) { return row.text(4).empty(); }

 private:
  const int64_t layout_ = problem_layout();
  LeftOut left_out_;
  std::map<int64_t, Evidence> envs_;
  std::map<int64_t, std::pair<std::string, std::string>> spaces_;
  Record record_;
};

}  // namespace

void read_winners(Connection& connection, Winners& winners) {
  winners.reserve(winners.size() + static_cast<size_t>(connection.number("SELECT count(*) FROM winner")));
  WinnerRows rows(connection);
  Statement row(connection, kReadWinners);
  while (row.step())
    if (const Record* record = rows.read(row)) winners.add(*record);
}

Mark latest_mark(Connection& connection) {
  Statement last(connection, "SELECT seq, token FROM change ORDER BY seq DESC LIMIT 1");
  return last.step() ? Mark{last.number(0), last.number(1)} : Mark{};
}

std::optional<size_t> read_changes(Connection& connection, const Mark& since, const Winners& below, Winners& winners) {
  Statement known(connection, "SELECT 1 FROM change WHERE seq = ? AND token = ?");
  if (!known.bind(since.seq, since.token).step()) return std::nullopt;
  WinnerRows rows(connection);
  Statement row(connection, kReadChanges);
  row.bind(since.seq);
  size_t changed = 0;
  for (; row.step(); ++changed) {
    const Record* const record = rows.read(row);
    if (!record) continue;
    if (!WinnerRows::removed(row))
      winners.add(*record);
    else if (const auto beneath = below.find(record->problem, record->device_class))
      winners.add(*beneath);
    else
      winners.remove(record->problem, record->device_class);
  }
  return changed;
}

void sort_canonically(std::vector<Job>& jobs) {
  std::unordered_map<uint64_t, std::string> texts;  // of problems, by hash; one per problem instead of per comparison
  for (Job& job : jobs) {
    std::sort(job.trials.begin(), job.trials.end());
    std::string& words = texts[job.problem.hash()];
    if (words.empty()) words = text(job.problem);
  }
  std::sort(jobs.begin(), jobs.end(), [&](const Job& a, const Job& b) {
    if (a.device_class != b.device_class) return a.device_class < b.device_class;
    if (!(a.problem == b.problem)) return texts.at(a.problem.hash()) < texts.at(b.problem.hash());
    return std::tie(a.started_ms, a.uid) < std::tie(b.started_ms, b.uid);
  });
}

}  // namespace hstujit
