// Threads that compile ahead: what is taken when, and what they say of their time.
#include "tuner/compile_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>

namespace hstujit {
namespace {

using namespace std::chrono_literals;

Order order(uint64_t ticket, const std::string& name = "") {
  return {ticket, nullptr, nullptr, {}, [name] {
            Source source;
            source.name = name;
            return source;
          }};
}

KernelPtr kernel() { return std::make_shared<const CompiledKernel>(); }

TEST(CompilePool, GivesKernelsAsTheyAreFinished) {
  std::latch second_is_done{1};
  CompilePool pool(2, [&](const Source& source) {
    if (source.name == "slow") second_is_done.wait();
    return kernel();
  });
  pool.order(order(1, "slow"));
  pool.order(order(2));
  const auto first = pool.take(pool.now() + 60);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->ticket, 2u);
  second_is_done.count_down();
  const auto then = pool.take(pool.now() + 60);
  ASSERT_TRUE(then);
  EXPECT_EQ(then->ticket, 1u);
  EXPECT_FALSE(pool.take(pool.now() + 60)) << "at once: nothing is on its way";
}

TEST(CompilePool, WaitsNoLongerThanAsked) {
  std::latch enough{1};
  CompilePool pool(1, [&](const Source&) {
    enough.wait();
    return kernel();
  });
  pool.order(order(1));
  const double begun = pool.now();
  EXPECT_FALSE(pool.take(begun + 0.02));
  EXPECT_GE(pool.now() - begun, 0.02);
  EXPECT_LT(pool.now() - begun, 10);
  enough.count_down();
}

TEST(CompilePool, SaysWhatItDropped) {
  std::latch begun{1}, enough{1};
  CompilePool pool(1, [&](const Source& source) {
    if (source.name == "first") begun.count_down();
    enough.wait();
    return kernel();
  });
  pool.order(order(1, "first"));
  begun.wait();
  pool.order(order(2));
  pool.order(order(3));
  EXPECT_EQ(pool.drop_waiting(), (std::vector<uint64_t>{2, 3}));
  enough.count_down();
  EXPECT_EQ(pool.take(pool.now() + 60)->ticket, 1u);
  EXPECT_FALSE(pool.take(pool.now() + 60));
}

TEST(CompilePool, DropsWhatItIsTold) {
  std::latch begun{1}, enough{1};
  CompilePool pool(1, [&](const Source& source) {
    if (source.name == "first") begun.count_down();
    enough.wait();
    return kernel();
  });
  pool.order(order(1, "first"));
  begun.wait();
  for (const uint64_t ticket : {2, 3, 4}) pool.order(order(ticket));
  EXPECT_EQ(pool.drop([](uint64_t ticket) { return ticket != 3; }), (std::vector<uint64_t>{2, 4})) << "1 has begun";
  enough.count_down();
  EXPECT_EQ(pool.take(pool.now() + 60)->ticket, 1u);
  EXPECT_EQ(pool.take(pool.now() + 60)->ticket, 3u);
  EXPECT_FALSE(pool.take(pool.now() + 60));
}

TEST(CompilePool, FindsWhatNeedsNoCompiler) {
  int compiled = 0;
  const auto compile = [&](const Source&) {
    ++compiled;
    return kernel();
  };
  CompilePool pool(1, compile, [](const Source& source) { return source.name == "kept" ? kernel() : nullptr; });
  const auto kept = pool.find(order(7, "kept"));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->ticket, 7u);
  EXPECT_TRUE(kept->kernel);
  EXPECT_FALSE(pool.find(order(8, "new")));
  EXPECT_FALSE(CompilePool(1, compile).find(order(9, "kept"))) << "nobody knows";
  EXPECT_EQ(compiled, 0);
}

TEST(CompilePool, CountsTheTimeOfItsCores) {
  CompilePool pool(2, [&](const Source&) {
    std::this_thread::sleep_for(30ms);
    return kernel();
  });
  pool.order(order(1));
  pool.order(order(2));
  const auto one = pool.take(pool.now() + 60), other = pool.take(pool.now() + 60);
  ASSERT_TRUE(one && other);
  EXPECT_GE(one->seconds, 0.03);
  EXPECT_GE(pool.busy(), 0.06);
  const double busy = pool.busy();
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(pool.busy(), busy) << "nobody works";
}

}  // namespace
}  // namespace hstujit
