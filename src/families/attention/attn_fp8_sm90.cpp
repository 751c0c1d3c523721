// attn_fp8_sm90: jagged HSTU attention in FP8 with TMA and warpgroup products, kernels/attention/attn_fp8_sm90.cuh.
#include "attention/attn_fwd_sm90.h"
#include "families/attention/attn90.hpp"
#include "families/attention/attn_facts.hpp"
#include "families/families.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/attention_fp8.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using attn90::kConsumers, attn90::kBlockN;

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

/// Keys between promotions: f32 sums of wider heads have no room.
int promote_keys(const Problem& p) {
  return p[attention_fp8::kFastSums] != 0 || p[attention::kHeadDimV] > 128 ? 0 : 2048;
}

bool has_block_scales(const Problem& p) { return p[attention_fp8::kScaling] == HSTU_FP8_ATTENTION_BLOCK; }

attn90::Shape shape_of(const Problem& p, const Config& c) {
  return {.head_dim_qk = p[attention::kHeadDimQk],
          .head_dim_v = p[attention::kHeadDimV],
          .element_bytes = 1,
          .promotes = promote_keys(p) > 0,
          .producer_registers = c[kBlockN] <= 128 ? 56 : 40,
          .intervals = p[attention::kIntervals]};
}

/// Rows, places, descriptors, factors.
int other_registers(const Problem&, const Config&) { return 44; }

bool blocks_have_one_scale(const Problem& p, const Config& c, const DeviceFacts&) {
  return !has_block_scales(p) || 128 % c[kBlockN] == 0;
}

bool one_takes_short_steps(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kConsumers] > 1 || c[kBlockN] <= 96;
}

constexpr Rule kRules[] = {
    attn90::kTilesFit<shape_of>,
    attn90::kRegistersSuffice<shape_of, other_registers>,
    {"q_steps must not exceed the k32 steps of head_dim_qk", attn90::kQFitsItsSteps<shape_of>.holds},
    {"with scales of 128 rows a step's keys must have one: block_n must divide 128", blocks_have_one_scale},
    {"one warpgroup alone is for short sequences, which long steps waste", one_takes_short_steps},
};

bool covers(const Problem& p, const DeviceFacts& device) {
  return device.compute_capability == 90 && p[attention::kVector] == 16 && p[attention_fp8::kVectorOut] == 8;
}

/// Measured best on an H200 for head dim 128; each falls back to what fits.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const auto steps = [&](int most) { return attn90::q_steps_up_to(most, kQStepsValues, shape_of(p, {})); };
  const Config candidates[] = {
      {{2, 160, 2, steps(4)}}, {{2, 128, 3, steps(4)}}, {{2, 128, 2, steps(4)}}, {{2, 64, 3, steps(4)}},
      {{2, 64, 2, steps(2)}},  {{2, 64, 2, 0}},         {{1, 64, 2, 0}},
  };
  const bool is_long = p[attention::kMaxSeqLen] > 4096;
  return first_legal(std::span(candidates).subspan(is_long ? 0 : 1), kRules, p, device);
}

Resources resources(const Problem& p, const Config& c) {
  return {attn90::threads(c), attn90::smem_bytes(shape_of(p, c), c)};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(HSTU_DTYPE_E4M3));
  text.type("Output", device_type(static_cast<hstu_dtype>(p[attention::kDtype])));
  const bool intervals = p[attention::kIntervals] > 0;
  text.type("Tile", intervals ? "attn90::Fp8IntervalTile<Config>" : "attn90::Fp8Tile<Config>");
  text.type("Place", intervals ? "attn90::Fp8IntervalPlace<Config>" : "attn90::Fp8Place<Config>");
  attn_facts::write_fp8(text, p);
  if (has_block_scales(p)) text.flag("kBlockScales", true);
  text.constant("kPromoteKeys", promote_keys(p));
  attn90::write_knobs(text, shape_of(p, c), c);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_attention_fp8_args*>(args);
  const attn90::Shape s = shape_of(p, c);
  const int64_t pairs = (a.seq_offsets.shape[0] - 1) * a.q.shape[1];
  // With scales of 128 rows the first tile of a sequence may be short.
  const int64_t rows = std::min(a.max_seq_len, a.q.shape[0]) + (has_block_scales(p) ? attn90::block_m(c) - 1 : 0);
  const int row_blocks = attn90::set_grid(launch, s, c, pairs, rows, device);
  if (row_blocks == 0) return;
  auto& k = launch.emplace<hstu::AttnFwdSm90Params>();
  attn_facts::fill(k.attn, a, p);
  attn_facts::set_order(k.attn, attn90::block_m(c), rows, row_blocks, attn90::section_pairs(s, pairs, rows, device),
                        device);
  attn90::encode_rows(a.q, a.out, c, k);
  attn90::encode_keys(a.k, a.v, c, k);
}

}  // namespace

const Family kAttnFp8Sm90 = {
    .name = "attn_fp8_sm90",
    .room = "attention",
    .op = Op::attention_fp8,
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
