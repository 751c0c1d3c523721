// What runs chains, on a chain of this test's and the fake driver: layer norms, as many in a part as are asked for.
#include "chain/engine.hpp"

#include "capi/fake_gpu.hpp"
#include "capi/handle.hpp"
#include "norm/row_norm.h"
#include "support/files.hpp"
#include "support/scoped_env.hpp"
#include "support/temp_dir.hpp"
#include "support/tool_process.hpp"

#include <string>
#include <vector>

namespace hstujit {
namespace {

using chain::Engine;
using chain::Fusing;
using chain::HostArrays;
using chain::Step;
using chain::Steps;

struct NormsArgs {
  size_t struct_size;
  const hstu_layer_norm_args* norms;  ///< `steps` of each part, on the host
  int64_t parts, steps;
};

struct Norms {
  using Args = NormsArgs;
  static constexpr const char* kParts = "parts";
  static constexpr size_t kMostSteps = 3;
  static constexpr int64_t kBoundParts = 2;
  static constexpr size_t kArrayBytes = kBoundParts * kMostSteps * sizeof(hstu_layer_norm_args);
  static int64_t parts(const Args& args) { return args.parts; }
  static HostArrays arrays(const Args& args) {
    return {{{args.norms, static_cast<size_t>(args.parts * args.steps) * sizeof *args.norms}, {}}};
  }

  class Part {
   public:
    Part(Args& args, int64_t index, const Part*, const Fusing&) {
      constexpr const char* kNames[] = {"first", "second", "third", "fourth"};
      for (int64_t i = 0; i < args.steps; ++i) {
        norms_[i] = args.norms[index * args.steps + i];
        steps_.add(kNames[i], norms_[i]);
      }
    }
    Steps& steps() { return steps_; }

   private:
    hstu_layer_norm_args norms_[4];
    std::array<Step, kMostSteps> room_;
    Steps steps_{room_};
  };
};

class EngineOnFakeGpu : public FakeGpu {
 protected:
  static constexpr int64_t kSteps = 3;

  /// As many norms, each a problem of its own.
  NormsArgs norms(int64_t parts, int64_t steps = kSteps) {
    norms_.clear();
    for (int64_t i = 0; i < parts * steps; ++i) norms_.push_back(norm(4, 16 + 16 * i));
    return {sizeof(NormsArgs), norms_.data(), parts, steps};
  }
  /// What it says when it fails.
  std::string run(NormsArgs args) {
    try {
      Engine<Norms>::run(context_->context, args, nullptr);
    } catch (const Error& error) {
      status_ = error.status();
      return error.message();
    }
    status_ = HSTU_OK;
    return "";
  }
  int64_t launches_of(const NormsArgs& args) {
    const int64_t before = fake_->launches();
    EXPECT_EQ(run(args), "");
    return fake_->launches() - before;
  }

  std::vector<hstu_layer_norm_args> norms_;
  hstu_status status_ = HSTU_OK;

