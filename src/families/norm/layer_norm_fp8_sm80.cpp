// layer_norm_fp8_sm80: layer norm to FP8 of rows of any length and alignment, kernels/norm/layer_norm_fp8_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/norm_spans.hpp"
#include "families/norm/row_norm.hpp"
#include "operators/norm/layer_norm.hpp"

namespace hstujit {
namespace {

bool covers(const Problem& problem, const DeviceFacts&) { return norm_spans::quantises(problem[layer_norm::kScaling]); }

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  row_norm::write_weights(text, problem, layer_norm::kDtype, layer_norm::kHasWeight, layer_norm::kWeightDtype, true);
  row_norm::write_scaling(text, static_cast<hstu_dtype>(problem[layer_norm::kFp8]), problem[layer_norm::kScaling]);
  text.type("Output", "tile::NormOnly");
  text.flag("kCentred", true);
  if (problem[layer_norm::kMoments] != 0) text.flag("kMoments", true);
  norm_spans::write_config(text, problem, problem[layer_norm::kVector], config);
}

void bind(const void* args, const Problem&, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_layer_norm_args*>(args);
  norm_spans::bind_shape(config, a.x.shape[0], launch);
  hstu::SavingNormParams& p = row_norm::bind_rows(a.x, a.weight, a.bias.data, a.out, a.eps, launch);
  row_norm::bind_descale(a.descale, a.scaling, p);
  p.moments = static_cast<float*>(a.moments.data);
}

}  // namespace

const Family kLayerNormFp8Sm80 = {
    .name = "layer_norm_fp8_sm80",
    .room = "norm",
    .op = Op::layer_norm,
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
