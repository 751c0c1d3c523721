// group_norm_sm80: norm of the equal parts of rows, bound by memory, kernels/norm/group_norm_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/row_norm.hpp"
#include "norm/row_norm.h"
#include "operators/norm/group_norm.hpp"

namespace hstujit {
namespace {

bool covers(const Problem& problem, const DeviceFacts&) { return problem[group_norm::kDim] > 0; }

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  row_norm::write_weights(text, problem, group_norm::kDtype, group_norm::kHasWeight, group_norm::kWeightDtype, true);
  row_norm::write_scaling(text);
  text.type("Output", "tile::NormOnly");
  text.flag("kGroupNorm", true);
  text.flag("kCentred", true);
  row_norm::write_config(text, problem, config);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_group_norm_args*>(args);
  row_norm::bind_norm(a.x, a.weight, a.bias.data, a.out, a.eps, problem, config, launch);
}

}  // namespace

const Family kGroupNormSm80 = {
    .name = "group_norm_sm80",
    .room = "norm",
    .op = Op::group_norm,
    .min_compute_capability = 80,
    .knobs = row_norm::kKnobs,
    .rules = row_norm::kRules,
    .covers = covers,
    .default_config = row_norm::default_config,
    .resources = row_norm::resources,
    .write_config = write_config,
    .smem_expression = "group_norm_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