 private:
  const test::ScopedEnv nvrtc_{"HSTUJIT_LIBNVRTC", test::fake_nvrtc_path().c_str()};
};

TEST_F(EngineOnFakeGpu, AsksForAllStepsOfAllPartsBeforeItSaysThatOneIsNotReady) {
  open("", HSTU_MISS_ASYNC);
  for (const int64_t parts : {2, 4}) {  // bound, and step by step
    const NormsArgs args = norms(parts);
    const int64_t refused = counters().not_ready, ready = counters().plans;
    const std::string error = run(args);
    EXPECT_EQ(status_, HSTU_ERROR_NOT_READY);
    EXPECT_TRUE(error.starts_with(parts == 2 ? "parts[0]: first: " : "parts[2]: first: ")) << error;
    EXPECT_EQ(counters().not_ready - refused, parts * kSteps - ready);
    EXPECT_EQ(fake_->launches(), parts == 2 ? 0 : 2 * kSteps);
    hstu_context_finish(context_);
    EXPECT_EQ(launches_of(args), parts * kSteps);
  }
}

TEST_F(EngineOnFakeGpu, LaunchesNothingWhereAStepIsWrongAndSaysWhich) {
  open("");
  for (const int64_t parts : {2, 4}) {
    const NormsArgs args = norms(parts);
    norms_.back().out.rank = 7;
    const int64_t before = fake_->launches();
    const std::string error = run(args);
    EXPECT_EQ(status_, HSTU_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(error.starts_with(parts == 2 ? "parts[1]: third: out.rank" : "parts[3]: third: out.rank")) << error;
    EXPECT_EQ(fake_->launches(), before);
  }
}

TEST_F(EngineOnFakeGpu, AStepWhoseLaunchFailsIsNamedAndNothingBehindItRuns) {
  open("");
  const NormsArgs args = norms(2);
  EXPECT_EQ(launches_of(args), 2 * kSteps);
  for (int k = 0; k < 2 * kSteps; ++k) {
    struct {
      const fake_driver_controls* fake;
      int left;
    } failing{fake_, k};
    using Failing = decltype(failing);
    fake_->set_launch_hook(
        [](const CUlaunchConfig*, const char*, void**, void* user) {
          auto& [fake, left] = *static_cast<Failing*>(user);
          if (--left == 0) fake->fail_calls("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 1);
          return 1.0;
        },
        &failing);
    if (k == 0) fake_->fail_calls("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 1);
    const int64_t before = fake_->launches();
    const std::string error = run(args);
    fake_->set_launch_hook(nullptr, nullptr);
    EXPECT_EQ(status_, HSTU_ERROR_DEVICE) << k;
    const char* const names[] = {"first", "second", "third"};
    EXPECT_TRUE(error.starts_with(fmt::format("parts[{}]: {}: launching", k / kSteps, names[k % kSteps]))) << error;
    EXPECT_EQ(fake_->launches() - before, k);
  }
  EXPECT_EQ(launches_of(args), 2 * kSteps) << "what is bound serves again";
}

TEST_F(EngineOnFakeGpu, WhatIsBoundServesTheSameArgumentsAndWhatTheyPointTo) {
  open("");
  fake_->set_params_bytes(sizeof(hstu::RowNormParams));
  NormsArgs args = norms(2);
  EXPECT_EQ(launches_of(args), 2 * kSteps);
  const int64_t calls = fake_->calls(nullptr);
  EXPECT_EQ(launches_of(args), 2 * kSteps);
  EXPECT_EQ(fake_->calls(nullptr) - calls, 2 * kSteps) << "the launches and no other call of the driver";
  const auto input_of_last = [&] {
    void* input;
    std::memcpy(&input, fake_->last_launch().params, sizeof input);
    return input;
  };
  const void* const before = input_of_last();
  norms_.back().x.data = x_ + 1024;
  EXPECT_EQ(launches_of(args), 2 * kSteps);
  EXPECT_NE(input_of_last(), before) << "the array behind the same pointer has changed";
  args.parts = 1;
  EXPECT_EQ(launches_of(args), kSteps);
}

TEST_F(EngineOnFakeGpu, DeepChainsRunStepByStep) {
  open("");
  const NormsArgs args = norms(9);
  EXPECT_EQ(launches_of(args), 9 * kSteps);
  EXPECT_EQ(launches_of(args), 9 * kSteps);
}

TEST_F(EngineOnFakeGpu, MoreStepsThanRoomAreAnError) {
  open("");
  const std::string error = run(norms(1, 4));
  EXPECT_EQ(status_, HSTU_ERROR_INTERNAL);
  EXPECT_EQ(error, "parts[0]: a chain has more steps than the 3 that it has room for");
  EXPECT_EQ(fake_->launches(), 0);
}

TEST_F(EngineOnFakeGpu, CountsTrafficOfEveryStep) {
  open("");
  const NormsArgs args = norms(2);
  EXPECT_EQ(launches_of(args), 2 * kSteps);
  ASSERT_EQ(hstu_context_record_traffic(context_, 1), HSTU_OK);
  EXPECT_EQ(launches_of(args), 2 * kSteps);
  const test::TempDir folder;
  int64_t left_out = -1;
  const std::string path = folder.str() + "/traffic.json";
  ASSERT_EQ(hstu_context_write_traffic(context_, path.c_str(), &left_out), HSTU_OK) << hstu_last_error();
  std::string text;
  ASSERT_EQ(read_file(path, text), 0);
  for (const hstu_layer_norm_args& norm : norms_)
    EXPECT_NE(text.find(fmt::format("{}", norm.x.shape[1])), std::string::npos) << text;
}

}  // namespace
}  // namespace hstujit
