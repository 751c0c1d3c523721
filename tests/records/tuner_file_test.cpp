// The database as a file: damaged, newer, older, read-only, full, replaced, shared with processes that are killed.
#include "records/tuner_file.hpp"

#include "operators/norm/layer_norm.hpp"
#include "records/records.hpp"
#include "support/captured_log.hpp"
#include "support/storm.hpp"
#include "support/temp_dir.hpp"
#include "tuner/fixtures.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

namespace hstujit {
namespace {

namespace fs = std::filesystem;
using test::kDevice;
using test::rows_problem;
using test::TempDir;

RecordsOptions in(const fs::path& folder) { return {folder.string(), ""}; }

Job decided_job(const std::string& uid, int32_t rows) {
  Job j = test::job(uid, rows_problem(rows));
  j.trials = {test::standard_trial(10'000), test::trial("tile=32 stages=2", 8'000)};
  return j;
}

/// A store with `jobs` decided problems of dims 8, 16, ...
void fill(const fs::path& folder, int jobs = 1) {
  Records records(in(folder));
  std::vector<Job> all;
  for (int i = 0; i < jobs; ++i) {
    all.push_back(decided_job("job" + std::to_string(i), 1024));
    all.back().problem[layer_norm::kDim] = 8 * (i + 1);
  }
  records.absorb(all);
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Databases that were set aside.
int damaged_files(const fs::path& folder) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    count += name.find("damaged") != std::string::npos && !name.ends_with("-journal");
  }
  return count;
}

/// Everybody may read the folder and its database, nobody may write.
void write_protect(const fs::path& folder) {
  constexpr fs::perms kWrite = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  constexpr fs::perms kRead = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
  constexpr fs::perms kEnter = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  for (const auto& entry : fs::directory_iterator(folder)) fs::permissions(entry.path(), kRead);
  fs::permissions(folder, kRead | kEnter);
  fs::permissions(folder, kWrite, fs::perm_options::remove);
}

/// Works as a fresh store does: takes a job and answers from it.
void expect_usable(Records& records) {
  const Job j = decided_job("usable", 65536);
  for (const Trial& t : j.trials) records.save(j, t);
  records.close(j);
  const auto record = records.find(j.problem, kDevice);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->trial.config, "tile=32 stages=2");
}

// ---- Damage

TEST(TunerFile, ReplacesAFileThatIsNoDatabase) {
  TempDir store;
  write(store.path() / "tuner.db", std::string(5000, 'x'));
  test::CapturedLog log;
  Records records(in(store.path()));
  EXPECT_TRUE(records.durable());
  EXPECT_EQ(damaged_files(store.path()), 1);
  EXPECT_EQ(log.lines(), 1) << log.str();
  expect_usable(records);
}

TEST(TunerFile, ReplacesSomebodyElsesDatabase) {
  TempDir store;
  Connection((store.path() / "tuner.db").string(), Connection::Mode::writable).run("CREATE TABLE cookies(x)");
  test::CapturedLog log;
  Records records(in(store.path()));
  EXPECT_EQ(damaged_files(store.path()), 1);
  expect_usable(records);
}

TEST(TunerFile, StartsOverOnAnEmptyFile) {
  TempDir store;
  write(store.path() / "tuner.db", "");
  test::CapturedLog log;
  Records records(in(store.path()));
  EXPECT_EQ(log.str(), "");
  EXPECT_EQ(damaged_files(store.path()), 0);
  expect_usable(records);
}

TEST(TunerFile, SurvivesAnyFlippedByteAndAnyLength) {
  TempDir store;
  fill(store.path(), 40);
  const fs::path path = store.path() / "tuner.db";
  const std::string sound = bytes_of(path);
  std::mt19937_64 random(1);
  for (int round = 0; round < 24; ++round) {
    std::string broken = sound;
    if (round % 4 == 3) {
      broken.resize(random() % sound.size());
    } else {
      // The header and the first page decide most, so they are hit more often than their share.
      const size_t at = random() % (round % 4 == 0 ? 100 : round % 4 == 1 ? 4096 : sound.size());
      broken[at] = static_cast<char>(broken[at] ^ (1 << random() % 8));
    }
    for (const auto& entry : fs::directory_iterator(store.path())) fs::remove(entry.path());
    write(path, broken);
    test::CapturedLog log;
    Records records(in(store.path()));
    expect_usable(records);
    EXPECT_NO_THROW(records.jobs());
    EXPECT_NO_THROW(records.export_text());
  }
}

