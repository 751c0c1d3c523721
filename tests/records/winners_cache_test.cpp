// Very many winners come from a copy beside the database: fast, never stale, and never needed.
#include "records/winners_cache.hpp"

#include "records/records.hpp"
#include "records/schema.hpp"
#include "support/cpu_time.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"
#include "tuner/fixtures.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace hstujit::test {
namespace {

namespace fs = std::filesystem;

/// n decided problems.
std::vector<Job> jobs(int n, int64_t median_ns = 900) {
  std::vector<Job> all;
  for (int i = 0; i < n; ++i) {
    Job j = job(fmt::format("{:08x}", i), rows_problem(4096, i + 1));
    j.trials = {standard_trial(1000), trial("tile=32 stages=2", median_ns)};
    all.push_back(std::move(j));
  }
  return all;
}

class WinnersCache : public testing::Test {
 protected:
  RecordsOptions store() const { return {dir_.str(), ""}; }
  fs::path cache() const { return dir_.path() / "winners.cache"; }
  static int64_t time_of(const Records& records, int dim) {
    const auto record = records.find(rows_problem(4096, dim), kDevice);
    return record ? record->trial.timing.median_ns : -1;
  }
  std::string bytes() const {
    std::ifstream in(cache(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  TempDir dir_;
};

constexpr int kMany = static_cast<int>(kWorthCaching) + 500;

TEST_F(WinnersCache, GivesTheSameAnswers) {
  Records(store()).absorb(jobs(kMany));
  std::vector<Record> slow, fast;
  {
    const Records first(store());
    slow = first.winners()->all();
    ASSERT_TRUE(fs::exists(cache())) << "the first start with so many leaves a copy";
  }
  const Records second(store());
  fast = second.winners()->all();
  ASSERT_EQ(slow.size(), static_cast<size_t>(kMany));
  ASSERT_EQ(fast.size(), slow.size());
  for (size_t i = 0; i < slow.size(); ++i) {
    ASSERT_EQ(fast[i].problem, slow[i].problem);
    ASSERT_EQ(fast[i].trial, slow[i].trial);
    ASSERT_EQ(fast[i].evidence, slow[i].evidence);
    ASSERT_EQ(fast[i].job, slow[i].job);
    ASSERT_EQ(fast[i].standard_ns, slow[i].standard_ns);
  }
  EXPECT_EQ(second.winners()->neighbours(rows_problem(2048, 7), kDevice, 1).size(), 1u);
}

TEST_F(WinnersCache, IsNeverBelievedAfterAChange) {
  Records(store()).absorb(jobs(kMany));
  { const Records leaves_a_copy(store()); }
  Job better = job("ffffffff", rows_problem(4096, 5));
  better.updated_ms += 10;
  better.trials = {standard_trial(1000), trial("tile=64 stages=2", 100)};
  Records(store()).absorb({better});
  EXPECT_EQ(time_of(Records(store()), 5), 100);
  EXPECT_EQ(time_of(Records(store()), 6), 900);
}

TEST_F(WinnersCache, IsNotBelievedForAnotherDatabase) {
  Records(store()).absorb(jobs(kMany));
  { const Records leaves_a_copy(store()); }
  fs::remove(dir_.path() / "tuner.db");
  EXPECT_EQ(Records(store()).winners()->size(), 0u);
}

TEST_F(WinnersCache, DamageCostsTimeOnly) {
  Records(store()).absorb(jobs(kMany));
  { const Records leaves_a_copy(store()); }
  const std::string sound = bytes();
  for (size_t i = 0; i < sound.size(); i += sound.size() / 37) {
    std::string damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    std::ofstream(cache(), std::ios::binary) << damaged;
    ASSERT_EQ(Records(store()).winners()->size(), static_cast<size_t>(kMany)) << "byte " << i;
  }
  std::ofstream(cache(), std::ios::binary) << sound.substr(0, sound.size() / 2);
  EXPECT_EQ(Records(store()).winners()->size(), static_cast<size_t>(kMany));
  fs::remove(cache());
  fs::create_directory(cache());  // cannot be written
  EXPECT_EQ(Records(store()).winners()->size(), static_cast<size_t>(kMany));
}

TEST_F(WinnersCache, FewWinnersNeedNone) {
  Records(store()).absorb(jobs(10));
  { const Records start(store()); }
  EXPECT_FALSE(fs::exists(cache()));
}

TEST_F(WinnersCache, BytesOfForgedTablesAreRefused) {
  Winners winners;
  EXPECT_TRUE(Winners::of_bytes(winners.bytes()));
  EXPECT_FALSE(Winners::of_bytes(""));
  EXPECT_FALSE(Winners::of_bytes(std::string(1000, 'x')));
}

// Reading the copy is all that grows with the winners; a database of so many takes half a minute to fill.
TEST_F(WinnersCache, PrintsTheTimeOfALargeStart) {
  constexpr int kWinners = 100'000;
  Winners many;
  Record record;
  record.device_class = kDevice;
  record.trial = trial("tile=32 stages=2", 900);
  for (int i = 0; i < kWinners; ++i) {
    record.problem = rows_problem(4096, i + 1);
    many.add(record);
  }
  std::ofstream(cache(), std::ios::binary) << many.bytes();
  double best_ms = 1e9;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t start = std::clock();
    std::string read;
    ASSERT_EQ(read_file(cache().string(), read), 0);
    const auto winners = Winners::of_bytes(read);
    best_ms = std::min(best_ms, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    ASSERT_TRUE(winners);
    ASSERT_EQ(winners->size(), static_cast<size_t>(kWinners));
  }
  std::printf("%d winners from their copy: %.1f ms of CPU\n", kWinners, best_ms);
  RecordProperty("start_ms", std::to_string(best_ms));
  EXPECT_LT(best_ms, 100 * test::sanitizer_share(10))
      << "the promise is 25 ms on an idle machine; row by row it takes more than 100";
}

// ---- Changes: read alone, from wherever a state of this database is known

std::vector<std::pair<Problem, Trial>> contents(const Records& records) {
  std::vector<std::pair<Problem, Trial>> out;
  for (const Record& r : records.winners()->all()) out.emplace_back(r.problem, r.trial);
  return out;
}

Job better(int dim, int round) {
  Job one = job(fmt::format("b{}-{}", dim, round), rows_problem(4096, dim));
  one.updated_ms += 1 + round;
  one.trials = {standard_trial(1000), trial("tile=64 stages=2", 800 - round)};
  return one;
}

TEST_F(WinnersCache, ProcessesFollowEachOthersChanges) {
  Records ours(store()), theirs(store());
  ours.absorb(jobs(30));
  for (int round = 0; round < 40; ++round) {
    (round % 2 ? ours : theirs).absorb({better(1 + round * 7 % 50, round)});
    ours.refresh();
    theirs.refresh();
    if (round % 8 == 0)
      Connection(dir_.str() + "/tuner.db", Connection::Mode::writable)
          .run(fmt::format("DELETE FROM winner WHERE problem_id = {}", 1 + round));
    ours.refresh();
    theirs.refresh();
    const Records fresh(store());
    ASSERT_EQ(contents(ours), contents(fresh)) << round;
    ASSERT_EQ(contents(theirs), contents(fresh)) << round;
  }
}

TEST_F(WinnersCache, AWinnerThatIsGoneShowsTheOneBeneath) {
  const TempDir system;
  Records({system.str(), ""}).absorb({better(7, 0)});
  Records records({dir_.str(), system.str()});
  records.absorb({better(7, 100)});
  EXPECT_EQ(time_of(records, 7), 700);
  Connection(dir_.str() + "/tuner.db", Connection::Mode::writable).run("DELETE FROM winner");
  records.refresh();
  EXPECT_EQ(time_of(records, 7), 800);
}

TEST_F(WinnersCache, AnotherHistoryIsReadWhole) {
  Records(store()).absorb(jobs(kMany));
  { const Records leaves_a_copy(store()); }
  const fs::path database = dir_.path() / "tuner.db", saved = dir_.path() / "saved.db";
  fs::copy_file(database, saved);
  Records(store()).absorb({better(3, 1)});
  { const Records keeps_the_copy(store()); }
  // Back to the saved database, which then goes another way with as many changes.
  fs::copy_file(saved, database, fs::copy_options::overwrite_existing);
  Records(store()).absorb({better(4, 1)});
  Records(store()).absorb({better(5, 1)});
  const Records records(store());
  EXPECT_EQ(time_of(records, 3), 900);
  EXPECT_EQ(time_of(records, 4), 799);
  EXPECT_EQ(time_of(records, 5), 799);
}

TEST_F(WinnersCache, ADatabaseOfVersionOneLearnsToTellItsChanges) {
  Records(store()).absorb(jobs(5));
  Connection(dir_.str() + "/tuner.db", Connection::Mode::writable)
      .run("DROP TRIGGER winner_put; DROP TRIGGER winner_dropped; DROP TABLE change; PRAGMA user_version = 1");
  Records first(store()), second(store());
  EXPECT_TRUE(first.durable());
  EXPECT_EQ(first.winners()->size(), 5u);
  EXPECT_TRUE(fs::exists(dir_.path() / "tuner.db.v1.bak"));
  second.absorb({better(2, 1)});
  first.refresh();
  EXPECT_EQ(time_of(first, 2), 799);
}

/// Stores `count` winners without trials, much faster than by deciding each.
void fill(const std::string& path, int count) {
  Connection connection(path, Connection::Mode::writable);
  Transaction transaction(connection);
  const int64_t layout = problem_layout();
  Statement problem(connection, "INSERT INTO problem(id, text, key, layout) VALUES(?,?,?,?)");
  for (int i = 0; i < count; ++i) {
    const Problem p = rows_problem(2048, i + 1);
    problem.bind(int64_t{1000} + i, text(p), std::as_bytes(std::span(&p, 1)), layout).run();
  }
  connection.run(
      "INSERT INTO winner SELECT id, 'NVIDIA H200 sm_90a', 'x', 1, 1, 'tile=32 stages=2', 1, 0, 0, 30, 900, 1, 1, 1, "
      "0, 0, "
      "0, 0, 0, 1000 FROM problem WHERE id >= 1000");
  transaction.commit();
}

TEST_F(WinnersCache, PrintsTheTimeOfAChangeAmongMany) {
  constexpr int kWinners = 100'000;
  Records(store()).absorb(jobs(1));
  fill(dir_.str() + "/tuner.db", kWinners);
  const auto cpu_ms = [](const auto& work) {
    const std::clock_t start = std::clock();
    work();
    return 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  const double whole = cpu_ms([&] { const Records row_by_row({dir_.str(), ""}); });  // and writes the copy
  fs::remove(cache());
  fs::create_directory(cache());
  const double read = cpu_ms([&] { const Records row_by_row(store()); });
  fs::remove(cache());
  { const Records leaves_a_copy(store()); }
  Records records(store()), other(store());
  double change = 1e9, follow = 1e9, start = 1e9;
  for (int i = 0; i < 5; ++i) {
    change = std::min(change, cpu_ms([&] { records.absorb({better(7, i)}); }));
    follow = std::min(follow, cpu_ms([&] { other.refresh(); }));
    start = std::min(start, cpu_ms([&] {
                       const Records fresh(store());
                       EXPECT_EQ(time_of(fresh, 7), 800 - i);
                       EXPECT_EQ(fresh.winners()->size(), static_cast<size_t>(kWinners) + 2);
                     }));
    EXPECT_EQ(time_of(records, 7), 800 - i);
    EXPECT_EQ(time_of(other, 7), 800 - i);
  }
  std::printf(
      "%d winners: row by row %.0f ms of CPU (%.0f with the copy written); a change %.2f ms, seen by another process "
      "after %.2f, start after a change %.1f\n",
      kWinners, read, whole, change, follow, start);
  EXPECT_LT(change, read / 10);
  EXPECT_LT(follow, read / 10);
  EXPECT_LT(start, read / 2);
}

}  // namespace
}  // namespace hstujit::test
