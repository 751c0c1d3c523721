// jagged_transpose_1d_sm90 and jagged_transpose_1d_sm80: transposition of a matrix of segments,
// kernels/jagged_transpose_1d_sm90.cuh where vectors are long, else kernels/jagged_transpose_1d_sm80.cuh.
#include "families/families.hpp"
#include "families/runs_by_lengths.hpp"
#include "families/runs_ring.hpp"

#include <cstddef>

namespace hstujit {
namespace {

template <auto kBind>
void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_jagged_transpose_1d_args*>(args);
  auto& p = kBind(a.lengths, a.values, nullptr, a.out, a.out.shape[0], problem, config, device, launch);
  if (launch.grid[0] == 0) launch.grid[0] = 1;  // offsets and lengths are written even so
  p.offsets = a.offsets.data;
  p.out_offsets = a.out_offsets.data;
  p.out_lengths = a.out_lengths.data;
  p.columns = a.columns;
  p.segment_rows = a.rows;
}

}  // namespace

const Family kJaggedTranspose1dSm90 = {
    .name = "jagged_transpose_1d_sm90",
    .op = Op::jagged_transpose_1d,
    .min_compute_capability = 90,
    .knobs = runs_ring::kKnobs,
    .rules = runs_ring::kRules,
    .covers = runs_ring::covers,
    .default_config = runs_ring::default_config,
    .resources = runs_ring::resources,
    .write_config = runs_ring::write_config,
    .smem_expression = "jagged_transpose_1d_sm90_smem_bytes<Config>",
    .bind = bind<runs_ring::bind>,
    .tile_counters_at = offsetof(hstu::JaggedLengthsParams, tile_counters),
};

const Family kJaggedTranspose1dSm80 = {
    .name = "jagged_transpose_1d_sm80",
    .op = Op::jagged_transpose_1d,
    .min_compute_capability = 80,
    .knobs = runs_by_lengths::kKnobs,
    .rules = runs_by_lengths::kRules,
    .covers = jagged_lengths::covers,
    .default_config = runs_by_lengths::default_config,
    .resources = runs_by_lengths::resources,
    .write_config = runs_by_lengths::write_config,
    .smem_expression = "jagged_transpose_1d_sm80_smem_bytes<Config>",
    .bind = bind<runs_by_lengths::bind>,
    .tile_counters_at = offsetof(hstu::JaggedLengthsParams, tile_counters),
};

}  // namespace hstujit
