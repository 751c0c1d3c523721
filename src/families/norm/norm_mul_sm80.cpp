// norm_mul_sm80: the HSTU output stage before its projection, bound by memory, kernels/norm/norm_mul_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/norm_mul_rows.hpp"
#include "families/norm/row_norm.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/norm/norm_mul.hpp"

namespace hstujit {
namespace {

/// Whether each unit of scaling lies with one team.
bool teams_have_units(const Problem& problem) {
  const row_norm::Facts f = row_norm::facts_of(problem);
  return f.row_scales ? f.groups == 1 : f.length % fp8::kSpan == 0;
}

bool covers(const Problem& problem, const DeviceFacts&) {
  if (problem[norm_mul::kDim] == 0) return false;
  if (problem[norm_mul::kScaling] == HSTU_FP8_TENSOR) return true;
  return teams_have_units(problem) && row_norm::covers_scaling(problem, norm_mul::kScaling, norm_mul::kVector);
}

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  norm_mul_rows::write_facts(text, problem);
  row_norm::write_config(text, problem, config);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_norm_mul_args*>(args);
  row_norm::bind_shape(problem, config, a.attn.shape[0], launch);
  norm_mul_rows::bind_params(a, launch);
}

}  // namespace

const Family kNormMulSm80 = {
    .name = "norm_mul_sm80",
    .room = "norm",
    .op = Op::norm_mul,
    .min_compute_capability = 80,
    .knobs = row_norm::kKnobs,
    .rules = row_norm::kRules,
    .covers = covers,
    .default_config = row_norm::default_config,
    .resources = row_norm::resources,
    .write_config = write_config,
    .smem_expression = "norm_mul_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
