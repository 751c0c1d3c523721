// rms_norm_rope_fp8_sm80: RMS norm with rotary embedding to FP8, of rows and heads of any length and alignment,
// kernels/norm/rms_norm_rope_fp8_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/norm_spans.hpp"
#include "families/norm/rope_rows.hpp"
#include "families/norm/row_norm.hpp"
#include "operators/norm/rms_norm_rope.hpp"

namespace hstujit {
namespace {

bool covers(const Problem& problem, const DeviceFacts&) {
  return norm_spans::quantises(problem[rms_norm_rope::kScaling]);
}

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  rope_rows::write_facts(text, problem);
  row_norm::write_scaling(text, static_cast<hstu_dtype>(problem[rms_norm_rope::kFp8]),
                          problem[rms_norm_rope::kScaling]);
  text.flag("kCentred", false);
  norm_spans::write_config(text, problem, problem[rms_norm_rope::kVector], config);
}

void bind(const void* args, const Problem&, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_rms_norm_rope_args*>(args);
  norm_spans::bind_shape(config, a.x.shape[0] * a.x.shape[1], launch);
  rope_rows::bind_params(a, launch);
}

}  // namespace

const Family kRmsNormRopeFp8Sm80 = {
    .name = "rms_norm_rope_fp8_sm80",
    .room = "norm",
    .op = Op::rms_norm_rope,
    .min_compute_capability = 80,
    .knobs = norm_spans::kKnobs,
    .rules = norm_spans::kRules,
    .covers = covers,
    .default_config = norm_spans::default_config,
    .resources = norm_spans::resources,
    .write_config = write_config,
    .smem_expression = "tile::norm_spans_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
