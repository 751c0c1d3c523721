// A tuning database as somebody else may have left it: other definitions under our names, numbers that cannot be, no
// file at all, locked for ever. It is left out or set aside, soon; nothing of it is computed with.
#include "records/records.hpp"
#include "records/tuner_file.hpp"
#include "support/captured_log.hpp"
#include "support/error.hpp"
#include "support/temp_dir.hpp"
#include "tuner/fixtures.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

namespace hstujit {
namespace {

namespace fs = std::filesystem;
using test::kDevice;
using test::rows_problem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class ForeignDatabase : public testing::Test {
 protected:
  void SetUp() override {
    Job job = test::job("one", rows_problem(4096));
    job.trials = {test::standard_trial(9'000), test::trial("tile=32 stages=2", 8'000)};
    Records(options()).absorb({job});
  }
  RecordsOptions options() const { return {store_.str(), ""}; }
  std::string path() const { return store_.str() + "/tuner.db"; }
  /// As the owner of the file can: without any of this library's care.
  void run(const std::string& sql) const {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &db), SQLITE_OK);
    char* why = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &why), SQLITE_OK) << why;
    sqlite3_free(why);
    sqlite3_close(db);
  }
  int set_aside() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(store_.path()))
      count += entry.path().filename().string().find("damaged") != std::string::npos;
    return count;
  }
  bool knows() const { return Records(options()).find(rows_problem(4096), kDevice).has_value(); }

  test::TempDir store_;
};

// ---- Definitions

constexpr const char* kEndless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS problem_id, '' AS device_class, i AS "
    "seq, i AS token FROM n";

TEST_F(ForeignDatabase, WithViewsInThePlaceOfTablesIsSetAside) {
  for (const std::string table : {"winner", "problem", "env", "space", "change", "trial", "job"}) {
    run("DROP TABLE " + table + "; CREATE VIEW " + table + " AS " + kEndless);
    test::CapturedLog log;
    const auto start = Clock::now();
    EXPECT_FALSE(knows()) << table;
    EXPECT_LT(seconds_since(start), 5);
    EXPECT_EQ(set_aside(), 1) << table;
    EXPECT_EQ(log.lines(), 1) << log.str();
    fs::remove_all(store_.path());
    SetUp();
  }
}

TEST_F(ForeignDatabase, WithCodeOrTablesOfOthersIsSetAside) {
  for (const char* sql :
       {"CREATE VIEW seen AS SELECT * FROM winner", "DROP TRIGGER winner_put",
        "CREATE TRIGGER mine AFTER INSERT ON trial BEGIN DELETE FROM winner; END",
        "DROP TABLE change; CREATE TABLE change(seq INTEGER PRIMARY KEY, token, problem_id, device_class)",
        "ALTER TABLE winner ADD COLUMN x INTEGER AS (abs(median_ns))"}) {
    run(sql);
    test::CapturedLog log;
    EXPECT_FALSE(knows()) << sql;
    EXPECT_EQ(set_aside(), 1) << sql;
    fs::remove_all(store_.path());
    SetUp();
  }
}

TEST_F(ForeignDatabase, WithTablesAndIndicesBesideOursIsTaken) {
  run("CREATE TABLE notes(text); CREATE INDEX faster ON trial(median_ns); ANALYZE");
  test::CapturedLog log;
  EXPECT_TRUE(knows());
  EXPECT_EQ(log.str(), "");
}

TEST_F(ForeignDatabase, OfTheFirstVersionIsTaken) {
  run("DROP TRIGGER winner_put; DROP TRIGGER winner_dropped; DROP TABLE change; PRAGMA user_version = 1");
  run("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ' CHECK(length(uid) BETWEEN 1 AND "
      "32)', '') WHERE name = 'job'; PRAGMA writable_schema = RESET");
  test::CapturedLog log;
  EXPECT_TRUE(knows());
  EXPECT_EQ(log.str(), "");
  EXPECT_EQ(set_aside(), 0);
}

TEST_F(ForeignDatabase, CannotMakeOneStepLastForEver) {
  Connection connection(path(), Connection::Mode::read_only);
  Connection::Limits past{{}, Clock::now() - std::chrono::seconds(1)};
  sqlite3_progress_handler(
      connection.get(), 1000,
      [](void* limits) { return int{Clock::now() > static_cast<decltype(past)*>(limits)->step}; }, &past);
  EXPECT_THROW(connection.number("SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
                                 "n) SELECT i FROM n)"),
               DatabaseError);
}

