// attn_bwd_sm80: gradients of jagged HSTU attention with the instructions of sm_80,
// kernels/attention/attn_bwd_sm80.cuh.
#include "families/attention/attn_bwd.hpp"
#include "families/attention/attn_facts.hpp"
#include "families/attention/attn_space.hpp"
#include "families/families.hpp"
#include "operators/attention/attention_backward.hpp"

#include <algorithm>

namespace hstujit {
namespace {

namespace key = attention_backward;
enum : int { kRowTiles, kWarps, kBlockN, kStages, kApart, kMinBlocks };

constexpr int32_t kRowTilesValues[] = {1, 2};
constexpr int32_t kWarpsValues[] = {2, 4, 8};
constexpr int32_t kBlockNValues[] = {16, 32, 64};
constexpr int32_t kStagesValues[] = {2, 3};
constexpr int32_t kApartValues[] = {0, 1};
constexpr int32_t kMinBlocksValues[] = {1, 2, 3};

constexpr Knob kKnobs[] = {
    {"row_tiles", kRowTilesValues, "16 rows each a warp: two halve the shared-memory reads, one fits wide heads"},
    {"warps", kWarpsValues, "rows a block: more share each tile of the other side, fewer waste less at masks' edges"},
    {"block_n", kBlockNValues, "rows of the other side a step: fewer barriers, for registers"},
    {"stages", kStagesValues, "tiles of the other side in flight"},
    {"apart", kApartValues, "dk and dv at places of their own: scores once more, for half of the sums"},
    {"min_blocks", kMinBlocksValues, "blocks an SM: one's special functions run beside another's products"},
};

int padded(int32_t head_dim) { return (head_dim + 15) / 16 * 16; }
int own_rows(const Config& c) { return c[kRowTiles] * 16 * c[kWarps]; }
bool has_softmax(const Problem& p) { return p[key::kSoftmaxHeads] != attention_extras::kNoSoftmax; }

int smem_bytes(const Problem& p, const Config& c) {
  const int qk = padded(p[key::kHeadDimQk]), v = padded(p[key::kHeadDimV]), n = c[kBlockN];
  const int stage = 2 * n * (qk + v + (has_softmax(p) ? v : 0)) + (3 * n * 4 + 127) / 128 * 128;
  return 2 * own_rows(c) * (qk + v) + c[kStages] * stage + 128;
}

/// Sums of dk and dv, or of dq, and scores and dP.
int held_registers(const Problem& p, const Config& c) {
  const int qk = p[key::kHasDq] || p[key::kHasDk] ? padded(p[key::kHeadDimQk]) / 2 : 0;
  const int v = p[key::kHasDv] ? padded(p[key::kHeadDimV]) / 2 : 0;
  return c[kRowTiles] * ((c[kApart] ? std::max(qk, v) : qk + v) + c[kBlockN]);
}

/// What options take beside addresses, operands and a simple mask: statistics and factors of the rows walked over,
/// addresses of panels of other widths, sums of scales.
int option_registers(const Problem& p) {
  const int kinds = attn_space::panel_kinds(p[key::kHeadDimQk]) + attn_space::panel_kinds(p[key::kHeadDimV]);
  const bool mixed = p[key::kSoftmaxHeads] == attention_extras::kSomeSoftmax;
  const bool factors = p[key::kAttnScale] == attention_checks::kRowScale;
  return (has_softmax(p) ? 6 : 0) + 4 * (mixed + factors + (p[key::kRab] != 0) + p[key::kHasDattnScale] + kinds - 2) +
         (p[key::kMaxAttnLen] || p[key::kTargetGroups] ? 4 : 0);
}

/// Whether no other point of the space takes fewer registers or less shared memory.
bool takes_least(const Problem& p, const Config& c) {
  return c[kRowTiles] == 1 && c[kWarps] == 2 && c[kBlockN] == 16 && c[kStages] == 2 && c[kMinBlocks] == 1 &&
         c[kApart] == attn_bwd::are_both_of_keys_wanted(p);
}

bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  const int others = (c[kRowTiles] == 2 ? 100 : 84) + (c[kBlockN] == 64 ? 12 : 0);
  return takes_least(p, c) ||
         held_registers(p, c) + others + option_registers(p) <= register_budget(c[kMinBlocks], c[kWarps] * 32);
}
bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_holds(device, c[kMinBlocks], smem_bytes(p, c));
}
bool both_are_wanted(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kApart] == 0 || attn_bwd::are_both_of_keys_wanted(p);
}
bool some_warps_to_switch(const Problem& p, const Config& c, const DeviceFacts& device) {
  return takes_least(p, c) || c[kMinBlocks] * c[kWarps] >= 8 || !smem_holds(device, 8 / c[kWarps], smem_bytes(p, c));
}

