// The search space that the attention kernels of the sm_80 generation share: knobs, the rules over them, and what a
// configuration takes. A family gives its problem as a Shape.
#pragma once

#include "families/family.hpp"

#include <array>
#include <string_view>

namespace hstujit::attn_space {

enum : int { kRowsPerWarp, kWarps, kBlockN, kStages, kQSteps, kMinBlocks, kKnobCount };
extern const std::array<Knob, kKnobCount> kKnobs;

/// What of a problem decides which configurations are legal.
struct Shape {
  int32_t head_dim_qk, head_dim_v;
  bool vector;            ///< 16-byte copies
  bool softmax;           ///< a running maximum and sum a row
  int32_t intervals = 0;  ///< of a mask given as data
  int32_t spare = 0;      ///< registers that the problem's options take beyond the usual
};

/// Kinds of panels that a tile of this many columns is made of, each with addresses of its own.
int panel_kinds(int32_t head_dim);

inline int block_m(const Config& c) { return c[kRowsPerWarp] * c[kWarps]; }
int smem_bytes(const Shape& s, const Config& c);
Resources resources(const Shape& s, const Config& c);
/// A good configuration without measuring.
Config default_config(const Shape& s, const DeviceFacts& device);
void write_knobs(ConfigText& text, const Config& c);

bool q_fits_its_steps(const Shape& s, const Config& c, const DeviceFacts& device);
bool registers_suffice(const Shape& s, const Config& c, const DeviceFacts& device);
bool registers_are_used(const Shape& s, const Config& c, const DeviceFacts& device);
bool smem_fits(const Shape& s, const Config& c, const DeviceFacts& device);
bool some_warps_to_switch(const Shape& s, const Config& c, const DeviceFacts& device);

template <Shape (*shape_of)(const Problem&), bool (*rule)(const Shape&, const Config&, const DeviceFacts&)>
bool holds(const Problem& p, const Config& c, const DeviceFacts& device) {
  return rule(shape_of(p), c, device);
}

/// The rules for a family whose problems have this shape.
template <Shape (*shape_of)(const Problem&)>
inline constexpr Rule kRules[] = {
    {"q_steps must not exceed the k16 steps of head_dim_qk", holds<shape_of, q_fits_its_steps>},
    {"accumulators and resident Q would not fit the registers", holds<shape_of, registers_suffice>},
    {"too few warps for the registers they use, and another block would fit", holds<shape_of, registers_are_used>,
     true},
    {"the tiles of min_blocks blocks must fit the shared memory of an SM", holds<shape_of, smem_fits>},
    {"fewer than eight warps an SM leave its schedulers nothing to switch to, and another block would fit",
     holds<shape_of, some_warps_to_switch>, true},
};

/// The family of one operator, whose kernel is attn_fwd_sm80.cuh's.
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
      .smem_expression = "attn_fwd_sm80_smem_bytes<Config>",
      .bind = bind,
  };
}

/// (head, sequence) pairs whose K and V together stay in half of the L2 cache, in equal sections.
int section_pairs(int64_t pairs, int64_t bytes_of_all, const DeviceFacts& device);

/// Grid and block for `pairs` pairs of at most `rows` query rows; returns the row blocks of a pair, 0 when nothing is
/// to be done.
int set_grid(Launch& launch, const Shape& s, const Config& c, int64_t pairs, int64_t rows);

}  // namespace hstujit::attn_space
