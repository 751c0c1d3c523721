// attn_fp8_sm90: jagged HSTU attention in FP8 with TMA and warpgroup products, kernels/attn_fp8_sm90.cuh.
#include "families/attn_facts.hpp"
#include "families/attn_space.hpp"
#include "families/families.hpp"
#include "families/jagged_map.hpp"
#include "params/attn_fwd_sm90.h"
#include "problem/attention_fields.hpp"

#include <algorithm>

namespace hstujit {
namespace {

enum : int { kConsumers, kBlockN, kStages, kQSteps, kKnobCount };

constexpr int32_t kConsumersValues[] = {1, 2};
constexpr int32_t kBlockNValues[] = {64, 96, 128, 160};
constexpr int32_t kStagesValues[] = {2, 3, 4};
constexpr int32_t kQStepsValues[] = {0, 2, 4, 8};
constexpr Knob kKnobs[] = {
    {"consumers", kConsumersValues, "warpgroups of 64 query rows: both share each K and V tile and its transposition"},
    {"block_n", kBlockNValues, "keys a step: long products, for registers and masked waste"},
    {"stages", kStagesValues, "K and V tiles in flight"},
    {"q_steps", kQStepsValues, "k32 steps of Q that stay in registers: less shared memory is read"},
};

constexpr int kWarpRows = 16;  ///< of O that a warp stores at once

int panels(int32_t head_dim) { return (head_dim + 127) / 128; }
int q_panels(const Problem& p) { return panels(p[attention::kHeadDimQk]); }
int v_panels(const Problem& p) { return panels(p[attention::kHeadDimV]); }
int q_steps_of(const Problem& p) { return (p[attention::kHeadDimQk] + 31) / 32; }
int cols_v(const Problem& p) { return (p[attention::kHeadDimV] + 15) / 16 * 16; }
int block_m(const Config& c) { return 64 * c[kConsumers]; }

/// Keys between promotions: f32 sums of wider heads have no room.
int promote_keys(const Problem& p) {
  return p[attention_fp8::kFastSums] != 0 || p[attention::kHeadDimV] > 128 ? 0 : 2048;
}

int smem_bytes(const Problem& p, const Config& c) {
  constexpr int kRowBytes = 128, kExtraBytes = 1024, kTransposedStages = 2;
  const int rows = q_panels(p) * block_m(c) + c[kStages] * c[kBlockN] * (q_panels(p) + v_panels(p)) +
                   kTransposedStages * panels(c[kBlockN]) * cols_v(p);
  const int boxes = std::min((p[attention::kHeadDimV] + 63) / 64, 2) * kWarpRows * kRowBytes;
  const int warp_output = std::max(promote_keys(p) > 0 ? cols_v(p) / 2 * 128 : 0, boxes);
  return kRowBytes * rows + c[kConsumers] * 4 * warp_output + kExtraBytes;
}

bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_bytes(p, c) <= device.smem_per_block;
}
bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  // Accumulators of O and S, P and the resident part of Q; beside them rows, places, descriptors.
  return cols_v(p) / 2 + c[kBlockN] / 2 + c[kBlockN] / 8 + 4 * c[kQSteps] + 48 <= 232;
}
bool q_fits_its_steps(const Problem& p, const Config& c, const DeviceFacts&) { return c[kQSteps] <= q_steps_of(p); }
bool one_takes_short_steps(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kConsumers] > 1 || c[kBlockN] <= 96;
}

constexpr Rule kRules[] = {
    {"the tiles must fit the shared memory of a block", smem_fits},
    {"accumulators, P and resident Q would not fit the registers", registers_suffice},
    {"q_steps must not exceed the k32 steps of head_dim_qk", q_fits_its_steps},
    {"one warpgroup alone is for short sequences, which long steps waste", one_takes_short_steps},
};

bool covers(const Problem& p, const DeviceFacts& device) {
  return device.compute_capability == 90 && p[attention::kIntervals] == 0 &&
         p[attention_fp8::kScaling] != HSTU_FP8_ATTENTION_BLOCK && p[attention::kVector] == 16 &&
         p[attention_fp8::kVectorOut] == 8;
}

/// Measured best on an H200 for head dim 128; each falls back to what fits.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const int q_all = q_steps_of(p);
  const auto steps = [&](int most) {
    return *std::find_if(std::rbegin(kQStepsValues), std::rend(kQStepsValues),
                         [&](int count) { return count <= std::min(most, q_all); });
  };
  const Config candidates[] = {
      {{2, 160, 2, steps(4)}}, {{2, 128, 3, steps(4)}}, {{2, 128, 2, steps(4)}}, {{2, 64, 3, steps(4)}},
      {{2, 64, 2, steps(2)}},  {{2, 64, 2, 0}},         {{1, 64, 2, 0}},
  };
  const bool is_long = p[attention::kMaxSeqLen] > 4096;
  for (size_t i = is_long ? 0 : 1; i < std::size(candidates); ++i)
    if (std::ranges::all_of(kRules, [&](const Rule& rule) { return rule.holds(p, candidates[i], device); }))
      return candidates[i];
  return candidates[std::size(candidates) - 1];
}

Resources resources(const Problem& p, const Config& c) { return {(c[kConsumers] + 1) * 128, smem_bytes(p, c), 0, 1}; }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(HSTU_DTYPE_E4M3));
  text.type("Output", device_type(static_cast<hstu_dtype>(p[attention::kDtype])));
  attn_facts::write_fp8(text, p);
  text.constant("kPromoteKeys", promote_keys(p));
  text.constant("kConsumers", c[kConsumers]);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kStages", c[kStages]);
  text.constant("kQSteps", c[kQSteps]);
  text.constant("kBlocks", 1);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_attention_fp8_args*>(args);
  const int64_t pairs = (a.seq_offsets.shape[0] - 1) * a.q.shape[1], rows = std::min(a.max_seq_len, a.q.shape[0]);
  constexpr int64_t kMostTiles = (int64_t{1} << 31) - 1;
  if (pairs == 0 || rows == 0) {
    launch.grid[0] = 0;
    return;
  }
  auto& k = launch.emplace<hstu::AttnFwdSm90Params>();
  attn_facts::fill(k.attn, a, p);
  const int64_t row_blocks =
      std::clamp((rows + block_m(c) - 1) / block_m(c), int64_t{1}, std::max(int64_t{1}, kMostTiles / pairs));
  k.attn.row_blocks = static_cast<int>(row_blocks);
  k.attn.section_pairs = attn_space::walked_section_pairs(pairs, pairs * rows * (a.q.shape[2] + a.v.shape[2]), device);
  encode_tensor_map(jagged_map(a.q, block_m(c)), k.q);
  encode_tensor_map(jagged_map(a.k, c[kBlockN]), k.k);
  encode_tensor_map(jagged_map(a.v, c[kBlockN]), k.v);
  encode_tensor_map(jagged_map(a.out, kWarpRows), k.out);
  launch.grid[0] = static_cast<uint32_t>(std::min<int64_t>(device.sm_count, pairs * row_blocks));
  launch.block[0] = static_cast<uint32_t>(c[kConsumers] + 1) * 128;
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
}

}  // namespace

const Family kAttnFp8Sm90 = {
    .name = "attn_fp8_sm90",
    .op = Op::hstu_attention_fp8,
    .min_compute_capability = 90,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "attn_fp8_sm90_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::AttnFwdSm90Params, tile_counters),
};

}  // namespace hstujit
