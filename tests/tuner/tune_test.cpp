// The orchestrator with a bench and a compiler made of tables: no GPU, no NVRTC, every circumstance at will.
#include "tuner/tune.hpp"

#include "support/captured_log.hpp"
#include "support/error.hpp"
#include "support/temp_dir.hpp"
#include "tuner/fixtures.hpp"
#include "tuner/space.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <latch>
#include <map>
#include <set>

namespace hstujit {
namespace {

using test::TempDir;

// ---- A family of 4 x 5 = 20 configurations, and a large one of 4 x 5 x 32 = 640

constexpr int32_t kTiles[] = {16, 32, 64, 128};
constexpr int32_t kStages[] = {1, 2, 3, 4, 5};
constexpr int32_t kUnroll[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                               17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
constexpr Knob kSmall[] = {{"tile", kTiles, ""}, {"stages", kStages, ""}};
constexpr Knob kLarge[] = {{"tile", kTiles, ""}, {"stages", kStages, ""}, {"unroll", kUnroll, ""}};

Family family_of(std::string_view name, std::span<const Knob> knobs) {
  Family f{};
  f.name = name;
  f.op = Op::layer_norm;
  f.min_compute_capability = 80;
  f.knobs = knobs;
  f.covers = [](const Problem&, const DeviceFacts&) { return true; };
  f.default_config = [](const Problem&, const DeviceFacts&) { return Config{{16, 1}}; };
  f.resources = [](const Problem&, const Config& c) { return Resources{128, 64 * c[0] * c[1], 32, 1}; };
  f.write_config = [](ConfigText& out, const Problem&, const Config& c) {
    out.constant("kTile", c[0]);
    out.constant("kStages", c[1]);
  };
  return f;
}
const Family kToy = family_of("toy_sm80", kSmall);
const Family kToyNew = family_of("toy_sm90", kSmall);
const Family kBig = family_of("big_sm80", kLarge);

const Problem kProblem = test::rows_problem(4096);
const DeviceFacts kDevice = *facts_of_target("sm_90a");

/// What a configuration does, by its text; everything else takes `usual`.
struct Behaviour {
  double seconds = 100e-6;
  bool compiles = true, flawed = false, right = true, launches = true, kills_device = false;
};

class TableBench : public Bench {
 public:
  std::map<std::string, Behaviour> table;
  std::function<double(const Candidate&)> time;  ///< overrides seconds
  std::vector<std::string> verified, measured;   ///< in order; measured once per repetition
  std::function<void(const std::string&)> on_measure;
  bool dead = false;

  const Behaviour& of(const std::string& config) const {
    static const Behaviour usual;
    const auto found = table.find(config);
    return found == table.end() ? usual : found->second;
  }

  Verdict verify(const Candidate& c) override {
    const std::string name = text(*c.family, c.config);
    verified.push_back(name);
    if (dead || !of(name).launches) {
      dead = dead || of(name).kills_device;
      fail(HSTU_ERROR_DEVICE, "CUDA_ERROR_ILLEGAL_ADDRESS");
    }
    if (!c.standard && !standard_verified_) ADD_FAILURE() << "the default must be verified first";
    standard_verified_ = true;
    return {of(name).right, of(name).right ? "" : "row 3 differs by 0.5"};
  }

  Sample measure(const Candidate& c, int repetitions) override {
    const std::string name = text(*c.family, c.config);
    if (on_measure) on_measure(name);
    Sample sample;
    for (int i = 0; i < repetitions; ++i) {
      measured.push_back(name);
      const double noise = 1 + 1e-4 * static_cast<double>(measured.size() % 7);
      sample.seconds.push_back((time ? time(c) : of(name).seconds) * noise);
    }
    return sample;
  }

  bool alive() override { return !dead; }

  /// Different configurations that were measured.
  std::set<std::string> seen() const { return {measured.begin(), measured.end()}; }

 private:
  bool standard_verified_ = false;
};

/// A compiler that does as the bench's table says. Source::name ends with the configuration's text.
Compile compiler(const TableBench& bench) {
  return [&bench](const Source& source) -> KernelPtr {
    auto kernel = std::make_shared<CompiledKernel>();
    kernel->name = source.name;
    kernel->compiler = "NVRTC 13.0 test";
    kernel->registers = 40;
    for (const auto& [config, behaviour] : bench.table) {
      if (!source.name.ends_with(config)) continue;
      if (!behaviour.compiles) fail(HSTU_ERROR_COMPILE, "error: no");
      if (behaviour.flawed) kernel->spill_bytes = 16;
    }
    return kernel;
  };
}

/// Kernels come at once, in the order of their orders: what is decided then depends on the tuner alone.
class OrderlyCores : public Cores {
 public:
  explicit OrderlyCores(const TableBench& bench) : compile_(compiler(bench)) {}
  size_t count() const override { return 4; }
  double now() const override { return 0; }
  std::optional<Compiled> find(const Order&) override { return std::nullopt; }
  void order(Order order) override { done_.push_back(make(order)); }
  std::optional<Compiled> take(double) override {
    if (done_.empty()) return std::nullopt;
    Compiled first = std::move(done_.front());
    done_.pop_front();
    return first;
  }
  Compiled make(const Order& order) override { return {order.ticket, compile_(order.source()), nullptr, 0.1}; }
  std::vector<uint64_t> drop(const std::function<bool(uint64_t)>&) override { return {}; }
  double busy() const override { return 0; }

 private:
  const Compile compile_;
  std::deque<Compiled> done_;
};

/// A kernel is made when somebody waits for it, the one that was ordered first.
class LazyCores : public Cores {
 public:
  explicit LazyCores(const TableBench& bench) : compile_(compiler(bench)) {}
  std::vector<std::pair<Problem, std::string>> made;  ///< in order
  size_t count() const override { return 4; }
  double now() const override { return 0; }
  std::optional<Compiled> find(const Order&) override { return std::nullopt; }
  void order(Order order) override { waiting_.push_back(std::move(order)); }
  std::optional<Compiled> take(double until) override {
    if (waiting_.empty() || until <= now()) return std::nullopt;
    const Order first = std::move(waiting_.front());
    waiting_.pop_front();
    made.emplace_back(*first.problem, text(*first.family, first.config));
    return make(first);
  }
  Compiled make(const Order& order) override { return {order.ticket, compile_(order.source()), nullptr, 0.1}; }
  std::vector<uint64_t> drop(const std::function<bool(uint64_t)>& which) override {
    std::vector<uint64_t> dropped;
    for (const Order& order : waiting_)
      if (which(order.ticket)) dropped.push_back(order.ticket);
    std::erase_if(waiting_, [&](const Order& order) { return which(order.ticket); });
    return dropped;
  }
  double busy() const override { return 0; }

 private:
  const Compile compile_;
  std::deque<Order> waiting_;
};

TuneTask task(std::vector<const Family*> families = {&kToy}) {
  return {kProblem, kDevice, std::move(families), {"NVIDIA H200", "", "digest", "0.1.0", 13000}};
}

TuneOptions options() {
  TuneOptions o;
  o.compile_threads = 2;
  return o;
}

const Trial& trial_of(const std::vector<Job>& jobs, const std::string& config) {
  for (const Job& job : jobs)
    for (const Trial& t : job.trials)
      if (t.config == config && t.stage == Stage::search) return t;
  throw std::runtime_error("no trial of " + config);
}

class Tune : public testing::Test {
 protected:
  /// On cores that are the same every time.
  static TuneResult run_orderly(TableBench& bench, Records& records, const TuneTask& t, const TuneOptions& o) {
    struct Same : Bench {
      explicit Same(Bench& b) : bench(b) {}
      Verdict verify(const Candidate& c) override { return bench.verify(c); }
      Sample measure(const Candidate& c, int repetitions) override { return bench.measure(c, repetitions); }
      bool alive() override { return bench.alive(); }
      Bench& bench;
    };
    OrderlyCores cores(bench);
    const std::vector<TuneProblem> alone = {{t, 1, [&] { return std::make_unique<Same>(bench); }}};
    const auto outcomes = tune(alone, records, cores, o);
    if (outcomes[0].error) std::rethrow_exception(outcomes[0].error);
    return *outcomes[0].result;
  }
  TuneResult run(const TuneOptions& o = options(), const TuneTask& t = task()) {
    return tune(t, records, bench, compiler(bench), o);
  }
  std::string winner() const {
    const auto record = records.find(kProblem, kDevice.device_class());
    return record ? record->trial.config : "none";
  }

  Records records{RecordsOptions{"", ""}};
  TableBench bench;
};

TEST_F(Tune, FindsTheFastestAndShowsItToFind) {
  bench.table["tile=64 stages=3"].seconds = 60e-6;
  bench.table["tile=32 stages=2"].seconds = 70e-6;
  const TuneResult result = run();
  EXPECT_EQ(winner(), "tile=64 stages=3");
  EXPECT_EQ(result.record.trial.config, "tile=64 stages=3");
  EXPECT_EQ(result.measured, 20);
  EXPECT_EQ(result.failed, 0);
  EXPECT_NEAR(static_cast<double>(result.record.standard_ns), 100'000, 100);
  EXPECT_EQ(result.record.evidence.compiler, "NVRTC 13.0 test");
  EXPECT_EQ(result.record.trial.stage, Stage::finals);
  EXPECT_EQ(records.jobs()[0].state, JobState::finished);
}

TEST_F(Tune, KeepsTheDefaultWhenNothingIsReallyFaster) {
  bench.table["tile=64 stages=3"].seconds = 99.8e-6;
  run();
  EXPECT_EQ(winner(), "tile=16 stages=1");
}

TEST_F(Tune, NothingUnsoundWinsHoweverFast) {
  bench.table["tile=32 stages=1"] = {1e-6, false, false, true, true, false};
  bench.table["tile=32 stages=2"] = {1e-6, true, true, true, true, false};
  bench.table["tile=32 stages=3"] = {1e-6, true, false, false, true, false};
  bench.table["tile=32 stages=4"] = {1e-6, true, false, true, false, false};
  bench.table["tile=32 stages=5"].seconds = 80e-6;
  const TuneResult result = run();
  EXPECT_EQ(winner(), "tile=32 stages=5");
  EXPECT_EQ(result.failed, 4);
  const auto jobs = records.jobs();
  EXPECT_EQ(trial_of(jobs, "tile=32 stages=1").status, TrialStatus::compile_failed);
  EXPECT_EQ(trial_of(jobs, "tile=32 stages=2").status, TrialStatus::flawed);
  EXPECT_EQ(trial_of(jobs, "tile=32 stages=3").status, TrialStatus::wrong);
  EXPECT_EQ(trial_of(jobs, "tile=32 stages=4").status, TrialStatus::failed);
  const auto seen = bench.seen();
  for (const char* config : {"tile=32 stages=1", "tile=32 stages=2", "tile=32 stages=3", "tile=32 stages=4"})
    EXPECT_FALSE(seen.contains(config)) << config;
}

TEST_F(Tune, EveryMeasuredConfigurationWasVerified) {
  run();
  for (const std::string& config : bench.seen())
    EXPECT_EQ(std::count(bench.verified.begin(), bench.verified.end(), config), 1) << config;
  EXPECT_EQ(bench.verified.front(), "tile=16 stages=1");
}

TEST_F(Tune, SlowConfigurationsAreAbandonedEarly) {
  bench.table["tile=64 stages=3"].seconds = 131e-6;
  bench.table["tile=64 stages=4"].seconds = 128e-6;
  run();
  const auto jobs = records.jobs();
  EXPECT_EQ(trial_of(jobs, "tile=64 stages=3").status, TrialStatus::slow);
  EXPECT_EQ(trial_of(jobs, "tile=64 stages=3").timing.samples, 3);
  EXPECT_EQ(trial_of(jobs, "tile=64 stages=4").status, TrialStatus::ok);
  EXPECT_GT(trial_of(jobs, "tile=64 stages=4").timing.samples, 3);
}

TEST_F(Tune, FinalsTakeTurnsAndAlwaysIncludeTheDefault) {
  bench.table["tile=64 stages=3"].seconds = 60.0e-6;
  bench.table["tile=64 stages=4"].seconds = 60.3e-6;
  bool finals = false;
  std::vector<std::string> order;
  TuneOptions o = options();
  o.progress = [&](const TuneProgress& p) { finals = finals || p.finals; };
  bench.on_measure = [&](const std::string& config) {
    if (finals) order.push_back(config);
  };
  run(o);
  const std::set<std::string> expected = {"tile=16 stages=1", "tile=64 stages=3", "tile=64 stages=4"};
  ASSERT_EQ(order.size(), 18u);
  for (size_t round = 0; round < 6; ++round)
    EXPECT_EQ(std::set<std::string>(order.begin() + 3 * round, order.begin() + 3 * round + 3), expected);
  EXPECT_NE(order[0], order[3]);  // not always the same one first
}

TEST_F(Tune, TiesGoToLessSharedMemory) {
  bench.table["tile=128 stages=5"].seconds = 60.00e-6;
  bench.table["tile=32 stages=2"].seconds = 60.02e-6;
  run();
  EXPECT_EQ(winner(), "tile=32 stages=2");
}

TEST_F(Tune, TheFinalsCorrectALuckyGuess) {
  // Fast while searched, slow ever after.
  bench.table["tile=64 stages=3"].seconds = 80e-6;
  int runs = 0;
  bench.time = [&](const Candidate& c) {
    const std::string name = text(*c.family, c.config);
    if (name == "tile=32 stages=1") return ++runs <= 15 ? 79.5e-6 : 95e-6;
    return bench.of(name).seconds;
  };
  run();
  EXPECT_EQ(winner(), "tile=64 stages=3");
}

// ---- Interruptions

TEST_F(Tune, CancellingKeepsWhatIsKnownAndResumingRepeatsNone) {
  bench.table["tile=64 stages=3"].seconds = 60e-6;
  std::atomic<bool> cancel{false};
  TuneOptions o = options();
  o.cancel = &cancel;
  o.progress = [&](const TuneProgress& p) { cancel = p.done >= 7; };
  const TuneResult first = run(o);
  EXPECT_TRUE(first.cancelled());
  EXPECT_EQ(first.measured, 7);
  EXPECT_NE(winner(), "none");
  EXPECT_EQ(records.jobs()[0].state, JobState::cancelled);
  const std::set<std::string> before = bench.seen();
  bench.measured.clear();
  bool finals = false;
  std::set<std::string> searched;
  TuneOptions rest = options();
  rest.progress = [&](const TuneProgress& p) { finals = finals || p.finals; };
  bench.on_measure = [&](const std::string& config) {
    if (!finals) searched.insert(config);
  };
  const TuneResult second = run(rest);
  EXPECT_EQ(second.reused, 7);
  EXPECT_EQ(second.measured, 13);
  EXPECT_FALSE(searched.empty());
  for (const std::string& config : searched) EXPECT_FALSE(before.contains(config)) << config;
  EXPECT_EQ(records.jobs().size(), 1u);
  EXPECT_EQ(winner(), "tile=64 stages=3");
}

TEST_F(Tune, CancelledBeforeAnythingIsKnownIsAnError) {
  const std::atomic<bool> cancel{true};
  TuneOptions o = options();
  o.cancel = &cancel;
  EXPECT_THROW(tune(
                   task(), records, bench,
                   [&](const Source& source) {
                     std::this_thread::sleep_for(std::chrono::milliseconds(200));
                     return compiler(bench)(source);
                   },
                   o),
               Error);
  EXPECT_EQ(winner(), "none");
}

TEST_F(Tune, CancellingIsPrompt) {
  std::atomic<bool> cancel{false};
  TuneOptions o = options();
  o.cancel = &cancel;
  o.progress = [&](const TuneProgress&) { cancel = true; };
  const auto start = std::chrono::steady_clock::now();
  std::atomic<int> compiled{0};
  tune(
      task(), records, bench,
      [&](const Source& source) {
        if (compiled++ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return compiler(bench)(source);
      },
      o);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1000));
  EXPECT_LT(compiled.load(), 6);
}

// T7. Measurements are counted as the bench makes them, in the search and in the finals.
TEST(TuneProcess, ARunThatIsKilledAgainAndAgainRepeatsNothing) {
  TempDir store;
  TableBench bench;
  bench.table["tile=64 stages=3"].seconds = 60e-6;
  void* const shared = mmap(nullptr, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  size_t& begun = *new (shared) size_t{0};  // configurations that the last run searched, the one under measurement, too
  const auto killed_after = [&](int measurements) {
    begun = 0;
    const pid_t child = fork();
    if (child == 0) {
      Records records(RecordsOptions{store.str(), ""});
      int made = 0;
      bool finals = false;
      TuneOptions o = options();
      o.progress = [&](const TuneProgress& p) { finals = finals || p.finals; };
      bench.on_measure = [&](const std::string& config) {
        std::set<std::string> searched = bench.seen();
        searched.insert(config);
        if (!finals) begun = searched.size();
        if (made++ == measurements) kill(getpid(), SIGKILL);
      };
      tune(task(), records, bench, compiler(bench), o);
      _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status);
  };
  const auto known = [&] {
    size_t trials = 0;
    for (const Job& job : Records(RecordsOptions{store.str(), ""}).jobs()) trials += job.trials.size();
    return trials;
  };
  size_t before = 0;
  for (int run = 0; before < 20; ++run) {
    ASSERT_TRUE(killed_after(3 + run)) << run;  // each configuration takes one or two measurements
    const size_t now = known();
    EXPECT_GE(now + 1, before + begun) << "at most the one under measurement is lost";
    EXPECT_GT(now, before);
    before = now;
  }
  EXPECT_EQ(before, 20u);
  ASSERT_TRUE(killed_after(4)) << "in the finals";
  EXPECT_EQ(known(), 20u);
  Records records(RecordsOptions{store.str(), ""});
  std::set<std::string> searched;
  TuneOptions o = options();
  bool finals = false;
  o.progress = [&](const TuneProgress& p) { finals = finals || p.finals; };
  bench.on_measure = [&](const std::string& config) {
    if (!finals) searched.insert(config);
  };
  const TuneResult result = tune(task(), records, bench, compiler(bench), o);
  EXPECT_TRUE(searched.empty()) << *searched.begin() << " was known";
  EXPECT_EQ(result.reused, 20);
  EXPECT_EQ(result.measured, 0);
  EXPECT_EQ(result.record.trial.config, "tile=64 stages=3");
  EXPECT_EQ(records.jobs().size(), 1u);
  munmap(shared, sizeof(size_t));
}

TEST_F(Tune, StopsWithItsBudgetAndStillHoldsFinals) {
  bench.table["tile=16 stages=2"].seconds = 60e-6;
  bench.on_measure = [](const std::string&) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); };
  TuneOptions o = options();
  o.budget_ms = 60;
  const TuneResult result = run(o);
  EXPECT_TRUE(result.out_of_time());
  EXPECT_FALSE(result.cancelled());
  EXPECT_LT(result.measured, 20);
  EXPECT_GE(result.measured, 1);
  EXPECT_NE(winner(), "none");
}

TEST_F(Tune, AFinishedJobIsNotRepeatedUnlessAsked) {
  bench.table["tile=64 stages=3"].seconds = 60e-6;
  run();
  const size_t before = bench.measured.size();
  const TuneResult known = run();
  EXPECT_EQ(bench.measured.size(), before);
  EXPECT_EQ(known.measured, 0);
  EXPECT_EQ(known.record.trial.config, "tile=64 stages=3");
  TuneOptions again = options();
  again.again = true;
  EXPECT_EQ(run(again).measured, 20);
  EXPECT_EQ(records.jobs().size(), 2u);
}

TEST_F(Tune, TunedAgainWhatWonMeetsTheFinalistsAndStaysUnlessClearlyBeaten) {
  bench.table["tile=64 stages=3"].seconds = 60e-6;
  bench.table["tile=32 stages=2"].seconds = 60.7e-6;
  run();
  TuneOptions again = options();
  again.again = true;
  std::swap(bench.table["tile=64 stages=3"].seconds, bench.table["tile=32 stages=2"].seconds);
  EXPECT_EQ(run(again).record.trial.config, "tile=64 stages=3");
  EXPECT_EQ(winner(), "tile=64 stages=3");
  bench.table["tile=64 stages=3"].seconds = 65e-6;  // too slow for the finals, but for what it was
  const TuneResult result = run(again);
  EXPECT_EQ(result.record.trial.config, "tile=32 stages=2");
  EXPECT_EQ(winner(), "tile=32 stages=2");
  const std::vector<Trial> trials = records.jobs().back().trials;
  EXPECT_TRUE(std::any_of(trials.begin(), trials.end(),
                          [](const Trial& t) { return t.stage == Stage::finals && t.config == "tile=64 stages=3"; }));
}

TEST_F(Tune, OtherKernelSourcesMeanAnotherJob) {
  run();
  TuneTask other = task();
  other.evidence.kernels = "another digest";
  EXPECT_EQ(run(options(), other).measured, 20);
  EXPECT_EQ(records.jobs().size(), 2u);
}

// ---- Trouble

TEST_F(Tune, ADefaultThatIsWrongIsAnError) {
  bench.table["tile=16 stages=1"].right = false;
  try {
    run();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), HSTU_ERROR_TUNING);
    EXPECT_NE(e.message().find("row 3 differs"), std::string::npos);
  }
}

