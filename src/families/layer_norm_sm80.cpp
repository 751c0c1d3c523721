// layer_norm_sm80: row norms bound by memory, kernels/layer_norm_sm80.cuh.
#include "families/families.hpp"
#include "families/row_norm.hpp"
#include "params/layer_norm.h"
#include "problem/norm_fields.hpp"

namespace hstujit {
namespace {

bool covers(const Problem& problem, const DeviceFacts&) { return problem[layer_norm::kDim] > 0; }

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  const bool weighted = problem[layer_norm::kHasWeight] != 0;
  const std::string_view element = device_type(static_cast<hstu_dtype>(problem[layer_norm::kDtype]));
  text.type("Element", element);
  text.type("Weight", weighted ? device_type(static_cast<hstu_dtype>(problem[layer_norm::kWeightDtype])) : element);
  text.type("Output", "NormOnly");
  text.flag("kHasWeight", weighted);
  text.flag("kHasBias", weighted);
  text.flag("kGroupNorm", false);
  text.flag("kCentred", true);
  row_norm::write_config(text, problem, config);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_layer_norm_args*>(args);
  row_norm::bind_shape(problem, config, a.x.shape[0], launch);
  auto& p = launch.emplace<hstu::LayerNormParams>();
  p.x = a.x.data;
  p.weight = a.weight.data;
  p.bias = a.bias.data;
  p.y = a.y.data;
  p.rows = a.x.shape[0];
  p.x_row_stride = a.x.stride[0];
  p.y_row_stride = a.y.stride[0];
  p.eps = a.eps;
}

}  // namespace

const Family kLayerNormSm80 = {
    .name = "layer_norm_sm80",
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
