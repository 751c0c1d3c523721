// flash_attn_sm90: softmax attention with TMA and warpgroup products, kernels/flash_attn_sm90.cuh.
#include "families/attn_space.hpp"
#include "families/families.hpp"
#include "families/flash_attn.hpp"
#include "families/jagged_map.hpp"
#include "params/attn_fwd_sm90.h"
#include "problem/attention_fields.hpp"
#include "problem/operators.hpp"

#include <algorithm>

namespace hstujit {
namespace {

namespace fields = flash_attention;

enum : int { kConsumers, kBlockN, kStages, kQSteps, kTurns, kKnobCount };

constexpr int32_t kConsumersValues[] = {1, 2, 3};
constexpr int32_t kBlockNValues[] = {48, 64, 80, 96, 112, 128, 144, 160, 192};
constexpr int32_t kStagesValues[] = {2, 3, 4, 6};
constexpr int32_t kQStepsValues[] = {0, 4, 8};
constexpr int32_t kTurnsValues[] = {0, 1};
constexpr Knob kKnobs[] = {
    {"consumers", kConsumersValues, "warpgroups of 64 query rows: more share each K and V tile"},
    {"block_n", kBlockNValues, "keys a step: long products, for registers and masked waste"},
    {"stages", kStagesValues, "K and V tiles in flight"},
    {"q_steps", kQStepsValues, "k16 steps of Q that stay in registers: less shared memory is read, which costs power"},
    {"turns", kTurnsValues, "warpgroups issue their products in turns: one's softmax runs beside the others' products"},
};

constexpr int kWarpRows = 16;  ///< of O that a warp stores at once

int panels(int32_t head_dim) { return (head_dim + 63) / 64; }
int q_panels(const Problem& p) { return panels(p[fields::kHeadDimQk]); }
int v_panels(const Problem& p) { return panels(p[fields::kHeadDimV]); }
int q_steps_of(const Problem& p) { return (p[fields::kHeadDimQk] + 15) / 16; }
int block_m(const Config& c) { return 64 * c[kConsumers]; }

int smem_bytes(const Problem& p, const Config& c) {
  constexpr int kRowBytes = 128, kExtraBytes = 1024;
  const int q_and_output = (q_panels(p) + std::min(v_panels(p), 2)) * block_m(c);
  const int ring = c[kStages] * c[kBlockN] * (q_panels(p) + v_panels(p));
  return kRowBytes * (q_and_output + ring) + kExtraBytes;
}

/// Accumulators of O and S, P and the resident part of Q, per consumer thread.
int held_registers(const Problem& p, const Config& c) {
  const int cols_v = (p[fields::kHeadDimV] + 15) / 16 * 16;
  return cols_v / 2 + c[kBlockN] / 2 + c[kBlockN] / 4 + 4 * c[kQSteps];
}

bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_bytes(p, c) <= device.smem_per_block;
}
bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  // Beside them maxima, sums, rows, places, descriptors; with less to spare the compiler needs more room.
  return c[kConsumers] == 3 ? held_registers(p, c) + 40 <= 152 : held_registers(p, c) + 36 <= 232;
}
bool q_fits_its_steps(const Problem& p, const Config& c, const DeviceFacts&) { return c[kQSteps] <= q_steps_of(p); }
bool turns_need_others(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kTurns] == 0 || c[kConsumers] > 1;
}

constexpr Rule kRules[] = {
    {"the tiles must fit the shared memory of a block", smem_fits},
    {"accumulators, P and resident Q would not fit the registers", registers_suffice},
    {"q_steps must not exceed the k16 steps of head_dim_qk", q_fits_its_steps},
    {"a single consumer has nobody to take turns with", turns_need_others},
};

bool covers(const Problem& p, const DeviceFacts& device) {
  const bool half = p[fields::kDtype] == HSTU_DTYPE_BF16 || p[fields::kDtype] == HSTU_DTYPE_F16;
  return device.compute_capability == 90 && half && p[fields::kVector] == 8;
}

