// Kernels in memory: one attempt per key, failures are not kept, and what nobody holds may go.
#include "jit/kernel_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace hstujit {
namespace {

using Kernel = KernelMemory::Kernel;

Kernel kernel_of_size(int64_t bytes) {
  auto kernel = std::make_shared<CompiledKernel>();
  kernel->binary.resize(static_cast<size_t>(bytes));
  return kernel;
}

TEST(KernelMemory, OneThreadMakesAndTheOthersWait) {
  KernelMemory memory;
  std::atomic<int> made{0}, waited{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      bool known = false;
      memory.obtain(
          Digest{1, 1},
          [&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            ++made;
            return kernel_of_size(1);
          },
          &known);
      waited += known;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(waited, 7);
}

TEST(KernelMemory, DifferentKeysDoNotWaitForEachOther) {
  KernelMemory memory;
  bool known = true;
  const Kernel outer = memory.obtain(
      Digest{1, 1},
      [&] {
        bool inner_known = true;
        return memory.obtain(
            Digest{2, 2}, [] { return kernel_of_size(2); }, &inner_known);
      },
      &known);
  EXPECT_FALSE(known);
  EXPECT_EQ(memory.find(Digest{2, 2}), outer);
}

TEST(KernelMemory, AFailedAttemptIsNotKept) {
  KernelMemory memory;
  bool known = true;
  const auto broken = []() -> Kernel { throw std::runtime_error("no"); };
  EXPECT_THROW(memory.obtain(Digest{1, 1}, broken, &known), std::runtime_error);
  EXPECT_EQ(memory.find(Digest{1, 1}), nullptr);
  EXPECT_NE(memory.obtain(
                Digest{1, 1}, [] { return kernel_of_size(1); }, &known),
            nullptr);
  EXPECT_FALSE(known);
}

TEST(KernelMemory, DropsOnlyWhatNobodyHoldsWhenItGrowsTooLarge) {
  KernelMemory memory;
  const Kernel held = kernel_of_size(1000);
  memory.keep(Digest{1, 1}, held);
  memory.keep(Digest{2, 2}, kernel_of_size(1000));
  memory.keep(Digest{3, 3}, kernel_of_size(KernelMemory::kMostBytes));
  EXPECT_EQ(memory.find(Digest{1, 1}), held);
  EXPECT_EQ(memory.find(Digest{2, 2}), nullptr);
}

}  // namespace
}  // namespace hstujit
