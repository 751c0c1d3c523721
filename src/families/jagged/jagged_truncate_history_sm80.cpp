// jagged_truncate_history_sm80: sequences without their oldest history,
// kernels/jagged/jagged_truncate_history_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged/rows_by_lengths.hpp"

namespace hstujit {
namespace {

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_jagged_truncate_history_args*>(args);
  auto& p = rows_by_lengths::bind(a.num_targets, a.values, nullptr, a.out, problem, config, launch);
  if (launch.grid[0] == 0) {  // no row has anything to copy; offsets are written even so
    launch.grid[0] = 1;
    p.rows = 0;
  }
  p.batch = static_cast<int>(a.seq_offsets.shape[0] - 1);
  p.offsets = a.seq_offsets.data;
  p.out_offsets = a.out_offsets.data;
  p.contextual = a.contextual_seq_len;
  p.keep = a.keep;
}

}  // namespace

const Family kJaggedTruncateHistorySm80 = {
    .name = "jagged_truncate_history_sm80",
    .room = "jagged",
    .op = Op::jagged_truncate_history,
    .min_compute_capability = 80,
    .knobs = rows_by_lengths::kKnobs,
    .rules = rows_by_lengths::kRules,
    .covers = jagged_lengths::covers,
    .default_config = rows_by_lengths::default_config,
    .resources = rows_by_lengths::resources,
    .write_config = rows_by_lengths::write_config,
    .smem_expression = "jagged_truncate_history_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
