// The system has no threads to give, at first or at all: everything is done with fewer, down to none.
#include "faults/no_threads.hpp"

#include "faults/lives.hpp"
#include "operators/reference.hpp"
#include "support/background.hpp"
#include "support/threads.hpp"
#include "tuner/compile_pool.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <vector>

namespace hstujit::test {
namespace {

class LifeWithoutThreads : public testing::TestWithParam<Life> {};

INSTANTIATE_TEST_SUITE_P(Of, LifeWithoutThreads, testing::ValuesIn(kLives),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(LifeWithoutThreads, LacksNothing) {
  const LivesRoom room(GetParam());
  for (const int refused : {1, 2, 1'000'000}) EXPECT_EQ(room.live_without_threads(refused).wrong, "") << refused;
}

TEST(CallsWithoutThreads, TheOneAfterNotReadyCompiles) {
  for (const int refused : {1, 1'000'000}) EXPECT_EQ(call_until_ready(refused), "");
}

TEST(BackgroundWithoutThreads, FinishRunsTheJobs) {
  Background background(2);
  std::vector<int> ran;
  {
    const NoThreads none;
    for (int i = 0; i < 5; ++i) background.submit([&ran, i] { ran.push_back(i); });
    EXPECT_EQ(none.refused(), 5) << "each job is another chance";
    EXPECT_FALSE(background.has_threads());
    EXPECT_TRUE(ran.empty());
    background.finish();
  }
  EXPECT_EQ(ran, (std::vector{0, 1, 2, 3, 4}));
}

TEST(BackgroundWithoutThreads, ALaterThreadRunsWhatWaited) {
  Background background(2);
  std::atomic<int> ran{0};
  {
    const NoThreads none(1);
    background.submit([&] { ++ran; });
  }
  background.submit([&] { ++ran; });
  EXPECT_TRUE(background.has_threads());
  while (ran < 2) std::this_thread::yield();
  background.finish();
}

TEST(BackgroundWithoutThreads, DestructionDropsTheJobs) {
  bool ran = false;
  {
    const NoThreads none;
    Background background(2);
    background.submit([&] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

TEST(CompilePoolWithoutThreads, CompilesWhereItIsAsked) {
  const NoThreads none;
  CompilePool pool(4, [](const Source& source) -> KernelPtr {
    if (source.name == "bad") throw std::runtime_error("bad");
    return std::make_shared<const CompiledKernel>();
  });
  EXPECT_EQ(pool.count(), 1u) << "so many kernels at a time";
  const auto order = [&](uint64_t ticket, const std::string& name) {
    pool.order({ticket, nullptr, nullptr, {}, [name] {
                  Source source;
                  source.name = name;
                  return source;
                }});
  };
  order(1, "good");
  order(2, "bad");
  const auto good = pool.take(0), bad = pool.take(0);  // nobody else would have made them
  ASSERT_TRUE(good && bad);
  EXPECT_EQ(good->ticket, 1u);
  EXPECT_TRUE(good->kernel);
  EXPECT_EQ(bad->ticket, 2u);
  EXPECT_THROW(std::rethrow_exception(bad->error), std::runtime_error);
  EXPECT_FALSE(pool.take(1e9)) << "nothing is on its way";
}

TEST(LoopsWithoutThreads, GoOverEveryIndex) {
  for (const int refused : {0, 1, 1'000'000}) {
    const NoThreads none(refused);
    std::atomic<int> sum{0};
    reference::parallel_for(100, 1e9, [&](int64_t i) { sum += static_cast<int>(i); });
    EXPECT_EQ(sum, 4950) << refused;
    EXPECT_THROW(for_each_index(100, 4,
                                [](int64_t i) {
                                  if (i == 50) throw std::bad_alloc();
                                }),
                 std::bad_alloc);
  }
}

}  // namespace
}  // namespace hstujit::test