/// Measured best on an H200 for head dims 64 and 128; others take what fits.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const int32_t q_steps = q_steps_of(p) >= 8 ? 8 : q_steps_of(p) >= 4 ? 4 : 0;
  // Of short rows a larger part is masked, chunk by chunk, where turns only wait.
  const bool is_short = p[fields::kMask] == HSTU_MASK_CAUSAL && p[fields::kKeys] <= 2048;
  const Config narrow = is_short && q_steps == 4 ? Config{{3, 64, 6, 4, 0}} : Config{{3, 96, 4, 0, 1}};
  const Config candidates[] = {
      {{2, 128, 2, q_steps, 0}}, {{2, 96, 2, 4, 0}}, {{2, 64, 2, 4, 0}}, {{2, 64, 2, 0, 0}}, {{2, 48, 2, 0, 0}},
  };
  const auto legal = [&](const Config& c) {
    return std::ranges::all_of(kRules, [&](const Rule& rule) { return rule.holds(p, c, device); });
  };
  if (std::max(p[fields::kHeadDimQk], p[fields::kHeadDimV]) <= 64 && legal(narrow)) return narrow;
  const auto* found = std::ranges::find_if(candidates, legal);
  return found != std::end(candidates) ? *found : candidates[std::size(candidates) - 1];
}

Resources resources(const Problem& p, const Config& c) {
  return {(c[kConsumers] + 1) * 128, smem_bytes(p, c), held_registers(p, c), 1, c[kConsumers] * 128};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  flash_attn::write_facts(text, p);
  text.constant("kConsumers", c[kConsumers]);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kStages", c[kStages]);
  text.constant("kQSteps", c[kQSteps]);
  text.constant("kBlocks", 1);
  text.flag("kTurns", c[kTurns] != 0);
}

/// Of a dense tensor [batch, heads, rows, columns] in boxes of 128 bytes x `rows`, with the rows of a head together.
TensorMapSpec dense_map(const hstu_tensor& t, int rows) {
  constexpr int kOrder[] = {3, 2, 1, 0};
  const auto element = static_cast<uint64_t>(size_of(t.dtype));
  TensorMapSpec spec;
  spec.base = t.data;
  spec.dtype = t.dtype;
  spec.rank = 4;
  for (int i = 0; i < 4; ++i) {
    spec.extent[i] = static_cast<uint64_t>(t.shape[kOrder[i]]);
    spec.box[i] = i == 0 ? static_cast<uint32_t>(128 / element) : i == 1 ? static_cast<uint32_t>(rows) : 1;
    // An extent of one needs no stride, but the map does.
    if (i > 0) spec.stride[i - 1] = spec.extent[i] > 1 ? static_cast<uint64_t>(t.stride[kOrder[i]]) * element : 16;
  }
  return spec;
}

void encode_maps(const hstu_flash_attention_args& a, const Config& c, int64_t keys, hstu::AttnFwdSm90Params& k) {
  const auto map = present(a.seq_offsets) ? jagged_map : dense_map;
  // Without keys nothing is loaded, but a map must have rows.
  encode_tensor_map(map(a.q, block_m(c)), k.q);
  encode_tensor_map(map(keys > 0 ? a.k : a.q, c[kBlockN]), k.k);
  encode_tensor_map(map(keys > 0 ? a.v : a.q, c[kBlockN]), k.v);
  encode_tensor_map(map(a.out, kWarpRows), k.out);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_flash_attention_args*>(args);
  const flash_attn::Extents extents = flash_attn::extents_of(a);
  const int64_t pairs = extents.batch * extents.heads;
  constexpr int64_t kMostTiles = (int64_t{1} << 31) - 1;
  if (pairs == 0 || extents.rows == 0) {
    launch.grid[0] = 0;
    return;
  }
  auto& k = launch.emplace<hstu::AttnFwdSm90Params>();
  flash_attn::fill(k.attn, a, extents);
  const int64_t row_blocks =
      std::clamp((extents.rows + block_m(c) - 1) / block_m(c), int64_t{1}, std::max(int64_t{1}, kMostTiles / pairs));
  k.attn.row_blocks = static_cast<int>(row_blocks);
  const int64_t dims = a.q.shape[extents.last] + a.v.shape[extents.last];
  k.attn.section_pairs =
      attn_space::walked_section_pairs(pairs, pairs * extents.keys * dims * size_of(a.q.dtype), device);
  encode_maps(a, c, extents.keys, k);
  launch.grid[0] = static_cast<uint32_t>(std::min<int64_t>(device.sm_count, pairs * row_blocks));
  launch.block[0] = static_cast<uint32_t>(c[kConsumers] + 1) * 128;
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
}

}  // namespace

const Family kFlashAttnSm90 = {
    .name = "flash_attn_sm90",
    .op = Op::flash_attention,
    .min_compute_capability = 90,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "flash_attn_sm90_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::AttnFwdSm90Params, tile_counters),
};

}  // namespace hstujit
