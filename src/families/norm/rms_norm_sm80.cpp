// rms_norm_sm80: RMS norm, through SiLU if asked, bound by memory, kernels/norm/rms_norm_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/row_norm.hpp"
#include "norm/row_norm.h"
#include "operators/norm/rms_norm.hpp"

namespace hstujit {
namespace {

bool covers(const Problem& problem, const DeviceFacts&) {
  return problem[rms_norm::kDim] > 0 && row_norm::covers_scaling(problem, rms_norm::kScaling, rms_norm::kVector);
}

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  row_norm::write_weights(text, problem, rms_norm::kDtype, rms_norm::kHasWeight, rms_norm::kWeightDtype, false);
  row_norm::write_scaling(text, static_cast<hstu_dtype>(problem[rms_norm::kFp8]), problem[rms_norm::kScaling]);
  text.type("Output", problem[rms_norm::kActivation] == HSTU_ACTIVATION_SILU ? "tile::SiluOfNorm" : "tile::NormOnly");
  text.flag("kGroupNorm", false);
  text.flag("kCentred", false);
  row_norm::write_config(text, problem, config);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_rms_norm_args*>(args);
  row_norm::bind_descale(
      a.descale, a.scaling,
      row_norm::bind_norm(a.x, a.weight, nullptr, a.out, static_cast<float>(a.eps), problem, config, launch));
}

}  // namespace

const Family kRmsNormSm80 = {
    .name = "rms_norm_sm80",
    .room = "norm",
    .op = Op::rms_norm,
    .min_compute_capability = 80,
    .knobs = row_norm::kKnobs,
    .rules = row_norm::kRules,
    .covers = covers,
    .default_config = row_norm::default_config,
    .resources = row_norm::resources,
    .write_config = write_config,
    .smem_expression = "rms_norm_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