TEST_F(ForeignDatabase, RunsNoViews) {
  run("CREATE VIEW seen AS SELECT 1");
  Connection connection(path(), Connection::Mode::read_only);
  EXPECT_THROW(connection.number("SELECT * FROM seen"), DatabaseError);
}

// ---- Numbers

TEST_F(ForeignDatabase, RowsWithNumbersThatCannotBeAreLeftOut) {
  for (const char* sql :
       {"UPDATE winner SET median_ns = -1", "UPDATE winner SET median_ns = 0", "UPDATE winner SET samples = 1 << 40",
        "UPDATE winner SET stage = 9", "UPDATE winner SET status = -1", "UPDATE winner SET standard_ns = -5",
        "UPDATE winner SET env_id = 77", "UPDATE winner SET space_id = -1",
        // The operator's number, first of the bytes: far outside of the list of operators.
        "UPDATE problem SET key = CAST(x'ffffff7f' || substr(key, 5) AS BLOB)",
        "UPDATE problem SET key = CAST(zeroblob(124) || x'07000000' AS BLOB)",
        "UPDATE winner SET registers = 1 << 33"}) {
    run(sql);
    test::CapturedLog log;
    Records records(options());
    EXPECT_FALSE(records.find(rows_problem(4096), kDevice)) << sql;
    EXPECT_TRUE(records.neighbours(rows_problem(1024), kDevice, 5).empty()) << sql;
    EXPECT_TRUE(records.durable()) << sql;
    EXPECT_EQ(log.lines(), 1) << log.str();
    fs::remove_all(store_.path());
    SetUp();
  }
}

TEST_F(ForeignDatabase, TrialsWithNumbersThatCannotBeDecideNothing) {
  run("UPDATE trial SET median_ns = -1 WHERE standard = 0; UPDATE winner SET median_ns = -1");
  test::CapturedLog log;
  Records records(options());
  Job again = test::job("one", rows_problem(4096));
  records.close(again);
  const auto record = records.find(rows_problem(4096), kDevice);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->trial.timing.median_ns, 9'000);
  EXPECT_EQ(records.jobs().front().trials.size(), 1u);
  run("UPDATE job SET state = 5");
  EXPECT_TRUE(records.jobs().empty());
}

TEST_F(ForeignDatabase, DataThatItRefusesLeavesItInUse) {
  Records records(options());
  test::CapturedLog log;
  Job job = test::job("two", rows_problem(4096));
  job.device_class.assign(size_t{17} << 20, 'x');
  try {
    records.close(job);
    ADD_FAILURE();
  } catch (const Error& error) { EXPECT_EQ(error.status(), HSTU_ERROR_STORE); }
  EXPECT_TRUE(records.durable());
  EXPECT_EQ(log.str(), "");
}

// ---- Files that are none

TEST_F(ForeignDatabase, ThatIsAPipeIsLeftOutAtOnce) {
  for (const char* suffix : {"", "-journal", "-wal"}) {
    fs::remove(path() + suffix);
    ASSERT_EQ(mkfifo((path() + suffix).c_str(), 0600), 0);
    test::CapturedLog log;
    const auto start = Clock::now();
    Records records(options());
    EXPECT_LT(seconds_since(start), 1) << suffix;
    EXPECT_FALSE(records.durable()) << suffix;
    EXPECT_EQ(log.lines(), 1) << log.str();
    Records below(RecordsOptions{"", store_.str()});
    EXPECT_FALSE(below.find(rows_problem(4096), kDevice));
    EXPECT_THROW(Records(RecordsOptions{"", ""}).merge(path()), Error);
    fs::remove_all(store_.path());
    SetUp();
  }
}

// ---- Locks

TEST_F(ForeignDatabase, ThatIsLockedForEverCostsTwoSecondsAtStart) {
  sqlite3* holder = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &holder), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(holder, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  test::CapturedLog log;
  const auto start = Clock::now();
  Records records(options());
  EXPECT_LT(seconds_since(start), 3.5);
  EXPECT_FALSE(records.durable());
  EXPECT_EQ(log.lines(), 1) << log.str();
  sqlite3_close(holder);
}

TEST_F(ForeignDatabase, WhoseRepairIsLockedIsLeftOut) {
  fs::resize_file(path(), 4096 + 7);
  const int lock = ::open((path() + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  EXPECT_THROW(set_aside_if_damaged(path(), patience_of(std::chrono::milliseconds(50))), DatabaseError);
  ::close(lock);
}

}  // namespace
}  // namespace hstujit
