// A context on the fake driver, and calls to make on it: what the tests of a call's life share.
#pragma once

#include "families/family.hpp"
#include "operators/operators.hpp"
#include "records/records.hpp"
#include "support/use_fake_driver.hpp"
#include "tuner/space.hpp"

#include <hstujit/hstujit.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace hstujit {

class FakeGpu : public testing::Test {
 protected:
  void SetUp() override {
    fake_ = &test::use_fake_driver();
    for (float& x : x_) x = 1.0f;
  }
  void TearDown() override { hstu_context_destroy(context_); }

  hstu_context* open(const std::string& store, hstu_miss_policy policy = HSTU_MISS_DEFAULT) {
    hstu_context_options options{};
    options.struct_size = sizeof options;
    options.device = "cuda:0";
    options.store_path = store.c_str();
    options.system_store_path = "";
    options.miss_policy = policy;
    hstu_context_destroy(context_);
    context_ = nullptr;
    EXPECT_EQ(hstu_context_create(&context_, &options), HSTU_OK) << hstu_last_error();
    return context_;
  }

  hstu_layer_norm_args norm(int64_t rows = 4, int64_t dim = 64) {
    hstu_layer_norm_args args{};
    args.struct_size = sizeof args;
    args.x = hstu_matrix(x_, HSTU_DTYPE_F32, rows, dim);
    args.out = hstu_matrix(y_, HSTU_DTYPE_F32, rows, dim);
    return args;
  }

  hstu_counters counters() const {
    hstu_counters out{};
    out.struct_size = sizeof out;
    EXPECT_EQ(hstu_context_counters(context_, &out), HSTU_OK);
    return out;
  }

  /// A store whose record for `rows` names another configuration than the default: this one, or any.
  static void tune_by_hand(const std::string& store, hstu_layer_norm_args args, const Config* winner = nullptr) {
    Job job;
    job.uid = "by hand";
    job.problem = prepare(args);
    const DeviceFacts facts = *facts_of_target("sm_90a");
    const Family& family = *families_for(job.problem, facts).front();
    job.device_class = facts.device_class();
    job.state = JobState::finished;
    const Space space = enumerate(family, job.problem, facts);
    for (const size_t i : {size_t{0}, size_t{1}}) {
      Trial& trial = job.trials.emplace_back();
      trial.family = family.name;
      trial.config = text(family, i == 1 && winner ? *winner : space.points()[i]);
      trial.space = space_text(family);
      trial.standard = i == 0;
      trial.timing = {30, i == 0 ? 1000 : 500, 1, 499, 1001};
    }
    Records({store, ""}).absorb({job});
  }

  const fake_driver_controls* fake_ = nullptr;
  hstu_context* context_ = nullptr;
  alignas(16) float x_[4096];
  alignas(16) float y_[4096];
};

/// Two layers; addresses at which nothing lies, since no kernel runs here.
class StackCalls : public FakeGpu {
 protected:
  static constexpr int64_t kRows = 64, kDim = 64;

  hstu_stack_args stack(int64_t rows = kRows, int64_t embedding = kDim, int64_t hidden_dim = 32) {
    const int64_t dim = 2 * hidden_dim, columns = columns_of(hidden_dim);
    hstu_stack_args args{};
    args.struct_size = sizeof args;
    args.x = matrix(rows, embedding);
    args.out = matrix(rows, embedding);
    for (hstu_layer_weights& w : layers_)
      w = {vector(embedding), vector(embedding), matrix(embedding, columns), vector(columns),
           vector(dim),       vector(dim),       matrix(3 * dim, embedding)};
    args.layers = layers_;
    args.layer_size = sizeof(hstu_layer_weights);
    args.num_layers = 2;
    args.dims = {2, 32, hidden_dim};
    args.attention.seq_offsets = hstu_vector(address(), HSTU_DTYPE_I64, 3);
    args.attention.max_seq_len = 40;
    args.output.concat_u = args.output.concat_x = 1;
    EXPECT_EQ(hstu_stack_workspace_size(&args, &args.workspace_size), HSTU_OK) << hstu_last_error();
    args.workspace = address();
    return args;
  }

  /// The same with projections in FP8.
  hstu_stack_args in_fp8(hstu_stack_args args) {
    const int64_t embedding = args.x.shape[1], columns = columns_of(args.dims.hidden_dim);
    for (hstu_layer_weights& w : layers_) w.uvqk_weight = w.output_weight = {};
    for (hstu_fp8_layer_weights& w : fp8_layers_)
      w = {hstu_matrix(address(), HSTU_DTYPE_E4M3, columns, embedding), hstu_vector(address(), HSTU_DTYPE_F32, columns),
           hstu_matrix(address(), HSTU_DTYPE_E4M3, embedding, 3 * 2 * args.dims.hidden_dim),
           hstu_vector(address(), HSTU_DTYPE_F32, embedding)};
    args.fp8_layers = fp8_layers_;
    args.fp8_layer_size = sizeof(hstu_fp8_layer_weights);
    EXPECT_EQ(hstu_stack_workspace_size(&args, &args.workspace_size), HSTU_OK) << hstu_last_error();
    return args;
  }

 private:
  static int64_t columns_of(int64_t hidden_dim) { return 2 * 2 * (32 + hidden_dim); }
  void* address() { return reinterpret_cast<void*>(next_ += uintptr_t{1} << 32); }
  hstu_tensor vector(int64_t n) { return hstu_vector(address(), HSTU_DTYPE_BF16, n); }
  hstu_tensor matrix(int64_t m, int64_t n) { return hstu_matrix(address(), HSTU_DTYPE_BF16, m, n); }

  hstu_layer_weights layers_[2];
  hstu_fp8_layer_weights fp8_layers_[2];
  uintptr_t next_ = uintptr_t{1} << 40;
};

}  // namespace hstujit
