// attn_fwd_sm80: jagged HSTU attention with the instructions of sm_80, kernels/attn_fwd_sm80.cuh.
#include "families/families.hpp"
#include "params/attn_fwd.h"
#include "problem/attention_fields.hpp"

#include <algorithm>

namespace hstujit {
namespace {

enum : int { kRowsPerWarp, kWarps, kBlockN, kStages, kQSteps, kMinBlocks, kKnobCount };

constexpr int32_t kRowsPerWarpValues[] = {16, 32};
constexpr int32_t kWarpsValues[] = {4, 8};
constexpr int32_t kBlockNValues[] = {32, 48, 64, 96, 128};
constexpr int32_t kStagesValues[] = {2, 3, 4};
constexpr int32_t kQStepsValues[] = {0, 2, 4, 8, 16};
constexpr int32_t kMinBlocksValues[] = {1, 2, 3, 4};

constexpr Knob kKnobs[kKnobCount] = {
    {"rows_per_warp", kRowsPerWarpValues, "32 rows halve the shared-memory reads of K and V, 16 fit head dim 256"},
    {"warps", kWarpsValues, "query rows a block: more share each K and V tile, fewer waste less on short sequences"},
    {"block_n", kBlockNValues, "keys a step: long runs of products, for registers and masked waste"},
    {"stages", kStagesValues, "K and V tiles in flight"},
    {"q_steps", kQStepsValues, "k16 steps of Q that stay in registers instead of being read again for each key block"},
    {"min_blocks", kMinBlocksValues, "blocks an SM: one block's special functions run beside another's products"},
};

int padded(int32_t head_dim) { return (head_dim + 15) / 16 * 16; }
int block_m(const Config& c) { return c[kRowsPerWarp] * c[kWarps]; }
int padded_qk(const Problem& p) { return padded(p[attention::kHeadDimQk]); }
int padded_v(const Problem& p) { return padded(p[attention::kHeadDimV]); }

/// Accumulators of O and S and the resident part of Q, per thread.
int held_registers(const Problem& p, const Config& c) {
  return c[kRowsPerWarp] / 16 * (padded_v(p) / 2 + c[kBlockN] / 2 + 4 * c[kQSteps]);
}

/// What __launch_bounds__ leaves a thread.
int register_budget(const Config& c) { return std::min(255, 65536 / (c[kMinBlocks] * c[kWarps] * 32) / 8 * 8); }

int smem_bytes(const Problem& p, const Config& c) {
  const int ring = 2 * (block_m(c) * padded_qk(p) + c[kStages] * c[kBlockN] * (padded_qk(p) + padded_v(p)));
  const int output = 2 * block_m(c) * padded_v(p);
  return std::max(ring, output) + 512;  // barriers and the tile's description
}

bool q_fits_its_steps(const Problem& p, const Config& c, const DeviceFacts&) { return c[kQSteps] * 16 <= padded_qk(p); }
bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  // Fragments, pointers and masks; more where Q stays beside two row tiles or long scores, where barriers pass the
  // stages on or the block is large, and for element-wise copies.
  const bool two_row_tiles = c[kRowsPerWarp] == 32, q_stays = c[kQSteps] > 0;
  const int others = p[attention::kVector] != 8                                ? 88
                     : q_stays && c[kBlockN] == 128                            ? 112
                     : q_stays && two_row_tiles                                ? 80
                     : two_row_tiles && (c[kStages] > 2 || c[kMinBlocks] == 1) ? 64
                                                                               : 56;
  return held_registers(p, c) + others <= register_budget(c);
}
/// Whether the shared memory of an SM holds the tiles of `blocks` blocks.
bool blocks_fit(const Problem& p, const Config& c, const DeviceFacts& device, int blocks) {
  constexpr int kReserved = 1024;  // of each block, by the driver
  return blocks * (smem_bytes(p, c) + kReserved) <= device.smem_per_sm;
}
bool registers_are_used(const Problem& p, const Config& c, const DeviceFacts& device) {
  constexpr int kIdle = 136;
  return c[kMinBlocks] * c[kWarps] >= 16 || held_registers(p, c) + kIdle >= register_budget(c) ||
         !blocks_fit(p, c, device, c[kMinBlocks] + 1);
}
bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_bytes(p, c) <= device.smem_per_block && blocks_fit(p, c, device, c[kMinBlocks]);
}
bool some_warps_to_switch(const Problem& p, const Config& c, const DeviceFacts& device) {
  return c[kMinBlocks] * c[kWarps] >= 8 || !blocks_fit(p, c, device, c[kMinBlocks] + 1);
}

