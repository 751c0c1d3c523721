// replace_last_n_sm80: replacement of the last rows of sequences, kernels/replace_last_n_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged_lengths.hpp"

namespace hstujit {
namespace {

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_replace_last_n_with_jagged_args*>(args);
  auto& p = jagged_lengths::bind(a.lengths_left, a.left, &a.right, a.out, problem, config, launch);
  p.right_lengths = a.lengths_right.data;
}

}  // namespace

const Family kReplaceLastNSm80 = {
    .name = "replace_last_n_sm80",
    .op = Op::replace_last_n_with_jagged,
    .min_compute_capability = 80,
    .knobs = jagged_lengths::kKnobs,
    .rules = jagged_lengths::kRules,
    .covers = jagged_lengths::covers,
    .default_config = jagged_lengths::default_config,
    .resources = jagged_lengths::resources,
    .write_config = jagged_lengths::write_config,
    .smem_expression = "replace_last_n_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
