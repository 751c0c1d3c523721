// Jobs behind the caller's back: all of them run, a few at a time, and nobody is told too early.
#include "support/background.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace hstujit {
namespace {

using std::chrono::milliseconds;

TEST(Background, FinishWaitsForEveryJob) {
  Background background(3);
  std::atomic<int> done{0};
  for (int i = 0; i < 50; ++i)
    background.submit([&] {
      std::this_thread::sleep_for(milliseconds(1));
      ++done;
    });
  background.finish();
  EXPECT_EQ(done.load(), 50);
}

TEST(Background, FinishWithoutJobsReturnsAtOnce) { Background(2).finish(); }

TEST(Background, RunsAtMostSoManyAtATime) {
  Background background(2);
  std::atomic<int> running{0}, most{0};
  for (int i = 0; i < 20; ++i)
    background.submit([&] {
      const int now = ++running;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {}
      std::this_thread::sleep_for(milliseconds(2));
      --running;
    });
  background.finish();
  EXPECT_EQ(most.load(), 2);
}

TEST(Background, DestructionDropsWhatHasNotBegun) {
  std::atomic<int> begun{0};
  {
    Background background(1);
    for (int i = 0; i < 100; ++i)
      background.submit([&] {
        ++begun;
        std::this_thread::sleep_for(milliseconds(20));
      });
    while (begun == 0) std::this_thread::yield();
  }
  EXPECT_GE(begun.load(), 1);
  EXPECT_LT(begun.load(), 100);
}

TEST(Background, AJobMaySubmitAnother) {
  Background background(1);
  std::atomic<int> done{0};
  background.submit([&] {
    background.submit([&] { ++done; });
    ++done;
  });
  background.finish();
  EXPECT_EQ(done.load(), 2);
}

}  // namespace
}  // namespace hstujit
