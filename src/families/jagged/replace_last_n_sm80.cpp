// replace_last_n_sm80: replacement of the last rows of sequences, kernels/jagged/replace_last_n_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/rows_by_lengths.hpp"

namespace hstujit {
namespace {

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_replace_last_n_with_jagged_args*>(args);
  auto& p = rows_by_lengths::bind(a.lengths_left, a.left, &a.right, a.out, problem, config, launch);
  p.right_lengths = a.lengths_right.data;
}

}  // namespace

const Family kReplaceLastNSm80 = {
    .name = "replace_last_n_sm80",
    .room = "jagged",
    .op = Op::replace_last_n_with_jagged,
    .min_compute_capability = 80,
    .knobs = rows_by_lengths::kKnobs,
    .rules = rows_by_lengths::kRules,
    .covers = jagged_lengths::covers,
    .default_config = rows_by_lengths::default_config,
    .resources = rows_by_lengths::resources,
    .write_config = rows_by_lengths::write_config,
    .smem_expression = "replace_last_n_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