TEST_F(Tune, NothingMoreIsCompiledForAProblemWhoseDefaultIsWrong) {
  LazyCores cores(bench);
  const auto make = [](bool right) {
    auto made = std::make_unique<TableBench>();
    made->table["tile=16 stages=1"].right = right;
    return made;
  };
  TuneTask other = task();
  other.problem = test::rows_problem(1 << 20);
  const auto outcomes =
      tune(std::vector<TuneProblem>{{task(), 1, [&] { return make(false); }}, {other, 1, [&] { return make(true); }}},
           records, cores, options());
  EXPECT_TRUE(outcomes[0].error);
  ASSERT_TRUE(outcomes[1].result);
  EXPECT_EQ(outcomes[1].result->measured, 20) << "others go on";
  const auto made_of = [&](const Problem& problem) {
    return std::ranges::count_if(cores.made, [&](const auto& one) { return one.first == problem; });
  };
  EXPECT_EQ(made_of(kProblem), 1) << "the default; what was ordered beside it was dropped";
  EXPECT_EQ(made_of(other.problem), 20);
}

TEST_F(Tune, NothingIsCompiledBeforeTheVerdictOnADefaultThatIsKept) {
  std::atomic<int> compiled{0};
  const Compile compile = compiler(bench);
  const auto count = [&](const Source& source) {
    ++compiled;
    return compile(source);
  };
  const auto recall = [&](const Source& source) {
    return source.name.ends_with("tile=16 stages=1") ? compile(source) : nullptr;
  };
  CompilePool pool(2, count, recall);
  const auto outcome = [&] {
    return tune(std::vector<TuneProblem>{{task(), 1,
                                          [&] {
                                            EXPECT_EQ(compiled.load(), 0);
                                            auto made = std::make_unique<TableBench>();
                                            made->table = bench.table;
                                            return made;
                                          }}},
                records, pool, options())
        .front();
  };
  bench.table["tile=16 stages=1"].right = false;
  EXPECT_TRUE(outcome().error);
  EXPECT_EQ(compiled.load(), 0);
  bench.table.clear();
  const TuneOutcome right = outcome();
  ASSERT_TRUE(right.result);
  EXPECT_EQ(right.result->measured, 20);
  EXPECT_GE(compiled.load(), 19) << "and finalists again, which a real compiler remembers";
}

