// swish_layer_norm_sm80: x * sigmoid(layer_norm(x)), bound by memory, kernels/norm/swish_layer_norm_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/row_norm.hpp"
#include "norm/row_norm.h"
#include "operators/norm/layer_norm.hpp"

namespace hstujit {
namespace {

bool covers(const Problem& problem, const DeviceFacts&) { return problem[swish_layer_norm::kDim] > 0; }

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  row_norm::write_weights(text, problem, swish_layer_norm::kDtype, swish_layer_norm::kHasWeight,
                          swish_layer_norm::kWeightDtype, true);
  row_norm::write_scaling(text);
  text.type("Output", "tile::SwishOfNorm");
  text.flag("kGroupNorm", false);
  text.flag("kCentred", true);
  row_norm::write_config(text, problem, config);
  text.flag("kInTurn", row_norm::in_turn(row_norm::facts_of(problem), config));
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_swish_layer_norm_args*>(args);
  row_norm::bind_norm(a.x, a.weight, a.bias.data, a.out, static_cast<float>(a.eps), problem, config, launch);
}

}  // namespace

const Family kSwishLayerNormSm80 = {
    .name = "swish_layer_norm_sm80",
    .room = "norm",
    .op = Op::swish_layer_norm,
    .min_compute_capability = 80,
    .knobs = row_norm::kKnobs,
    .rules = row_norm::kRules,
    .covers = covers,
    .default_config = row_norm::default_config,
    .resources = row_norm::resources,
    .write_config = write_config,
    .smem_expression = "swish_layer_norm_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
