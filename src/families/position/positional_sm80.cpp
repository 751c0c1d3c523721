// positional_sm80: position embeddings, bound by memory, kernels/position/positional_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/added_rows.hpp"

namespace hstujit {
namespace {

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  added_rows::write_config(text, problem, config);
  added_rows::write_targets(text, problem);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_add_positional_embeddings_args*>(args);
  auto& p = launch.emplace<hstu::PositionalParams>();
  const hstu_tensor* const tables[] = {&a.position_embeddings};
  added_rows::bind(a.x, a.out, a.seq_offsets, tables, a.alpha, problem, config, launch, p.rows);
  p.num_targets = a.num_targets.data;
  p.targets_factor = added_rows::targets_factor(a.interleave_targets);
}

}  // namespace

const Family kPositionalSm80 = {
    .name = "positional_sm80",
    .room = "position",
    .op = Op::add_positional_embeddings,
    .min_compute_capability = 80,
    .knobs = added_rows::kKnobs,
    .rules = added_rows::kRules,
    .covers = added_rows::covers,
    .default_config = added_rows::default_config,
    .resources = added_rows::resources<1>,
    .write_config = write_config,
    .smem_expression = "positional_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
