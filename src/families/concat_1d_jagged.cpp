// concat_1d_jagged_sm90 and concat_1d_jagged_sm80: concatenation of jagged vectors,
// kernels/concat_1d_jagged_sm90.cuh where vectors are long, else kernels/concat_1d_jagged_sm80.cuh.
#include "families/families.hpp"
#include "families/runs_by_lengths.hpp"
#include "families/runs_ring.hpp"

#include <cstddef>

namespace hstujit {
namespace {

template <auto kBind>
void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_concat_1d_jagged_args*>(args);
  auto& p = kBind(a.lengths_left, a.left, &a.right, a.out, a.out.shape[0], problem, config, device, launch);
  p.right_lengths = a.lengths_right.data;
}

}  // namespace

const Family kConcat1dJaggedSm90 = {
    .name = "concat_1d_jagged_sm90",
    .op = Op::concat_1d_jagged,
    .min_compute_capability = 90,
    .knobs = runs_ring::kKnobs,
    .rules = runs_ring::kRules,
    .covers = runs_ring::covers,
    .default_config = runs_ring::default_config,
    .resources = runs_ring::resources,
    .write_config = runs_ring::write_config,
    .smem_expression = "concat_1d_jagged_sm90_smem_bytes<Config>",
    .bind = bind<runs_ring::bind>,
    .tile_counters_at = offsetof(hstu::JaggedLengthsParams, tile_counters),
};

const Family kConcat1dJaggedSm80 = {
    .name = "concat_1d_jagged_sm80",
    .op = Op::concat_1d_jagged,
    .min_compute_capability = 80,
    .knobs = runs_by_lengths::kKnobs,
    .rules = runs_by_lengths::kRules,
    .covers = jagged_lengths::covers,
    .default_config = runs_by_lengths::default_config,
    .resources = runs_by_lengths::resources,
    .write_config = runs_by_lengths::write_config,
    .smem_expression = "concat_1d_jagged_sm80_smem_bytes<Config>",
    .bind = bind<runs_by_lengths::bind>,
    .tile_counters_at = offsetof(hstu::JaggedLengthsParams, tile_counters),
};

}  // namespace hstujit
