// Every system call that the stores make fails once, with every errno that disks are known for: no call of ours fails
// with it, what was said to be kept is there afterwards, and no wrong kernel is ever taken.
#include "faults/faults.hpp"

#include "jit/disk_store.hpp"
#include "jit/tiny_kernel.hpp"
#include "records/records.hpp"
#include "tuner/fixtures.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace hstujit::test {
namespace {

namespace fs = std::filesystem;

constexpr int kMostCalls = 400;  // far more than any of the works below makes

/// Runs work(folder) in fresh folders until a run gets through without meeting its fault; `after` looks at each folder.
/// Returns how many runs met one.
template <class Work, class After>
int sweep(int error, bool lasting, Work work, After after) {
  for (int nth = 0; nth < kMostCalls; nth += nth < 24 ? 1 : 4) {
    const TempDir dir;
    bool struck = false;
    {
      const Faults faults(nth, error, lasting);
      work(dir.str() + "/store");
      struck = faults.struck();
    }
    SCOPED_TRACE(std::string(strerror(error)) + " from call " + std::to_string(nth));
    after(dir.str() + "/store");
    if (!struck) return nth;
  }
  ADD_FAILURE() << "never got through";
  return kMostCalls;
}

struct Case {
  int error;
  bool lasting;
};

class FaultOf : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Disks, FaultOf,
                         testing::Values(Case{ENOSPC, false}, Case{ENOSPC, true}, Case{EIO, false}, Case{EIO, true},
                                         Case{EACCES, false}, Case{EACCES, true}, Case{EROFS, true},
                                         Case{EMFILE, false}),
                         [](const auto& tested) {
                           return std::string(strerrorname_np(tested.param.error)) +
                                  (tested.param.lasting ? "ForGood" : "Once");
                         });

TEST_P(FaultOf, KernelStoreNeverFailsACallNorGivesAWrongKernel) {
  const KernelKey key(TinyKernels::source(1), Digest{1, 2});
  CompiledKernel kernel;
  kernel.name = "tiny";
  kernel.target = "sm_80";
  kernel.binary = std::string(5000, 'b');
  kernel.compiler = "NVRTC 13.0 abc";
  const auto right = [&](const std::optional<CompiledKernel>& found) {
    return !found || found->binary == kernel.binary;
  };
  const int met = sweep(
      GetParam().error, GetParam().lasting,
      [&](const std::string& folder) {
        DiskStore store(folder, DiskStore::Access::read_write);
        EXPECT_TRUE(right(store.load(key, kernel.compiler)));
        EXPECT_NE(store.lock(key, kernel.compiler).try_acquire(), KeyLock::State::busy) << "nobody else has it";
        store.publish(key, kernel);
        EXPECT_TRUE(right(store.load(key, kernel.compiler)));
        EXPECT_TRUE(right(store.load_any(key)));
        store.save_failure(key, "a unit");
      },
      [&](const std::string& folder) {
        DiskStore later(folder, DiskStore::Access::read_write);
        EXPECT_TRUE(right(later.load(key, kernel.compiler)));
        later.publish(key, kernel);
        EXPECT_TRUE(later.load(key, kernel.compiler)) << "the next process works as if nothing had been";
        EXPECT_EQ(later.damaged(), 0);
      });
  EXPECT_GE(met, 5) << "the sweep must reach open, write, fsync and rename";
}

TEST_P(FaultOf, RecordsAreKeptIfTheySaidSo) {
  const Job head = job("1", rows_problem(4096));
  int kept = 0;
  const int met = sweep(
      GetParam().error, GetParam().lasting,
      [&](const std::string& folder) {
        kept = 0;
        Records records({folder, ""});
        for (int i = 1; i <= 3; ++i) {
          records.save(head, i == 1 ? standard_trial(1000) : trial("tile=32 stages=" + std::to_string(i), 900));
          if (records.durable()) kept = i;
        }
        records.close(head);
      },
      [&](const std::string& folder) {
        const Records later({folder, ""});
        EXPECT_TRUE(later.durable());
        size_t found = 0;
        for (const Job& each : later.jobs(head.problem, kDevice)) found += each.trials.size();
        EXPECT_GE(found, static_cast<size_t>(kept)) << "trials that were said to be on disk";
      });
  EXPECT_GE(met, 10) << "the sweep must reach SQLite's journal and file";
}

}  // namespace
}  // namespace hstujit::test
