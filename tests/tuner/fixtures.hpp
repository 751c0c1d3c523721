// What the tuner's tests share: a small family that needs no kernel, problems, jobs and trials.
#pragma once

#include "families/family.hpp"
#include "operators/norm/layer_norm.hpp"
#include "records/record.hpp"

#include <string>

namespace hstujit::test {

/// layer_norm of dim 512 and about `rows` rows.
inline Problem rows_problem(int32_t rows, int32_t dim = 512) {
  Problem problem{Op::layer_norm, {}};
  problem[layer_norm::kDtype] = HSTU_DTYPE_BF16;
  problem[layer_norm::kWeightDtype] = HSTU_DTYPE_F32;
  problem[layer_norm::kHasWeight] = 1;
  problem[layer_norm::kDim] = dim;
  problem[layer_norm::kVector] = 8;
  problem[layer_norm::kRows] = bucket(rows);
  return problem;
}

inline constexpr const char* kDevice = "NVIDIA H200 sm_90a";

/// A complete trial; config as text.
inline Trial trial(const std::string& config, int64_t median_ns, Stage stage = Stage::search) {
  Trial t;
  t.family = "toy";
  t.config = config;
  t.space = "tile=16,32,64 stages=1,2,3";
  t.stage = stage;
  t.timing = {30, median_ns, median_ns / 1000, median_ns - median_ns / 500, median_ns + median_ns / 500};
  t.registers = 64;
  t.smem_bytes = 1024;
  t.at_ms = 1'800'000'000'000;
  return t;
}

inline Trial standard_trial(int64_t median_ns, Stage stage = Stage::search) {
  Trial t = trial("tile=16 stages=1", median_ns, stage);
  t.standard = true;
  return t;
}

inline Job job(const std::string& uid, const Problem& problem, JobState state = JobState::finished) {
  Job j;
  j.uid = uid;
  j.problem = problem;
  j.device_class = kDevice;
  j.evidence = {"NVIDIA H200", "NVRTC 13.0 abc", "0123456789abcdef0123456789abcdef", "0.1.0", 13000};
  j.seed = 7;
  j.budget_ms = 30'000;
  j.state = state;
  j.started_ms = 1'800'000'000'000;
  j.updated_ms = 1'800'000'001'000;
  return j;
}

}  // namespace hstujit::test