TEST(TunerFile, RepairsDamageThatHappensWhileOpen) {
  TempDir store;
  fill(store.path(), 40);
  Records records(in(store.path()));
  const fs::path path = store.path() / "tuner.db";
  const std::string sound = bytes_of(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file << std::string(sound.size(), '\xff');
  }
  test::CapturedLog log;
  expect_usable(records);
  EXPECT_EQ(damaged_files(store.path()), 1);
  EXPECT_TRUE(records.durable());
}

TEST(TunerFile, OnlyOneProcessSetsADamagedFileAside) {
  TempDir store;
  const std::string path = (store.path() / "tuner.db").string();
  fill(store.path());
  test::CapturedLog log;
  set_aside_if_damaged(path);  // as by the slower of two processes, when the new file is in place already
  EXPECT_EQ(damaged_files(store.path()), 0);
  EXPECT_TRUE(Records(in(store.path())).find(rows_problem(1024, 8), kDevice));
  EXPECT_EQ(log.str(), "");
}

TEST(TunerFile, FollowsWhenTheFileIsTakenAway) {
  TempDir store;
  Records records(in(store.path()));
  fs::remove(store.path() / "tuner.db");
  expect_usable(records);
  EXPECT_TRUE(Records(in(store.path())).find(rows_problem(65536), kDevice));
}

// ---- Versions

TEST(TunerFile, ANewerDatabaseIsReadButNotWritten) {
  TempDir store;
  fill(store.path());
  const fs::path path = store.path() / "tuner.db";
  Connection(path.string(), Connection::Mode::writable).run("PRAGMA user_version = 99");
  const std::string before = bytes_of(path);
  test::CapturedLog log;
  Records records(in(store.path()));
  EXPECT_FALSE(records.durable());
  EXPECT_EQ(log.lines(), 1) << log.str();
  EXPECT_TRUE(records.find(rows_problem(1024, 8), kDevice));
  expect_usable(records);
  EXPECT_TRUE(records.find(rows_problem(1024, 8), kDevice));
  EXPECT_EQ(bytes_of(path), before);
  EXPECT_EQ(damaged_files(store.path()), 0);
}

constexpr Migration kSteps[] = {{1, "ALTER TABLE thing ADD COLUMN b INTEGER NOT NULL DEFAULT 5"},
                                {2, "UPDATE thing SET b = a + 1"}};
constexpr Migration kBadStep[] = {{1, "ALTER TABLE thing ADD COLUMN b INTEGER; UPDATE nothing SET x = 1"}};
const Schema kOld{
    1, 4242, "PRAGMA application_id=4242; PRAGMA user_version=1; CREATE TABLE thing(a INTEGER) STRICT", {}};
const Schema kNew{3, 4242, "", kSteps};

TEST(Schema, MigratesForwardAndKeepsACopy) {
  TempDir folder;
  const std::string path = (folder.path() / "x.db").string();
  Connection connection(path, Connection::Mode::writable);
  ASSERT_EQ(prepare_schema(connection, path, kOld), SchemaState::current);
  connection.run("INSERT INTO thing VALUES(7)");
  const fs::path elsewhere = folder.path() / "elsewhere";
  fs::create_symlink(elsewhere, path + ".v1.bak");
  ASSERT_EQ(prepare_schema(connection, path, kNew), SchemaState::current);
  EXPECT_FALSE(fs::exists(elsewhere)) << "a link in the copy's place is not written through";
  EXPECT_EQ(connection.number("PRAGMA user_version"), 3);
  EXPECT_EQ(connection.number("SELECT b FROM thing"), 8);
  Connection copy(path + ".v1.bak", Connection::Mode::read_only);
  EXPECT_EQ(copy.number("PRAGMA user_version"), 1);
  EXPECT_EQ(copy.number("SELECT a FROM thing"), 7);
  EXPECT_EQ(prepare_schema(connection, path, kNew), SchemaState::current);
  EXPECT_EQ(prepare_schema(connection, path, kOld), SchemaState::newer);
}

