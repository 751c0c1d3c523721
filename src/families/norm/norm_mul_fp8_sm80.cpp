// norm_mul_fp8_sm80: the HSTU output stage to FP8, of rows and groups of any length and alignment,
// kernels/norm/norm_mul_fp8_sm80.cuh.
#include "families/families.hpp"
#include "families/norm/norm_mul_rows.hpp"
#include "families/norm/norm_spans.hpp"
#include "families/norm/row_norm.hpp"
#include "operators/norm/norm_mul.hpp"

namespace hstujit {
namespace {

constexpr int kMomentBytes = 16;  // of a group: tile::RowMoments

bool covers(const Problem& problem, const DeviceFacts&) { return norm_spans::quantises(problem[norm_mul::kScaling]); }

/// What the moments of all rows of a block take.
int group_bytes(const Problem& problem, const Config& config) {
  const int groups = row_norm::facts_of(problem).groups;
  return groups > 1 ? norm_spans::rows_per_block(config) * groups * kMomentBytes : 0;
}

Resources resources(const Problem& problem, const Config& config) {
  Resources r = norm_spans::resources(problem, config);
  r.smem_bytes += group_bytes(problem, config);
  return r;
}

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  norm_mul_rows::write_facts(text, problem);
  text.constant("kGroups", row_norm::facts_of(problem).groups);
  norm_spans::write_config(text, problem, problem[norm_mul::kVector], config);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_norm_mul_args*>(args);
  norm_spans::bind_shape(config, a.attn.shape[0], launch);
  launch.smem_bytes += static_cast<uint32_t>(group_bytes(problem, config));
  norm_mul_rows::bind_params(a, launch);
}

}  // namespace

const Family kNormMulFp8Sm80 = {
    .name = "norm_mul_fp8_sm80",
    .room = "norm",
    .op = Op::norm_mul,
    .min_compute_capability = 80,
    .knobs = norm_spans::kKnobs,
    .rules = norm_spans::kRules,
    .covers = covers,
    .default_config = norm_spans::default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "norm_mul_fp8_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
