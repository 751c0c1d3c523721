// rms_norm_fp8_sm80: RMS norm to FP8 of rows of any length and alignment, through SiLU if asked,
// kernels/norm/rms_norm_fp8_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/norm_spans.hpp"
#include "families/norm/row_norm.hpp"
#include "operators/norm/rms_norm.hpp"

namespace hstujit {
namespace {

bool covers(const Problem& problem, const DeviceFacts&) { return norm_spans::quantises(problem[rms_norm::kScaling]); }

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  row_norm::write_weights(text, problem, rms_norm::kDtype, rms_norm::kHasWeight, rms_norm::kWeightDtype, false);
  row_norm::write_scaling(text, static_cast<hstu_dtype>(problem[rms_norm::kFp8]), problem[rms_norm::kScaling]);
  text.type("Output", problem[rms_norm::kActivation] == HSTU_ACTIVATION_SILU ? "tile::SiluOfNorm" : "tile::NormOnly");
  text.flag("kCentred", false);
  norm_spans::write_config(text, problem, problem[rms_norm::kVector], config);
}

void bind(const void* args, const Problem&, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_rms_norm_args*>(args);
  norm_spans::bind_shape(config, a.x.shape[0], launch);
  row_norm::bind_descale(a.descale, a.scaling,
                         row_norm::bind_rows(a.x, a.weight, nullptr, a.out, static_cast<float>(a.eps), launch));
}

}  // namespace

const Family kRmsNormFp8Sm80 = {
    .name = "rms_norm_fp8_sm80",
    .room = "norm",
    .op = Op::rms_norm,
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