TEST_F(Tune, ADefaultThatDoesNotCompileIsTheCompilersError) {
  bench.table["tile=16 stages=1"].compiles = false;
  try {
    run();
    FAIL();
  } catch (const Error& e) { EXPECT_EQ(e.status(), HSTU_ERROR_COMPILE); }
}

TEST_F(Tune, AKernelThatBreaksTheDeviceIsRecordedAndLeftOutNextTime) {
  bench.table["tile=32 stages=3"] = {1e-6, true, false, true, false, true};
  try {
    run();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), HSTU_ERROR_DEVICE);
    EXPECT_NE(e.message().find("tile=32 stages=3"), std::string::npos);
  }
  TableBench fresh;  // of a new process
  fresh.table = bench.table;
  const TuneResult result = tune(task(), records, fresh, compiler(fresh), options());
  EXPECT_EQ(std::count(fresh.verified.begin(), fresh.verified.end(), "tile=32 stages=3"), 0);
  EXPECT_EQ(result.reused + result.measured, 20);
}

TEST_F(Tune, AnUnknownStrategyIsNamed) {
  TuneOptions o = options();
  o.strategy = "magic";
  EXPECT_THROW(run(o), Error);
}

// ---- Search, families, threads

TEST_F(Tune, LargeSpacesAreSearchedInPartAndDeterministically) {
  const auto time = [](const Candidate& c) {
    const auto square = [](double x) { return x * x; };
    return 1e-4 * (1 + 0.01 * square(c.config[0] / 16.0 - 4) + 0.05 * square(c.config[1] - 4) +
                   0.002 * square(c.config[2] - 20));
  };
  std::vector<std::string> orders[2];
  for (auto& order : orders) {
    TableBench big;
    big.time = time;
    Records own(RecordsOptions{"", ""});
    std::atomic<bool> cancel{false};
    TuneOptions o = options();
    o.cancel = &cancel;
    o.progress = [&](const TuneProgress& p) { cancel = p.done >= 64; };
    const TuneResult result = run_orderly(big, own, task({&kBig}), o);
    order = big.verified;
    EXPECT_LT(static_cast<double>(result.record.trial.timing.median_ns), 1.02e5);
  }
  EXPECT_EQ(orders[0], orders[1]);
}

