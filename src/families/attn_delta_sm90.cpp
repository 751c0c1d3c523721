// attn_delta_sm90: attention of new rows against jagged keys and values with TMA and warpgroup products,
// kernels/attn_delta_sm90.cuh.
#include "params/attn_delta_sm90.h"

#include "families/attn_split.hpp"
#include "families/families.hpp"
#include "families/jagged_map.hpp"
#include "problem/attention_fields.hpp"

#include <algorithm>

namespace hstujit {
namespace {

namespace fields = delta_attention;

enum : int { kConsumers, kBlockN, kStages, kQSteps, kBlocks, kSplit, kKnobCount };

constexpr int32_t kConsumersValues[] = {1, 2};
constexpr int32_t kBlockNValues[] = {48, 64, 80, 96, 128};
constexpr int32_t kStagesValues[] = {2, 3, 4, 5, 6, 8};
constexpr int32_t kQStepsValues[] = {0, 4, 8};
constexpr int32_t kBlocksValues[] = {1, 2};
constexpr int32_t kSplitValues[] = {1, 2, 4};
constexpr Knob kKnobs[kKnobCount] = {
    {"consumers", kConsumersValues, "warpgroups of 64 query rows: more share each K and V tile"},
    {"block_n", kBlockNValues, "keys a step"},
    {"stages", kStagesValues, "K and V tiles in flight: what bounds many keys is how many bytes are"},
    {"q_steps", kQStepsValues, "k16 steps of Q that stay in registers: less shared memory is read"},
    {"blocks", kBlocksValues, "blocks of threads an SM: one begins and ends beside another's copies"},
    {"split", kSplitValues, "blocks that share the keys of a tile, where tiles are fewer than SMs"},
};

constexpr int kRowBytes = 128;
constexpr int kWarpRows = 16;  ///< of O that a warp stores at once

int panels(int32_t head_dim) { return (head_dim + 63) / 64; }
int q_panels(const Problem& p) { return panels(p[fields::kHeadDimQk]); }
int v_panels(const Problem& p) { return panels(p[fields::kHeadDimV]); }
int q_steps_of(const Problem& p) { return (p[fields::kHeadDimQk] + 15) / 16; }
int cols_v(const Problem& p) { return (p[fields::kHeadDimV] + 15) / 16 * 16; }
int block_m(const Config& c) { return 64 * c[kConsumers]; }
int64_t row_blocks(int64_t rows, const Config& c) { return (rows + block_m(c) - 1) / block_m(c); }
int64_t tiles(const Problem& p, const Config& c) {
  return int64_t{p[fields::kBatch]} * p[fields::kNumHeads] * row_blocks(p[fields::kMaxQLen], c);
}

int ring_bytes(const Problem& p, const Config& c) {
  return kRowBytes * c[kStages] * c[kBlockN] * (q_panels(p) + v_panels(p));
}
int smem_bytes(const Problem& p, const Config& c) {
  constexpr int kExtraBytes = 1024;
  return kRowBytes * (q_panels(p) + std::min(v_panels(p), 2)) * block_m(c) + ring_bytes(p, c) + kExtraBytes;
}

/// Accumulators of O and S, P and the resident part of Q, per consumer thread.
int held_registers(const Problem& p, const Config& c) {
  return cols_v(p) / 2 + c[kBlockN] / 2 + c[kBlockN] / 4 + 4 * c[kQSteps];
}
/// What a thread of a consumer has.
int consumer_registers(const Config& c) {
  constexpr int kProducer = 56;
  const int launch = 65536 / ((c[kConsumers] + 1) * 128 * c[kBlocks]) / 8 * 8;
  return std::min((launch * (c[kConsumers] + 1) - kProducer) / c[kConsumers] / 8 * 8, 232);
}

bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  constexpr int kReserved = 1024;  // of each block, by the driver
  return smem_bytes(p, c) <= device.smem_per_block && c[kBlocks] * (smem_bytes(p, c) + kReserved) <= device.smem_per_sm;
}
bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  // Beside them rows, places, descriptors; behind long steps the exchange of sums needs more (NVRTC 13.0: of 165
  // configurations at head dim 128 three spilled with 56).
  const int exchange = c[kSplit] == 1 || c[kBlockN] <= 80 ? 0 : c[kBlockN] <= 96 ? 20 : 32;
  return held_registers(p, c) + 40 + exchange <= consumer_registers(c);
}
bool q_fits_its_steps(const Problem& p, const Config& c, const DeviceFacts&) { return c[kQSteps] <= q_steps_of(p); }
bool sums_fit(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kSplit] == 1 || block_m(c) * cols_v(p) * 4 <= ring_bytes(p, c);
}
bool rows_are_there(const Problem& p, const Config& c, const DeviceFacts&) {
  return block_m(c) <= std::max(64, p[fields::kMaxQLen]);
}
bool split_is_of_use(const Problem& p, const Config& c, const DeviceFacts& device) {
  return c[kSplit] == 1 || tiles(p, c) * c[kSplit] <= 2 * int64_t{device.sm_count} * c[kBlocks];
}

