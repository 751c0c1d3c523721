#include "families/attention/attn_delta90.hpp"

#include "attention/attn_delta_sm90.h"
#include "attention/attn_paged_sm90.h"
#include "families/attention/attn_split.hpp"
#include "operators/attention/attention_checks.hpp"
#include "operators/attention/new_rows.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>

namespace hstujit::attn_delta90 {
namespace {

namespace fields = delta_attention;
using attn90::kBlockN;

enum : int { kBlocks = attn90::kSharedKnobs, kSplit };

constexpr int32_t kConsumersValues[] = {1, 2};
constexpr int32_t kBlockNValues[] = {48, 64, 80, 96, 128};
constexpr int32_t kStagesValues[] = {2, 3, 4, 5, 6, 8};
constexpr int32_t kQStepsValues[] = {0, 4, 8};
constexpr int32_t kBlocksValues[] = {1, 2};
constexpr int32_t kSplitValues[] = {1, 2, 4};
constexpr Knob kAllKnobs[] = {
    {"consumers", kConsumersValues, "warpgroups of 64 query rows: more share each K and V tile"},
    {"block_n", kBlockNValues, "keys a step"},
    {"stages", kStagesValues, "K and V tiles in flight: what bounds many keys is how many bytes are"},
    {"q_steps", kQStepsValues, "k16 steps of Q that stay in registers: less shared memory is read"},
    {"blocks", kBlocksValues, "blocks of threads an SM: one begins and ends beside another's copies"},
    {"split", kSplitValues, "blocks that share the keys of a tile, where tiles are fewer than SMs"},
};

attn90::Shape shape_of(const Problem& p, const Config& c) {
  return {.head_dim_qk = p[fields::kHeadDimQk],
          .head_dim_v = p[fields::kHeadDimV],
          .blocks = c[kBlocks],
          .producer_registers = 56,
          .bias = p[fields::kRab] != 0,
          .intervals = p[fields::kIntervals]};
}
int64_t tiles(const Problem& p, const Config& c) {
  const int64_t block_m = attn90::block_m(c);
  return int64_t{p[fields::kBatch]} * p[fields::kNumHeads] * ceil_div(p[fields::kMaxQLen], block_m);
}

/// Rows, places, descriptors; more for masks beside wide heads, most if they are given as data or bring a bias of keys
/// that lie apart, and to exchange sums, behind long steps or of wide heads. With Q in shared memory its descriptors
/// take its place, too.
int other_registers(const Problem& p, const Config& c) {
  const bool targets = p[fields::kTargetDtype] != HSTU_DTYPE_NONE, intervals = p[fields::kIntervals] > 0;
  const bool masked = targets || intervals || p[fields::kContextual] + p[fields::kMaxAttnLen] > 0;
  const bool bias = p[fields::kRab] != 0, apart = targets && bias && p[fields::kPageSize] > 0;
  const bool wide = p[fields::kHeadDimV] > 192, q_stays = c[attn90::kQSteps] > 0, split = c[kSplit] > 1;
  int others = 40;
  if (wide) others = (intervals || apart) && !q_stays ? 64 : masked ? 48 : 40;
  if (wide && split) others = q_stays ? (masked ? 60 : bias ? 52 : 40) : masked || bias ? 68 : 60;
  if (wide && c[attn90::kConsumers] > 1) others = std::max(others, q_stays ? 48 : split && intervals ? 72 : 56);
  if (intervals && c[kBlockN] > 64) others += 8;
  return others + (split && c[kBlockN] >= 96 ? 32 : 0);
}
bool sums_fit(const Problem& p, const Config& c, const DeviceFacts&) {
  const attn90::Shape s = shape_of(p, c);
  return c[kSplit] == 1 || attn90::block_m(c) * attn90::cols_v(s) * 4 <= attn90::ring_bytes(s, c);
}
bool rows_are_there(const Problem& p, const Config& c, const DeviceFacts&) {
  return attn90::block_m(c) <= std::max(64, p[fields::kMaxQLen]);
}
bool split_is_of_use(const Problem& p, const Config& c, const DeviceFacts& device) {
  return c[kSplit] == 1 || tiles(p, c) * c[kSplit] <= 2 * int64_t{device.sm_count} * c[kBlocks];
}

constexpr Rule kAllRules[] = {
    attn90::kTilesFit<shape_of>,
    attn90::kRegistersSuffice<shape_of, other_registers>,
    attn90::kQFitsItsSteps<shape_of>,
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

}  // namespace

const std::span<const Knob> kKnobs = kAllKnobs;
const std::span<const Rule> kRules = kAllRules;

bool covers(const Problem& p, const DeviceFacts& device) {
  return device.compute_capability == 90 && is_16_bit(p[fields::kDtype]) &&
         p[fields::kRab] != attention_extras::kBias && p[fields::kVector] == 8 && rows_pay(p, device);
}

/// Measured best on an H200: as many blocks a tile as the device runs at once, and as deep a ring as fits. Of wide
/// heads the sums of two warpgroups may not fit where the keys were; those of one do.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const int32_t most_consumers = p[fields::kMaxQLen] > 64 ? 2 : 1;
  for (const int32_t split : {4, 2, 1})
    for (int32_t consumers = most_consumers; consumers >= 1; --consumers)
      for (const int32_t block_n : {64, 48})
        for (const int32_t q_steps : {8, 4, 0})
          for (const int32_t stages : {6, 5, 4, 3, 2}) {
            const Config c{{consumers, block_n, stages, q_steps, 1, split}};
            const bool at_once = split == 1 || tiles(p, c) * split <= blocks_at_once(split, device);
            if (at_once && legal(kAllRules, p, c, device)) return c;
          }
  return {{1, 48, 2, 0, 1, 1}};
}

Resources resources(const Problem& p, const Config& c) { return attn90::resources(shape_of(p, c), c); }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  attn_split::write_facts(text, p);
  if (p[fields::kHeadsPerKv] > 1) text.constant("kHeadsPerKv", p[fields::kHeadsPerKv]);
  attn90::write_knobs(text, shape_of(p, c), c);
  text.constant("kSplit", c[kSplit]);
}

template <class Params, class Args>
Params* bind(const Args& a, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const int64_t batch = attn_split::batch_of(a), pairs = batch * a.q.shape[1];
  const int64_t rows = std::min(a.max_q_len, a.q.shape[0]);
  const auto split = static_cast<uint32_t>(c[kSplit]);
  const int row_blocks = attn90::set_grid(launch, shape_of(p, c), c, pairs * split, rows, device);
  if (row_blocks == 0) return nullptr;
  // A cluster has one tile; blocks alone take them in turns.
  if (split > 1) launch.grid[0] = static_cast<uint32_t>(pairs * row_blocks) * split;
  launch.cluster = split;
  auto& k = launch.emplace<Params>();
  attn_split::fill(k.attn, a, p, batch);
  attn_split::fill_cache(k.attn, a, p);
  k.attn.row_blocks = row_blocks;
  attn90::encode_rows(a.q, a.out, c, k);
  return &k;
}

template hstu::AttnDeltaSm90Params* bind(const hstu_delta_attention_args&, const Problem&, const Config&,
                                         const DeviceFacts&, Launch&);
template hstu::AttnPagedSm90Params* bind(const hstu_paged_attention_args&, const Problem&, const Config&,
                                         const DeviceFacts&, Launch&);

}  // namespace hstujit::attn_delta90
