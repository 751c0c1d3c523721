// layer_norm_sm80: row norms bound by memory, kernels/norm/layer_norm_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/row_norm.hpp"
#include "norm/row_norm.h"
#include "operators/norm/layer_norm.hpp"

namespace hstujit {
namespace {

bool covers(const Problem& problem, const DeviceFacts&) {
  return problem[layer_norm::kDim] > 0 && row_norm::covers_scaling(problem, layer_norm::kScaling, layer_norm::kVector);
}

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  row_norm::write_weights(text, problem, layer_norm::kDtype, layer_norm::kHasWeight, layer_norm::kWeightDtype, true);
  row_norm::write_scaling(text, static_cast<hstu_dtype>(problem[layer_norm::kFp8]), problem[layer_norm::kScaling]);
  text.type("Output", "tile::NormOnly");
  text.flag("kGroupNorm", false);
  text.flag("kCentred", true);
  if (problem[layer_norm::kMoments] != 0) text.flag("kMoments", true);
  row_norm::write_config(text, problem, config);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_layer_norm_args*>(args);
  hstu::SavingNormParams& p = row_norm::bind_norm(a.x, a.weight, a.bias.data, a.out, a.eps, problem, config, launch);
  row_norm::bind_descale(a.descale, a.scaling, p);
  p.moments = static_cast<float*>(a.moments.data);
}

}  // namespace

const Family kLayerNormSm80 = {
    .name = "layer_norm_sm80",
    .room = "norm",
    .op = Op::layer_norm,
    .min_compute_capability = 80,
    .knobs = row_norm::kKnobs,
    .rules = row_norm::kRules,
    .covers = covers,
    .default_config = row_norm::default_config,
    .resources = row_norm::resources,
    .write_config = write_config,
    .smem_expression = "layer_norm_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