TEST(Schema, AFailedMigrationChangesNothing) {
  TempDir folder;
  const std::string path = (folder.path() / "x.db").string();
  Connection connection(path, Connection::Mode::writable);
  prepare_schema(connection, path, kOld);
  EXPECT_THROW(prepare_schema(connection, path, Schema{2, 4242, "", kBadStep}), DatabaseError);
  EXPECT_EQ(connection.number("PRAGMA user_version"), 1);
  EXPECT_EQ(connection.number("SELECT count(*) FROM pragma_table_info('thing')"), 1);
}

TEST(Schema, OfTheRepositoryHasItsVersionAndIsStrict) {
  TunerFile file = open_in_memory();
  EXPECT_EQ(file.connection.number("PRAGMA user_version"), tuner_schema().version);
  EXPECT_EQ(file.connection.number("PRAGMA application_id"), tuner_schema().application_id);
  EXPECT_EQ(file.connection.number("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
                                   "AND strict = 0 AND name NOT LIKE 'sqlite_%'"),
            0);
  EXPECT_THROW(file.connection.run("INSERT INTO space(family, text) VALUES('x', x'00')"), DatabaseError);
}

// ---- Folders that cannot be written

/// Root may write everywhere; these tests are about everybody else.
class AsNobody {
 public:
  AsNobody() : root_(geteuid() == 0) {
    if (root_ && seteuid(65534) != 0) ADD_FAILURE() << "seteuid failed";
  }
  ~AsNobody() {
    if (root_ && seteuid(0) != 0) ADD_FAILURE() << "seteuid failed";
  }

 private:
  bool root_;
};

TEST(TunerFile, AnUnwritableFolderMeansMemoryAndOneWarning) {
  TempDir store;
  write_protect(store.path());
  test::CapturedLog log;
  const AsNobody nobody;
  Records records(in(store.path()));
  EXPECT_FALSE(records.durable());
  expect_usable(records);
  EXPECT_EQ(log.lines(), 1) << log.str();
}

TEST(TunerFile, RecordsInAnUnwritableFolderAreStillRead) {
  TempDir store;
  fill(store.path());
  write_protect(store.path());
  test::CapturedLog log;
  const AsNobody nobody;
  Records records(in(store.path()));
  EXPECT_FALSE(records.durable());
  EXPECT_TRUE(records.find(rows_problem(1024, 8), kDevice));
  expect_usable(records);
  EXPECT_EQ(log.lines(), 1) << log.str();
}

TEST(TunerFile, AFolderThatCannotBeMadeMeansMemory) {
  TempDir store;
  write(store.path() / "file", "x");
  test::CapturedLog log;
  Records records(in(store.path() / "file" / "below"));
  EXPECT_FALSE(records.durable());
  expect_usable(records);
  EXPECT_EQ(log.lines(), 1) << log.str();
}

TEST(TunerFile, AFullDiskMeansMemoryAndKeepsWhatIsKnown) {
  TempDir store;
  fill(store.path(), 3);
  Records records(in(store.path()));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 16;
  setrlimit(RLIMIT_FSIZE, &small);
  test::CapturedLog log;
  expect_usable(records);
  expect_usable(records);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(records.durable());
  EXPECT_EQ(log.lines(), 1) << log.str();
  EXPECT_TRUE(records.find(rows_problem(1024, 8), kDevice));
  EXPECT_TRUE(Records(in(store.path())).find(rows_problem(1024, 8), kDevice));
}

TEST(TunerFile, ASystemDatabaseIsReadWithoutLocksOrWrites) {
  TempDir store, system;
  fill(system.path());
  const fs::path path = system.path() / "tuner.db";
  const std::string before = bytes_of(path);
  write_protect(system.path());
  Records records(RecordsOptions{"", system.str()});
  EXPECT_TRUE(records.find(rows_problem(1024, 8), kDevice));
  expect_usable(records);
  EXPECT_EQ(bytes_of(path), before);
}