constexpr Rule kRules[] = {
    {"q_steps must not exceed the k16 steps of head_dim_qk", q_fits_its_steps},
    {"accumulators and resident Q would not fit the registers", registers_suffice},
    {"too few warps for the registers they use, and another block would fit", registers_are_used},
    {"the tiles of min_blocks blocks must fit the shared memory of an SM", smem_fits},
    {"fewer than eight warps an SM leave its schedulers nothing to switch to, and another block would fit",
     some_warps_to_switch},
};

bool covers(const Problem& p, const DeviceFacts&) {
  const bool special =
      p[attention::kIntervals] > 0 || p[attention::kTargetGroups] || p[attention::kMask] == HSTU_MASK_LOCAL;
  return !special && (p[attention::kDtype] == HSTU_DTYPE_BF16 || p[attention::kDtype] == HSTU_DTYPE_F16);
}

/// Measured best on an H200, by registers that O takes; each falls back to what fits smaller devices.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const int q_all = padded_qk(p) / 16;
  const auto steps = [&](int most) {
    return std::find_if(std::rbegin(kQStepsValues), std::rend(kQStepsValues),
                        [&](int s) { return s <= std::min(most, q_all); });
  };
  const Config candidates[] = {
      {{32, 4, 64, 2, 0, 3}},          {{32, 4, 64, 2, 0, 2}},          {{32, 4, 32, 2, 0, 2}},
      {{32, 8, 64, 2, 0, 1}},          {{32, 8, 32, 2, 0, 1}},          {{16, 8, 32, 4, *steps(16), 1}},
      {{16, 8, 32, 2, *steps(16), 1}}, {{16, 4, 32, 2, *steps(16), 2}}, {{16, 8, 32, 2, 0, 1}},
      {{16, 4, 32, 2, 0, 2}},          {{16, 4, 32, 2, 0, 4}},          {{16, 4, 32, 2, 0, 1}},
  };
  for (const Config& c : candidates)
    if (std::all_of(std::begin(kRules), std::end(kRules), [&](const Rule& rule) { return rule.holds(p, c, device); }))
      return c;
  return candidates[std::size(candidates) - 1];
}

