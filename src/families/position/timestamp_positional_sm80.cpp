// timestamp_positional_sm80: position and time embeddings, bound by memory,
// kernels/position/timestamp_positional_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/added_rows.hpp"

namespace hstujit {
namespace {

void write_config(ConfigText& text, const Problem& problem, const Config& config) {
  added_rows::write_config(text, problem, config);
  added_rows::write_targets(text, problem);
  text.flag("kLogarithm", problem[added_rows::kLogarithm] != 0);
}

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_add_timestamp_positional_embeddings_args*>(args);
  auto& p = launch.emplace<hstu::TimestampPositionalParams>();
  const hstu_tensor* const tables[] = {&a.position_embeddings, &a.timestamp_embeddings};
  added_rows::bind(a.x, a.out, a.seq_offsets, tables, a.alpha, problem, config, launch, p.rows);
  p.num_targets = a.num_targets.data;
  p.timestamps = static_cast<const long long*>(a.timestamps.data);
  p.query_time = static_cast<const long long*>(a.query_time.data);
  p.contextual_seq_len = a.max_contextual_seq_len;
  p.targets_factor = added_rows::targets_factor(a.interleave_targets);
  p.time_bucket_increments = a.time_bucket_increments;
}

}  // namespace

const Family kTimestampPositionalSm80 = {
    .name = "timestamp_positional_sm80",
    .room = "position",
    .op = Op::add_timestamp_positional_embeddings,
    .min_compute_capability = 80,
    .knobs = added_rows::kKnobs,
    .rules = added_rows::kRules,
    .covers = added_rows::covers,
    .default_config = added_rows::default_config,
    .resources = added_rows::resources<2>,
    .write_config = write_config,
    .smem_expression = "timestamp_positional_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
