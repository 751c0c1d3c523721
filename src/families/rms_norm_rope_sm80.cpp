// rms_norm_rope_sm80: RMS norm of rows with rotary embedding of their heads, bound by memory,
// kernels/rms_norm_rope_sm80.cuh.
#include "families/families.hpp"
#include "families/row_norm.hpp"
#include "params/rms_norm_rope.h"
#include "problem/norm_fields.hpp"

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
  text.type("Element", device_type(static_cast<hstu_dtype>(problem[rms_norm_rope::kDtype])));
  text.type("Weight", device_type(static_cast<hstu_dtype>(problem[rms_norm_rope::kWeightDtype])));
  text.type("Angle", device_type(static_cast<hstu_dtype>(problem[rms_norm_rope::kAngleDtype])));
  text.constant("kHalf", problem[rms_norm_rope::kHeadDim] / 2);
  text.constant("kPairVector", problem[rms_norm_rope::kVector]);
  row_norm::write_scaling(text, static_cast<hstu_dtype>(problem[rms_norm_rope::kFp8]),
                          problem[rms_norm_rope::kScaling]);
  text.flag("kPacked", config[row_norm::kPacked] != 0);
  row_norm::write_config(text, problem, config);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_rms_norm_rope_args*>(args);
  row_norm::bind_shape(problem, config, a.x.shape[0] * a.x.shape[1], launch);
  auto& p = launch.emplace<hstu::RmsNormRopeParams>();
  p.x = a.x.data;
  p.weight = a.weight.data;
  p.cosine = a.cosine.data;
  p.sine = a.sine.data;
  p.y = a.y.data;
  p.rows = a.x.shape[0] * a.x.shape[1];
  p.length = a.x.shape[1];
  p.x_batch_stride = a.x.stride[0];
  p.x_row_stride = a.x.stride[1];
  p.y_batch_stride = a.y.stride[0];
  p.y_row_stride = a.y.stride[1];
  p.cosine_row_stride = a.cosine.stride[0];
  p.sine_row_stride = a.sine.stride[0];
  p.eps = a.eps;
  row_norm::bind_descale(a.descale, a.scaling, p);
}

}  // namespace

const Family kRmsNormRopeSm80 = {
    .name = "rms_norm_rope_sm80",
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
