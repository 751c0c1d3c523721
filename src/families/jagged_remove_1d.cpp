// jagged_remove_1d_sm90 and jagged_remove_1d_sm80: sequences without their first or last element,
// kernels/jagged_remove_1d_sm90.cuh where vectors are long, else kernels/jagged_remove_1d_sm80.cuh.
#include "families/families.hpp"
#include "families/runs_by_lengths.hpp"
#include "families/runs_ring.hpp"

#include <cstddef>

namespace hstujit {
namespace {

template <auto kBind>
void bind(const void* args, const Problem& problem, const Config& config, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_jagged_remove_first_or_last_1d_args*>(args);
  kBind(a.lengths, a.without_first, &a.without_last, a.values, a.without_first.shape[0], problem, config, device,
        launch);
}

}  // namespace

const Family kJaggedRemove1dSm90 = {
    .name = "jagged_remove_1d_sm90",
    .op = Op::jagged_remove_first_or_last_1d,
    .min_compute_capability = 90,
    .knobs = runs_ring::kKnobs,
    .rules = runs_ring::kRules,
    .covers = runs_ring::covers,
    .default_config = runs_ring::default_config,
    .resources = runs_ring::resources,
    .write_config = runs_ring::write_config,
    .smem_expression = "jagged_remove_1d_sm90_smem_bytes<Config>",
    .bind = bind<runs_ring::bind>,
    .tile_counters_at = offsetof(hstu::JaggedLengthsParams, tile_counters),
};

const Family kJaggedRemove1dSm80 = {
    .name = "jagged_remove_1d_sm80",
    .op = Op::jagged_remove_first_or_last_1d,
    .min_compute_capability = 80,
    .knobs = runs_by_lengths::kKnobs,
    .rules = runs_by_lengths::kRules,
    .covers = jagged_lengths::covers,
    .default_config = runs_by_lengths::default_config,
    .resources = runs_by_lengths::resources,
    .write_config = runs_by_lengths::write_config,
    .smem_expression = "jagged_remove_1d_sm80_smem_bytes<Config>",
    .bind = bind<runs_by_lengths::bind>,
    .tile_counters_at = offsetof(hstu::JaggedLengthsParams, tile_counters),
};

}  // namespace hstujit