TEST_F(Tune, EveryFamilyOfTheProblemCompetes) {
  bench.time = [](const Candidate& c) { return c.family == &kToyNew && c.config[0] == 64 ? 50e-6 : 100e-6; };
  run(options(), task({&kToy, &kToyNew}));
  const auto record = records.find(kProblem, kDevice.device_class());
  EXPECT_EQ(record->trial.family, "toy_sm90");
  EXPECT_EQ(bench.verified.size(), 40u);
  EXPECT_NEAR(static_cast<double>(record->standard_ns), 100'000, 200);
}

TEST_F(Tune, StartsFromWhatNeighboursFoundGood) {
  Job neighbour = test::job("n", test::rows_problem(8192));
  neighbour.device_class = kDevice.device_class();
  neighbour.trials = {test::standard_trial(100'000), test::trial("tile=128 stages=4", 50'000)};
  for (Trial& t : neighbour.trials) t.family = "toy_sm80";
  records.absorb({neighbour});
  run_orderly(bench, records, task(), options());
  ASSERT_GE(bench.verified.size(), 2u);
  EXPECT_EQ(bench.verified[1], "tile=128 stages=4");
}

TEST_F(Tune, CompilesAheadInABoundedNumberOfThreads) {
  std::atomic<int> now{0}, over{0}, together{0};
  TuneOptions o = options();
  o.compile_threads = 3;
  tune(
      task(), records, bench,
      [&](const Source& source) {
        const int others = now.fetch_add(1);
        if (others >= 3) over.fetch_add(1);
        if (others > 0) together.fetch_add(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        now.fetch_sub(1);
        return compiler(bench)(source);
      },
      o);
  EXPECT_EQ(over.load(), 0);
  EXPECT_GT(together.load(), 0);
}

TEST_F(Tune, MakesItsBenchWhileTheDefaultIsCompiled) {
  std::latch open{1};
  CompilePool pool(1, [&](const Source& source) {
    open.wait();  // for ever, if the bench waited for the kernel
    return compiler(bench)(source);
  });
  const std::vector<TuneProblem> alone = {{task(), 1, [&] {
                                             open.count_down();
                                             auto made = std::make_unique<TableBench>();
                                             made->table = bench.table;
                                             return made;
                                           }}};
  const auto outcomes = tune(alone, records, pool, options());
  ASSERT_TRUE(outcomes[0].result);
  EXPECT_EQ(outcomes[0].result->measured, 20);
}

TEST_F(Tune, ABenchThatCannotBeMadeIsTheProblemsError) {
  CompilePool pool(1, compiler(bench));
  const auto refuse = []() -> std::unique_ptr<Bench> { fail(HSTU_ERROR_OUT_OF_MEMORY, "no room"); };
  const auto make = [] { return std::make_unique<TableBench>(); };
  TuneTask other = task();
  other.problem = test::rows_problem(1 << 20);
  const auto outcomes = tune(std::vector<TuneProblem>{{task(), 1, refuse}, {other, 1, make}}, records, pool, options());
  ASSERT_TRUE(outcomes[0].error);
  try {
    std::rethrow_exception(outcomes[0].error);
  } catch (const Error& error) { EXPECT_EQ(error.status(), HSTU_ERROR_OUT_OF_MEMORY); }
  EXPECT_TRUE(outcomes[1].result) << "others go on";
}

TEST_F(Tune, ABrokenDeviceEndsAllProblemsAndBlamesOne) {
  CompilePool pool(1, compiler(bench));
  bench.table["tile=32 stages=3"] = {1e-6, true, false, true, false, true};
  const auto make = [&] {
    auto made = std::make_unique<TableBench>();
    made->table = bench.table;
    return made;
  };
  TuneTask other = task();
  other.problem = test::rows_problem(1 << 20);
  const auto outcomes = tune(std::vector<TuneProblem>{{task(), 1, make}, {other, 1, make}}, records, pool, options());
  int failed = 0;
  for (const TuneOutcome& outcome : outcomes) EXPECT_TRUE(outcome.error);
  for (const Job& job : records.jobs())
    for (const Trial& trial : job.trials) failed += trial.status == TrialStatus::failed;
  EXPECT_EQ(failed, 1);
}

TEST_F(Tune, ProgressCountsUpToAll) {
  std::vector<TuneProgress> seen;
  TuneOptions o = options();
  o.progress = [&](const TuneProgress& p) { seen.push_back(p); };
  bench.table["tile=64 stages=3"].seconds = 60e-6;
  run(o);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().done, 20);
  EXPECT_EQ(seen.back().total, 20);
  EXPECT_NEAR(seen.back().best_seconds, 60e-6, 1e-7);
  EXPECT_NEAR(seen.back().standard_seconds, 100e-6, 1e-7);
  EXPECT_TRUE(seen.back().finals);
  for (size_t i = 1; i < seen.size(); ++i) EXPECT_GE(seen[i].done, seen[i - 1].done);
}

}  // namespace
}  // namespace hstujit