Resources resources(const Problem& p, const Config& c) {
  return {c[kWarps] * 32, smem_bytes(p, c), held_registers(p, c), c[kMinBlocks]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto target = static_cast<hstu_dtype>(p[attention::kTargetDtype]);
  text.type("Element", device_type(static_cast<hstu_dtype>(p[attention::kDtype])));
  text.type("Offset", device_type(static_cast<hstu_dtype>(p[attention::kOffsetDtype])));
  text.type("Target", device_type(target == HSTU_DTYPE_NONE ? HSTU_DTYPE_I32 : target));
  text.type("Mask", "variant::HstuMask<Config>");
  text.type("Sequences", "variant::JaggedSequences<Config>");
  text.type("Keys", "tile::KeyRows<Config>");
  text.constant("kHeadDimQk", p[attention::kHeadDimQk]);
  text.constant("kHeadDimV", p[attention::kHeadDimV]);
  text.flag("kVectorIo", p[attention::kVector] == 8);
  text.flag("kCausal", p[attention::kMask] == HSTU_MASK_CAUSAL);
  text.flag("kLocal", false);
  text.flag("kHasTargets", target != HSTU_DTYPE_NONE);
  text.flag("kTargetGroups", false);
  text.flag("kContextual", p[attention::kContextual] != 0);
  text.flag("kMaxAttnLen", p[attention::kMaxAttnLen] != 0);
  text.flag("kMinFullAttn", p[attention::kMinFullAttn] != 0);
  text.flag("kAttnScale", p[attention::kAttnScale] != 0);
  text.flag("kSoftmax", false);
  text.constant("kRowsPerWarp", c[kRowsPerWarp]);
  text.constant("kWarps", c[kWarps]);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kStages", c[kStages]);
  text.constant("kQSteps", c[kQSteps]);
  text.constant("kMinBlocks", c[kMinBlocks]);
}

/// (head, sequence) pairs whose K and V together stay in half of the L2 cache, in equal sections.
int section_pairs(const hstu_attention_args& a, int64_t pairs, int64_t rows, const DeviceFacts& device) {
  const int64_t bytes = pairs * rows * (a.q.shape[2] + a.v.shape[2]) * size_of(a.q.dtype);
  int64_t sections = 1;
  while (sections < pairs && bytes > sections * (device.l2_bytes / 2)) sections *= 2;
  return static_cast<int>((pairs + sections - 1) / sections);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_attention_args*>(args);
  const int64_t batch = a.seq_offsets.shape[0] - 1, heads = a.q.shape[1], pairs = batch * heads;
  const int64_t rows = std::min(a.max_seq_len, a.q.shape[0]);
  constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;
  if (pairs == 0 || rows == 0) {
    launch.grid[0] = 0;
    return;
  }
  const int64_t row_blocks =
      std::clamp((rows + block_m(c) - 1) / block_m(c), int64_t{1}, std::max(int64_t{1}, kMostBlocks / pairs));
  launch.grid[0] = static_cast<uint32_t>(pairs * row_blocks);
  launch.block[0] = static_cast<uint32_t>(c[kWarps]) * 32;
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
  auto& k = launch.emplace<hstu::AttnFwdParams>();
  k.q = a.q.data;
  k.k = a.k.data;
  k.v = a.v.data;
  k.out = a.out.data;
  k.seq_offsets = a.seq_offsets.data;
  k.num_targets = a.num_targets.data;
  k.attn_scale = static_cast<const float*>(a.attn_scale.data);
  k.q_row_stride = a.q.stride[0], k.q_head_stride = a.q.stride[1];
  k.k_row_stride = a.k.stride[0], k.k_head_stride = a.k.stride[1];
  k.v_row_stride = a.v.stride[0], k.v_head_stride = a.v.stride[1];
  k.out_row_stride = a.out.stride[0], k.out_head_stride = a.out.stride[1];
  k.batch = static_cast<int>(batch);
  k.num_heads = static_cast<int>(heads);
  k.row_blocks = static_cast<int>(row_blocks);
  k.half_alpha = a.alpha / 2;
  k.scale = 1.0f / static_cast<float>(a.scaling_seqlen);
  k.attn_scale_stride = p[attention::kAttnScale] == 2;
  constexpr int64_t kMostRows = (int64_t{1} << 31) - 1;
  k.contextual_seq_len = static_cast<int>(std::min(a.contextual_seq_len, kMostRows));
  k.max_attn_len = static_cast<int>(std::min(a.max_attn_len, kMostRows));
  k.min_full_attn_seq_len = static_cast<int>(std::min(a.min_full_attn_seq_len, kMostRows));
  k.section_pairs = section_pairs(a, pairs, rows, device);
}

}  // namespace

const Family kAttnFwdSm80 = {
    .name = "attn_fwd_sm80",
    .op = Op::hstu_attention,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "attn_fwd_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
