// attn_fwd_sm90: jagged HSTU attention with TMA and warpgroup products, kernels/attn_fwd_sm90.cuh.
#include "params/attn_fwd_sm90.h"

#include "families/attn_facts.hpp"
#include "families/attn_space.hpp"
#include "families/families.hpp"
#include "families/jagged_map.hpp"
#include "problem/attention_extras.hpp"
#include "problem/attention_fields.hpp"

#include <algorithm>

namespace hstujit {
namespace {

enum : int { kConsumers, kBlockN, kStages, kQSteps, kBlocks, kSection, kWhole, kKnobCount };

constexpr int32_t kConsumersValues[] = {1, 2, 3};
constexpr int32_t kBlockNValues[] = {48, 64, 80, 96, 112, 128, 160, 192};
constexpr int32_t kStagesValues[] = {2, 3, 4, 5, 6};
constexpr int32_t kQStepsValues[] = {0, 4, 6, 8, 16};
constexpr int32_t kBlocksValues[] = {1, 2, 3};
constexpr int32_t kSectionValues[] = {0, 12, 25, 50, 100};
constexpr int32_t kWholeValues[] = {0, 1};
constexpr Knob kKnobs[] = {
    {"consumers", kConsumersValues, "warpgroups of 64 query rows: more share each K and V tile"},
    {"block_n", kBlockNValues, "keys a step: long products, for registers and masked waste"},
    {"stages", kStagesValues, "K and V tiles in flight"},
    {"q_steps", kQStepsValues, "k16 steps of Q that stay in registers: less shared memory is read, which costs power"},
    {"blocks", kBlocksValues, "blocks of threads an SM: their tiles are short, and out of step with each other"},
    {"section", kSectionValues,
     "percent of L2 that the keys of tiles walked together take: more balance the tiles, fewer read them from L2; 0: "
     "by "
     "the number of (sequence, head) pairs"},
    {"whole", kWholeValues, "1: of many short sequences an SM takes all rows of a head, whose keys lie near it in L2"},
};

constexpr int kWarpRows = 16;  ///< of O that a warp stores at once

int panels(int32_t head_dim) { return (head_dim + 63) / 64; }
int q_panels(const Problem& p) { return panels(p[attention::kHeadDimQk]); }
int v_panels(const Problem& p) { return panels(p[attention::kHeadDimV]); }
int q_steps_of(const Problem& p) { return (p[attention::kHeadDimQk] + 15) / 16; }
int block_m(const Config& c) { return 64 * c[kConsumers]; }

int smem_bytes(const Problem& p, const Config& c) {
  constexpr int kRowBytes = 128, kExtraBytes = 1024;
  const int q_and_output = (q_panels(p) + std::min(v_panels(p), 2)) * block_m(c);
  const int ring = c[kStages] * c[kBlockN] * (q_panels(p) + v_panels(p));
  return kRowBytes * (q_and_output + ring) + kExtraBytes;
}

/// Accumulators of O and S, P and the resident part of Q, per consumer thread.
int held_registers(const Problem& p, const Config& c) {
  const int cols_v = (p[attention::kHeadDimV] + 15) / 16 * 16;
  return cols_v / 2 + c[kBlockN] / 2 + c[kBlockN] / 4 + 4 * c[kQSteps];
}

/// What a thread of a consumer has, attn90/shape.cuh.
int consumer_registers(const Config& c) {
  const int launch = 65536 / ((c[kConsumers] + 1) * 128 * c[kBlocks]) / 8 * 8, producer = c[kConsumers] == 3 ? 56 : 40;
  return std::min((launch * (c[kConsumers] + 1) - producer) / c[kConsumers] / 8 * 8, 232);
}

bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  constexpr int kReserved = 1024;  // of each block, by the driver
  return smem_bytes(p, c) <= device.smem_per_block && c[kBlocks] * (smem_bytes(p, c) + kReserved) <= device.smem_per_sm;
}
/// Whether rows see different keys in ways that take more than a comparison.
bool has_mask(const Problem& p) {
  return p[attention::kTargetDtype] != HSTU_DTYPE_NONE || p[attention::kContextual] != 0 ||
         p[attention::kMaxAttnLen] != 0;
}

bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  // Beside them rows, places, descriptors, under softmax maxima and sums; with less to spare the compiler needs more,
  // and with a mask under SiLU, where a warpgroup finds its own full blocks, beside long steps: those of 128 keys,
  // which fall into chunks of 64, not, if all of Q stays.
  const bool all_softmax = p[attention::kSoftmaxHeads] == attention_extras::kAllSoftmax;
  const int softmax = p[attention::kSoftmaxHeads] != attention_extras::kNoSoftmax ? 4 : 0;
  const int has = consumer_registers(c);
  const bool long_steps = c[kBlockN] > 96 && !(c[kBlockN] == 128 && c[kQSteps] == q_steps_of(p));
  const int others = has_mask(p) && !all_softmax && long_steps ? 64 : has < 216 ? 40 : 32;
  return held_registers(p, c) + others + softmax <= has;
}
bool q_fits_its_steps(const Problem& p, const Config& c, const DeviceFacts&) { return c[kQSteps] <= q_steps_of(p); }

