// attn_fwd_sm90: jagged HSTU attention with TMA and warpgroup products, kernels/attention/attn_fwd_sm90.cuh.
#include "attention/attn_fwd_sm90.h"

#include "families/attention/attn90.hpp"
#include "families/attention/attn_facts.hpp"
#include "families/families.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/attention_checks.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using attn90::kBlockN, attn90::kQSteps;
enum : int { kBlocks = attn90::kSharedKnobs, kSection, kWhole };

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

attn90::Shape shape_of(const Problem& p, const Config& c) {
  return {.head_dim_qk = p[attention::kHeadDimQk],
          .head_dim_v = p[attention::kHeadDimV],
          .blocks = c[kBlocks],
          .bias = p[attention::kRab] != 0,
          .intervals = p[attention::kIntervals]};
}

/// Whether rows see different keys in ways that take more than a comparison.
bool has_mask(const Problem& p) {
  return p[attention::kTargetDtype] != HSTU_DTYPE_NONE || p[attention::kContextual] != 0 ||
         p[attention::kMaxAttnLen] != 0 || p[attention::kMask] == HSTU_MASK_LOCAL;
}

/// Rows, places, descriptors, under softmax maxima and sums; with less to spare the compiler needs more. Steps of many
/// keys want more beside a mask under SiLU, and more again where targets are no whole steps; so do heads of many
/// columns, most of all if Q stays in shared memory, whose descriptors take their place.
int other_registers(const Problem& p, const Config& c) {
  const attn90::Shape s = shape_of(p, c);
  const bool all_softmax = p[attention::kSoftmaxHeads] == attention_extras::kAllSoftmax;
  const int softmax = p[attention::kSoftmaxHeads] != attention_extras::kNoSoftmax ? 4 : 0;
  int others = attn90::consumer_registers(s, c) < 216 || c[kBlockN] > 128 ? 40 : 32;
  const bool masks = (has_mask(p) && !all_softmax) || p[attention::kIntervals] > 0;
  if (masks && c[kBlockN] > 96) others = 64;
  if (all_softmax && has_mask(p) && c[kBlockN] > 96) others = std::max(others, 44);
  if (s.head_dim_v > 128 && c[kQSteps] == 0) others = std::max(others, masks ? 64 : 60);
  if (s.head_dim_v > 128 && c[kQSteps] > 0 && (masks || softmax > 0))
    others = std::max(others, c[attn90::kConsumers] == 1 ? 44 : 40);
  if (s.head_dim_v > 128 && s.bias) others = std::max(others, 60);
  if (s.head_dim_v > 128 && p[attention::kIntervals] > 0) others = std::max(others, 52);
  const bool either = p[attention::kSoftmaxHeads] == attention_extras::kSomeSoftmax;
  if (s.head_dim_v > 128 && either && masks)
    others = std::max(others, s.bias && c[attn90::kConsumers] > 1 ? 68 : c[kQSteps] > 0 ? 56 : 0);
  if (masks && c[kBlockN] > 64 && c[kBlockN] % 64 != 0) others += 24;
  return others + softmax;
}

constexpr Rule kRules[] = {
    attn90::kTilesFit<shape_of>,
    attn90::kRegistersSuffice<shape_of, other_registers>,
    attn90::kQFitsItsSteps<shape_of>,
};

bool covers(const Problem& p, const DeviceFacts& device) {
  return device.compute_capability == 90 && p[attention::kRab] != attention_extras::kBias &&
         p[attention::kVector] == 8 && is_16_bit(p[attention::kDtype]);
}

