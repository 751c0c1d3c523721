// The search space of kernels/tile/attn_f32.cuh, which four families share.
#pragma once

#include "families/family.hpp"

namespace hstujit::attn_f32 {

enum : int { kBlockN, kMinBlocks, kKnobCount };
inline constexpr int kRuleCount = 1;
extern const Knob kKnobs[kKnobCount];

/// What decides about shared memory.
struct Shape {
  int32_t head_dim_qk, head_dim_v, intervals;
};
bool smem_fits(const Shape& shape, const Config& config, const DeviceFacts& device);
Config default_config(const Shape& shape, const DeviceFacts& device);
Resources resources(const Shape& shape, const Config& config);
void write_knobs(ConfigText& text, const Config& config);

/// Grid and block for `pairs` pairs of head and sequence with at most `rows` queries; returns the row blocks of a pair,
/// 0 when nothing is to be done.
int set_grid(Launch& launch, const Shape& shape, const Config& config, int64_t pairs, int64_t rows);

template <Shape (*shape_of)(const Problem&)>
bool fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_fits(shape_of(p), c, device);
}
template <Shape (*shape_of)(const Problem&)>
inline constexpr Rule kRules[kRuleCount] = {
    {"the tiles of min_blocks blocks must fit the shared memory of an SM", fits<shape_of>},
};

}  // namespace hstujit::attn_f32