constexpr Rule kRules[] = {
    {"the tiles must fit the shared memory of a block", smem_fits},
    {"accumulators, P and resident Q would not fit the registers", registers_suffice},
    {"q_steps must not exceed the k16 steps of head_dim_qk", q_fits_its_steps},
};

bool covers(const Problem& p, const DeviceFacts& device) {
  const auto dtype = static_cast<hstu_dtype>(p[attention::kDtype]);
  const bool special = p[attention::kIntervals] > 0 || p[attention::kRab] != 0;
  return device.compute_capability == 90 && !special && p[attention::kVector] == 8 &&
         (dtype == HSTU_DTYPE_BF16 || dtype == HSTU_DTYPE_F16);
}

/// Measured best on an H200 for the common head dims; each falls back to what fits.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const int q_all = q_steps_of(p);
  const auto steps = [&](int most) {
    return *std::find_if(std::rbegin(kQStepsValues), std::rend(kQStepsValues),
                         [&](int count) { return count <= std::min(most, q_all); });
  };
  const bool softmax = p[attention::kSoftmaxHeads] != attention_extras::kNoSoftmax;
  const bool narrow = std::max(p[attention::kHeadDimQk], p[attention::kHeadDimV]) <= 64;
  const auto longest = p[attention::kMaxSeqLen];
  // Keys of short sequences pass between the halves of L2 more often than scores are worth.
  const int32_t section = longest <= 512 ? 12 : 0, whole = longest <= 256;
  // Softmax goes through a block twice, so longer ones pay.
  const Config candidates[] = {
      softmax  ? Config{{2, 128, 2, steps(8), 1, section, whole}}
      : narrow ? Config{{1, 64, 3, 0, 3, section, whole}}
               : Config{{2, 64, 4, steps(8), 1, section, whole}},
      {{2, 64, 3, steps(8), 1, section, whole}},
      {{2, 64, 2, steps(6), 1, section, whole}},
      {{2, 64, 2, 0, 1, section, whole}},
      {{2, 48, 2, 0, 1, section, whole}},
  };
  for (const Config& c : candidates)
    if (std::ranges::all_of(kRules, [&](const Rule& rule) { return rule.holds(p, c, device); })) return c;
  return candidates[std::size(candidates) - 1];
}

Resources resources(const Problem& p, const Config& c) {
  return {(c[kConsumers] + 1) * 128, smem_bytes(p, c), held_registers(p, c), c[kBlocks], c[kConsumers] * 128};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  attn_facts::write(text, p);
  if (p[attention::kMoments] != 0) text.flag("kMoments", true);
  text.constant("kConsumers", c[kConsumers]);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kStages", c[kStages]);
  text.constant("kQSteps", c[kQSteps]);
  text.constant("kBlocks", c[kBlocks]);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_attention_args*>(args);
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
  k.attn.section_pairs = attn_space::walked_section_pairs(
      pairs, pairs * rows * (a.q.shape[2] + a.v.shape[2]) * size_of(a.q.dtype), device, c[kSection]);
  const int64_t blocks = int64_t{device.sm_count} * c[kBlocks];
  k.attn.whole_pairs = c[kWhole] != 0 ? static_cast<int>(std::max<int64_t>(pairs - 2 * blocks, 0)) : 0;
  encode_tensor_map(jagged_map(a.q, block_m(c)), k.q);
  encode_tensor_map(jagged_map(a.k, c[kBlockN]), k.k);
  encode_tensor_map(jagged_map(a.v, c[kBlockN]), k.v);
  encode_tensor_map(jagged_map(a.out, kWarpRows), k.out);
  launch.grid[0] = static_cast<uint32_t>(std::min(blocks, pairs * row_blocks));
  launch.block[0] = static_cast<uint32_t>(c[kConsumers] + 1) * 128;
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
}

}  // namespace

const Family kAttnFwdSm90 = {
    .name = "attn_fwd_sm90",
    .op = Op::hstu_attention,
    .min_compute_capability = 90,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "attn_fwd_sm90_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::AttnFwdSm90Params, tile_counters),
};

}  // namespace hstujit