constexpr Rule kRules[] = {
    {"the tiles must fit the shared memory of a block", smem_fits},
    {"accumulators, P and resident Q would not fit the registers", registers_suffice},
    {"q_steps must not exceed the k16 steps of head_dim_qk", q_fits_its_steps},
    {"blocks that share keys exchange their sums where the keys were", sums_fit},
    {"more rows a block than a sequence has queries", rows_are_there},
    {"where tiles fill the device, splitting them only costs", split_is_of_use, true},
};

/// Clusters of four leave two of the 18 SMs that some parts of the device have: 30 fit on 132.
int64_t blocks_at_once(int32_t split, const DeviceFacts& device) {
  return split > 2 ? int64_t{device.sm_count} * 10 / 11 : device.sm_count;
}

/// attn_delta_sm80 has smaller tiles: up to 16 rows are as fast there, unless their keys are to be shared.
bool rows_pay(const Problem& p, const DeviceFacts& device) {
  constexpr Config kShared = {{1, 64, 2, 0, 1, 2}};
  return p[fields::kMaxQLen] > 16 || tiles(p, kShared) * 2 <= device.sm_count;
}

bool covers(const Problem& p, const DeviceFacts& device) {
  const bool half = p[fields::kDtype] == HSTU_DTYPE_BF16 || p[fields::kDtype] == HSTU_DTYPE_F16;
  const bool special = p[fields::kIntervals] > 0 || p[fields::kRab] != 0;
  return device.compute_capability == 90 && half && !special && p[fields::kVector] == 8 && rows_pay(p, device);
}

/// Measured best on an H200: as deep a ring as fits, and as many blocks a tile as the device runs at once.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const auto fits = [&](const Config& c) {
    return std::ranges::all_of(kRules, [&](const Rule& rule) { return rule.holds(p, c, device); });
  };
  const int32_t consumers = p[fields::kMaxQLen] > 64 ? 2 : 1;
  for (const int32_t block_n : {64, 48})
    for (const int32_t q_steps : {8, 4, 0})
      for (const int32_t stages : {6, 5, 4, 3, 2}) {
        Config best{{consumers, block_n, stages, q_steps, 1, 1}};
        if (!fits(best)) continue;
        for (Config c = best; const int32_t split : kSplitValues) {
          c[kSplit] = split;
          if (tiles(p, c) * split <= blocks_at_once(split, device) && fits(c)) best = c;
        }
        return best;
      }
  return {{1, 48, 2, 0, 1, 1}};
}

Resources resources(const Problem& p, const Config& c) {
  return {(c[kConsumers] + 1) * 128, smem_bytes(p, c), held_registers(p, c), c[kBlocks], c[kConsumers] * 128};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  attn_split::write_facts(text, p);
  if (p[fields::kHeadsPerKv] > 1) text.constant("kHeadsPerKv", p[fields::kHeadsPerKv]);
  text.constant("kConsumers", c[kConsumers]);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kStages", c[kStages]);
  text.constant("kQSteps", c[kQSteps]);
  text.constant("kBlocks", c[kBlocks]);
  text.constant("kSplit", c[kSplit]);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_delta_attention_args*>(args);
  const int64_t batch = a.seq_offsets.shape[0] - 1, pairs = batch * a.q.shape[1];
  const int64_t rows = std::min(a.max_q_len, a.q.shape[0]);
  constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;
  if (pairs == 0 || rows == 0) {
    launch.grid[0] = 0;
    return;
  }
  auto& k = launch.emplace<hstu::AttnDeltaSm90Params>();
  attn_split::fill(k.attn, a, p, batch);
  attn_split::fill_cache(k.attn, a, p);
  const int64_t blocks_of_rows =
      std::clamp(row_blocks(rows, c), int64_t{1}, std::max(int64_t{1}, kMostBlocks / (pairs * c[kSplit])));
  k.attn.row_blocks = static_cast<int>(blocks_of_rows);
  // Without keys nothing is loaded, but a map must have rows.
  const bool keys = a.k.shape[0] > 0;
  encode_tensor_map(jagged_map(a.q, block_m(c)), k.q);
  encode_tensor_map(jagged_map(keys ? a.k : a.q, c[kBlockN]), k.k);
  encode_tensor_map(jagged_map(keys ? a.v : a.q, c[kBlockN]), k.v);
  encode_tensor_map(jagged_map(a.out, kWarpRows), k.out);
  const int64_t all = pairs * blocks_of_rows, at_once = int64_t{device.sm_count} * c[kBlocks];
  launch.grid[0] = static_cast<uint32_t>(c[kSplit] > 1 ? all * c[kSplit] : std::min(all, at_once));
  launch.cluster = static_cast<uint32_t>(c[kSplit]);
  launch.block[0] = static_cast<uint32_t>(c[kConsumers] + 1) * 128;
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
}

}  // namespace

const Family kAttnDeltaSm90 = {
    .name = "attn_delta_sm90",
    .op = Op::delta_hstu_attention,
    .min_compute_capability = 90,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "attn_delta_sm90_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::AttnDeltaSm90Params, tile_counters),
};

}  // namespace hstujit