/// Of a kernel with every option at once 32 rows a step take 1.8 s to compile, 16 rows 1.2.
bool compiles_soon(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kBlockN] == 16 || p[key::kSoftmaxHeads] != attention_extras::kSomeSoftmax || !p[key::kDrab] ||
         !p[key::kHasDattnScale];
}

constexpr Rule kRules[] = {
    {"sums and scores would not fit the registers", registers_suffice, true},
    {"the tiles of min_blocks blocks must fit the shared memory of an SM", smem_fits},
    {"there is nothing to be apart unless dk and dv are both wanted", both_are_wanted},
    {"fewer than eight warps an SM leave its schedulers nothing to switch to, and another block would fit",
     some_warps_to_switch, true},
    {"with every option at once only short steps are compiled soon", compiles_soon, true},
};

bool covers(const Problem& p, const DeviceFacts&) {
  return is_16_bit(p[key::kDtype]) && attn_bwd::is_anything_wanted(p);
}

/// Two blocks of four warps an SM where they fit, for one waits while the other multiplies: the best of all on an H100
/// with head dims of 64 and 128. With 256 eight warps and 32 rows a step take 2.10 ms, two blocks and 16 rows 2.38.
Config default_config(const Problem& p, const DeviceFacts& device) {
  constexpr Config kCandidates[] = {
      {{1, 4, 64, 2, 0, 2}}, {{1, 4, 32, 2, 0, 2}}, {{1, 4, 16, 2, 0, 2}}, {{1, 4, 32, 2, 1, 2}}, {{1, 8, 32, 2, 0, 1}},
      {{1, 8, 32, 2, 1, 1}}, {{1, 4, 16, 2, 1, 2}}, {{1, 8, 16, 2, 0, 1}}, {{1, 8, 16, 2, 1, 1}}, {{1, 4, 32, 2, 0, 1}},
      {{1, 4, 16, 2, 0, 1}}, {{1, 4, 32, 2, 1, 1}}, {{1, 4, 16, 2, 1, 1}},
  };
  const auto holds = [&](const Config& c) {
    return std::ranges::all_of(kRules, [&](const Rule& rule) { return rule.holds(p, c, device); });
  };
  for (const Config& c : kCandidates)
    if (holds(c)) return c;
  const Config least = {{1, 2, 16, 2, attn_bwd::are_both_of_keys_wanted(p), 1}};
  return least;
}

Resources resources(const Problem& p, const Config& c) {
  return {c[kWarps] * 32, smem_bytes(p, c), held_registers(p, c), c[kMinBlocks]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  attn_facts::write_backward(text, p);
  text.flag("kHalf", p[key::kDtype] == HSTU_DTYPE_F16);
  text.flag("kVectorIo", p[key::kVector] == 8);
  text.constant("kRowTiles", c[kRowTiles]);
  text.constant("kWarps", c[kWarps]);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kStages", c[kStages]);
  text.flag("kApart", c[kApart] != 0);
  text.constant("kMinBlocks", c[kMinBlocks]);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  attn_bwd::bind(*static_cast<const hstu_attention_backward_args*>(args), p,
                 {.own = own_rows(c),
                  .walk = c[kBlockN],
                  .apart = c[kApart] != 0,
                  .threads = c[kWarps] * 32,
                  .smem_bytes = smem_bytes(p, c)},
                 device, launch);
}

}  // namespace

const Family kAttnBwdSm80 = {
    .name = "attn_bwd_sm80",
    .room = "attention",
    .op = Op::attention_backward,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "attn_bwd_sm80_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::AttnBwdParams, counters),
};

}  // namespace hstujit
