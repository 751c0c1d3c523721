// The life of contexts: several of them on several devices, destroyed while others call, inherited through fork(). On a
// fake driver.
#include "capi/fake_gpu.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace hstujit {
namespace {

using std::chrono::milliseconds;

class Lifetime : public FakeGpu {
 protected:
  hstu_status call(hstu_context* context) {
    const hstu_layer_norm_args args = norm();
    return hstu_layer_norm(context, &args, nullptr);
  }
  /// Exit code of a child process that runs this, for 20 seconds at most.
  static int in_child(const std::function<bool()>& holds) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(holds() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  static bool last_error_says(const char* words) {
    return std::string(hstu_last_error()).find(words) != std::string::npos;
  }
};

TEST_F(Lifetime, ACallOnADestroyedContextGetsAStatus) {
  hstu_context* const context = open("");
  ASSERT_EQ(call(context), HSTU_OK) << hstu_last_error();
  hstu_context_destroy(context);
  context_ = nullptr;
  EXPECT_EQ(call(context), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_says("destroyed")) << hstu_last_error();
  hstu_counters counters{};
  counters.struct_size = sizeof counters;
  EXPECT_EQ(hstu_context_counters(context, &counters), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hstu_context_finish(context), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hstu_context_freeze(context), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hstu_context_set_miss_policy(context, HSTU_MISS_FAIL), HSTU_ERROR_INVALID_ARGUMENT);
  hstu_context_destroy(context);
  ASSERT_EQ(call(open("")), HSTU_OK) << "the next context is another one: " << hstu_last_error();
}

TEST_F(Lifetime, DestroyWaitsForTheCallInside) {
  struct Gate {
    std::atomic<bool> entered{false}, open{false};
  } gate;
  hstu_context* const context = open("");
  ASSERT_EQ(call(context), HSTU_OK) << hstu_last_error();
  fake_->set_launch_hook(
      [](const CUlaunchConfig*, const char*, void**, void* user) {
        auto& g = *static_cast<Gate*>(user);
        g.entered = true;
        while (!g.open) std::this_thread::yield();
        return 0.0;
      },
      &gate);
  std::atomic<bool> destroyed{false};
  std::thread caller([&] { EXPECT_EQ(call(context), HSTU_OK); });
  while (!gate.entered) std::this_thread::yield();
  std::thread destroyer([&] {
    hstu_context_destroy(context);
    destroyed = true;
  });
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(destroyed);
  gate.open = true;
  caller.join();
  destroyer.join();
  context_ = nullptr;
  EXPECT_TRUE(destroyed);
}

TEST_F(Lifetime, DestroyedUnderAStormOfCalls) {
  const int64_t handles = fake_->live_handles();
  for (int round = 0; round < 10; ++round) {
    hstu_context* const context = open("", HSTU_MISS_ASYNC);
    std::atomic<int> calling{0}, wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&] {
        for (hstu_status status = HSTU_OK; status != HSTU_ERROR_INVALID_ARGUMENT;) {
          status = call(context);
          calling.fetch_add(1);
          if (status != HSTU_OK && status != HSTU_ERROR_NOT_READY && status != HSTU_ERROR_INVALID_ARGUMENT) ++wrong;
        }
      });
    while (calling < 100) std::this_thread::yield();
    hstu_context_destroy(context);
    for (std::thread& thread : threads) thread.join();
    context_ = nullptr;
    EXPECT_EQ(wrong.load(), 0);
  }
  EXPECT_EQ(fake_->live_handles(), handles);
}

TEST_F(Lifetime, AForkedChildMayNotUseItsParentsContext) {
  hstu_context* const context = open("");
  ASSERT_EQ(call(context), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(in_child([&] {
              const bool refused = call(context) == HSTU_ERROR_INVALID_ARGUMENT && last_error_says("fork()");
              hstu_context_destroy(context);  // does nothing, above all it does not hang
              return refused && call(context) == HSTU_ERROR_INVALID_ARGUMENT;
            }),
            0);
  EXPECT_EQ(call(context), HSTU_OK) << "the parent goes on: " << hstu_last_error();
}

TEST_F(Lifetime, AForkedChildMayCreateItsOwn) {
  open("");
  EXPECT_EQ(in_child([&] {
              hstu_context_options options{};
              options.struct_size = sizeof options;
              options.device = "cpu";
              options.store_path = "";
              hstu_context* own = nullptr;
              if (hstu_context_create(&own, &options) != HSTU_OK || call(own) != HSTU_OK) return false;
              hstu_context_destroy(own);
              return true;
            }),
            0);
}

TEST_F(Lifetime, ForkingWhileThreadsCallHangsNobody) {
  hstu_context* const context = open("", HSTU_MISS_ASYNC);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!done) call(context);
    });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(in_child([&] { return call(context) == HSTU_ERROR_INVALID_ARGUMENT; }), 0) << i;
  done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Lifetime, ContextsOfTwoDevicesDoNotDisturbEachOther) {
  fake_->set_device_count(2);
  const int64_t handles = fake_->live_handles();
  hstu_context* contexts[2] = {};
  for (int device = 0; device < 2; ++device) {
    const std::string name = "cuda:" + std::to_string(device);
    hstu_context_options options{};
    options.struct_size = sizeof options;
    options.device = name.c_str();
    options.store_path = options.system_store_path = "";
    ASSERT_EQ(hstu_context_create(&contexts[device], &options), HSTU_OK) << hstu_last_error();
  }
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i)
        if (call(contexts[t % 2]) != HSTU_OK) ++failures;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures.load(), 0);
  EXPECT_EQ(fake_->launches(), 800);
  EXPECT_EQ(fake_->calls("cuModuleLoadData"), 2) << "one kernel a device";
  hstu_context_destroy(contexts[0]);
  EXPECT_EQ(call(contexts[1]), HSTU_OK) << hstu_last_error();
  hstu_context_destroy(contexts[1]);
  EXPECT_EQ(fake_->live_handles(), handles) << "each kernel is unloaded where it was loaded";
}

}  // namespace
}  // namespace hstujit