/// Measured best on an H200 for the common head dims; each falls back to what fits.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const auto steps = [&](int most) { return attn90::q_steps_up_to(most, kQStepsValues, shape_of(p, {})); };
  const bool softmax = p[attention::kSoftmaxHeads] != attention_extras::kNoSoftmax;
  const int32_t head_dim = std::max(p[attention::kHeadDimQk], p[attention::kHeadDimV]);
  const bool narrow = head_dim <= 64;
  const auto longest = p[attention::kMaxSeqLen];
  // Keys of short sequences pass between the halves of L2 more often than scores are worth.
  const int32_t section = longest <= 512 ? 12 : 0, whole = longest <= 256;
  // Fewer tiles of 128 rows than SMs: the longest one decides, so they are halved. An H100, us: (1, 4096, 4, 128) 46.9
  // and so 39.7; (1, 4096, 2, 256) 82 and 59; but (8, 512, 4, 128) 15.6 and 17.2.
  const bool few = int64_t{p[attention::kNumHeads]} * p[attention::kTotal] <= int64_t{128} * device.sm_count;
  const bool halved = few && longest > 512 && !softmax && !narrow;
  const Config half = head_dim <= 128 ? Config{{1, 64, 4, steps(8), 1, section, whole}}
                                      : Config{{1, 48, 3, steps(6), 1, section, whole}};
  // Softmax goes through a block twice, so longer ones pay.
  const Config candidates[] = {
      halved    ? half
      : softmax ? Config{{2, 128, 2, steps(8), 1, section, whole}}
      : narrow  ? Config{{1, 64, 3, 0, 3, section, whole}}
                : Config{{2, 64, 4, steps(8), 1, section, whole}},
      softmax ? Config{{2, 128, 2, steps(6), 1, section, whole}} : Config{{2, 64, 3, steps(8), 1, section, whole}},
      {{2, 64, 3, steps(8), 1, section, whole}},
      {{2, 64, 2, steps(6), 1, section, whole}},
      {{2, 64, 2, steps(4), 1, section, whole}},
      {{2, 48, 2, steps(4), 1, section, whole}},
      {{2, 64, 2, 0, 1, section, whole}},
      {{2, 48, 2, 0, 1, section, whole}},
      {{1, 48, 2, 0, 1, section, whole}},
  };
  return first_legal(candidates, kRules, p, device);
}

Resources resources(const Problem& p, const Config& c) { return attn90::resources(shape_of(p, c), c); }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const bool intervals = p[attention::kIntervals] > 0;
  text.type("Tile", intervals ? "attn90::IntervalTile<Config>" : "attn90::HstuTile<Config>");
  text.type("Place", intervals ? "attn90::IntervalPlace<Config>" : "attn90::HstuPlace<Config>");
  attn_facts::write(text, p);
  if (p[attention::kMoments] != 0) text.flag("kMoments", true);
  attn90::write_knobs(text, shape_of(p, c), c);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_attention_args*>(args);
  const attn90::Shape s = shape_of(p, c);
  const int64_t pairs = (a.seq_offsets.shape[0] - 1) * a.q.shape[1], rows = std::min(a.max_seq_len, a.q.shape[0]);
  const int row_blocks = attn90::set_grid(launch, s, c, pairs, rows, device);
  if (row_blocks == 0) return;
  auto& k = launch.emplace<hstu::AttnFwdSm90Params>();
  attn_facts::fill(k.attn, a, p);
  attn_facts::set_order(k.attn, attn90::block_m(c), rows, row_blocks,
                        attn90::section_pairs(s, pairs, rows, device, c[kSection]), device);
  // Tiles of contextual rows that would come early: where they take less than four times an SM's share of a section,
  // it is better that they come with theirs, and so are the others in the order of rows; if there are two sections,
  // one.
  if (k.attn.first_early != 0) {
    const int64_t keys = int64_t{k.attn.max_attn_len} + attn90::block_m(c);
    const bool two = pairs <= 2 * int64_t{k.attn.section_pairs};
    const int64_t beside = int64_t{k.attn.section_pairs} * (row_blocks - 1) * keys / device.sm_count;
    if (two) k.attn.section_pairs = static_cast<int>(pairs);
    k.attn.first_early = !two && rows > 4 * beside;
  }
  const int64_t blocks = int64_t{device.sm_count} * c[kBlocks];
  k.attn.whole_pairs = c[kWhole] != 0 ? static_cast<int>(std::max<int64_t>(pairs - 2 * blocks, 0)) : 0;
  attn90::encode_rows(a.q, a.out, c, k);
  attn90::encode_keys(a.k, a.v, c, k);
  if (p[attention::kRab] != 0) attn90::encode_bias(a.rab, c, k);
}

}  // namespace

const Family kAttnFwdSm90 = {
    .name = "attn_fwd_sm90",
    .room = "attention",
    .op = Op::attention,
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
