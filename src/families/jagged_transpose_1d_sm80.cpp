// jagged_transpose_1d_sm80: transposition of a matrix of segments, kernels/jagged_transpose_1d_sm80.cuh.
#include "families/families.hpp"
#include "families/jagged_lengths.hpp"

namespace hstujit {
namespace {

void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_jagged_transpose_1d_args*>(args);
  auto& p = jagged_lengths::bind(a.lengths, a.values, nullptr, a.out, problem, config, launch);
  if (launch.grid[0] == 0) launch.grid[0] = 1;  // offsets and lengths are written even so
  p.offsets = a.offsets.data;
  p.out_offsets = a.out_offsets.data;
  p.out_lengths = a.out_lengths.data;
  p.columns = a.columns;
  p.segment_rows = a.rows;
}

}  // namespace

const Family kJaggedTranspose1dSm80 = {
    .name = "jagged_transpose_1d_sm80",
    .op = Op::jagged_transpose_1d,
    .min_compute_capability = 80,
    .knobs = jagged_lengths::kKnobs,
    .rules = jagged_lengths::kRules,
    .covers = jagged_lengths::covers,
    .default_config = jagged_lengths::default_config,
    .resources = jagged_lengths::resources,
    .write_config = jagged_lengths::write_config,
    .smem_expression = "jagged_transpose_1d_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
