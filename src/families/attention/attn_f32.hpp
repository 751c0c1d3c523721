// The search space of kernels/attention/f32/attn_f32.cuh, which four families share.
#pragma once

#include "families/family.hpp"

#include <string_view>

namespace hstujit::attn_f32 {

enum : int { kBlockN, kMinBlocks, kKnobCount };
inline constexpr int kRuleCount = 1;
extern const Knob kKnobs[kKnobCount];

/// What of a problem decides about shared memory, and about the default.
struct Shape {
  int32_t head_dim_qk, head_dim_v, intervals;
  bool cached = false;  ///< few rows against many keys
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

/// The family of one operator.
template <Shape (*shape_of)(const Problem&)>
constexpr Family family(std::string_view name, Op op, decltype(Family::covers) covers,
                        decltype(Family::write_config) write_config, decltype(Family::bind) bind) {
  return {
      .name = name,
      .room = "attention",
      .op = op,
      .min_compute_capability = 80,
      .knobs = kKnobs,
      .rules = kRules<shape_of>,
      .covers = covers,
      .default_config = [](const Problem& p, const DeviceFacts& device) { return default_config(shape_of(p), device); },
      .resources = [](const Problem& p, const Config& c) { return resources(shape_of(p), c); },
      .write_config = write_config,
      .smem_expression = "attn_f32_smem_bytes<Config>",
      .bind = bind,
  };
}

}  // namespace hstujit::attn_f32
