// rms_norm_rope_sm80: RMS norm of rows with rotary embedding of their heads, bound by memory,
// kernels/norm/rms_norm_rope_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/rope_rows.hpp"
#include "families/norm/row_norm.hpp"
#include "operators/norm/rms_norm_rope.hpp"

namespace hstujit {
namespace {

/// Half a head's columns, and their partners, lie in 128 columns together or in 128 of their own.
bool scales_fit_heads(const Problem& problem) {
  const int32_t head_dim = problem[rms_norm_rope::kHeadDim];
  return problem[rms_norm_rope::kScaling] != HSTU_FP8_GROUP || 128 % head_dim == 0 || head_dim % 256 == 0;
}

bool covers(const Problem& problem, const DeviceFacts&) {
  return problem[rms_norm_rope::kDim] > 0 && scales_fit_heads(problem) &&
         row_norm::covers_scaling(problem, rms_norm_rope::kScaling, rms_norm_rope::kVector);
}

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  rope_rows::write_facts(text, problem);
  text.constant("kPairVector", problem[rms_norm_rope::kVector]);
  row_norm::write_scaling(text, static_cast<hstu_dtype>(problem[rms_norm_rope::kFp8]),
                          problem[rms_norm_rope::kScaling]);
  text.flag("kPacked", config[row_norm::kPacked] != 0);
  row_norm::write_config(text, problem, config);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_rms_norm_rope_args*>(args);
  row_norm::bind_shape(problem, config, a.x.shape[0] * a.x.shape[1], launch);
  rope_rows::bind_params(a, launch);
}

}  // namespace

const Family kRmsNormRopeSm80 = {
    .name = "rms_norm_rope_sm80",
    .room = "norm",
    .op = Op::rms_norm_rope,
    .min_compute_capability = 80,
    .knobs = row_norm::kAllKnobs,
    .rules = row_norm::kRules,
    .covers = covers,
    .default_config = row_norm::default_config,
    .resources = row_norm::resources,
    .write_config = write_config,
    .smem_expression = "rms_norm_rope_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