TEST(TunerFile, ADamagedSystemDatabaseIsLeftOutWithAWarning) {
  TempDir system;
  write(system.path() / "tuner.db", std::string(5000, 'x'));
  test::CapturedLog log;
  Records records(RecordsOptions{"", system.str()});
  expect_usable(records);
  EXPECT_EQ(log.lines(), 1);
  EXPECT_EQ(damaged_files(system.path()), 0);
}

// ---- Processes

TEST(TunerFile, AForkedChildOpensItsOwnConnection) {
  TempDir store;
  Records records(in(store.path()));
  expect_usable(records);
  const pid_t child = fork();
  if (child == 0) {
    const Job j = decided_job("child", 2048);
    for (const Trial& t : j.trials) records.save(j, t);
    records.close(j);
    _exit(records.find(j.problem, kDevice) && records.durable() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  records.refresh();
  EXPECT_TRUE(records.find(rows_problem(2048), kDevice));
  EXPECT_EQ(records.jobs().size(), 2u);
}

constexpr int kProcesses = 3, kThreads = 2;

/// One process of the storm: saves until it is killed, and says so of every trial after save() has returned.
[[noreturn]] void storm(const fs::path& store, int process, int round, int pipe) {
  Records records(in(store));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const Job j = test::job("job" + std::to_string(process) + "-" + std::to_string(t),
                              rows_problem(1024, 8 * (t + 1)), JobState::running);
      for (int i = 0;; ++i) {
        const Trial trial = test::trial("tile=" + std::to_string(round) + " stages=" + std::to_string(i), 9'000);
        records.save(j, trial);
        if (!records.durable()) _exit(3);
        const std::string line = j.uid + ' ' + trial.config + '\n';
        if (::write(pipe, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(2);
        if (i % 7 == 6) records.close(j);
      }
    });
  for (std::thread& thread : threads) thread.join();
  _exit(1);
}

TEST(TunerFile, AKillStormLosesNoSavedTrial) {
  TempDir store;
  const int rounds = test::storm_rounds(24);
  std::set<std::string> acknowledged;
  std::mt19937 random(3);
  for (int round = 0; round < rounds; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    pid_t children[kProcesses];
    for (int p = 0; p < kProcesses; ++p) {
      children[p] = fork();
      ASSERT_GE(children[p], 0);
      if (children[p] == 0) storm(store.path(), p, round, ends[1]);
    }
    close(ends[1]);
    for (const pid_t child : children) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 80) * test::sanitizer_share(3));
      kill(child, SIGKILL);
      int status = 0;
      waitpid(child, &status, 0);
      EXPECT_TRUE(WIFSIGNALED(status)) << "a process of the storm gave up with " << WEXITSTATUS(status);
    }
    FILE* lines = fdopen(ends[0], "r");
    char line[256];
    while (std::fgets(line, sizeof line, lines)) acknowledged.insert(line);
    std::fclose(lines);
  }
  test::CapturedLog log;
  const Records records(in(store.path()));
  std::set<std::string> stored;
  for (const Job& j : records.jobs())
    for (const Trial& t : j.trials) stored.insert(j.uid + ' ' + t.config + '\n');
  std::vector<std::string> lost;
  std::set_difference(acknowledged.begin(), acknowledged.end(), stored.begin(), stored.end(), std::back_inserter(lost));
  std::printf("%d rounds of %d processes killed: %zu trials acknowledged, %zu lost\n", rounds, kProcesses,
              acknowledged.size(), lost.size());
  EXPECT_GT(acknowledged.size(), size_t{kProcesses});
  EXPECT_TRUE(lost.empty()) << lost.size() << " of " << acknowledged.size() << " lost, first " << lost.front();
  EXPECT_EQ(log.str(), "");
  Connection connection((store.path() / "tuner.db").string(), Connection::Mode::read_only);
  Statement check(connection, "PRAGMA integrity_check");
  ASSERT_TRUE(check.step());
  EXPECT_EQ(check.text(0), "ok");
  RecordProperty("acknowledged", static_cast<int>(acknowledged.size()));
}

}  // namespace
}  // namespace hstujit
