// attn_bwd_sm90: gradients of jagged HSTU attention with TMA and warpgroup products,
// kernels/attention/attn_bwd_sm90.cuh.
#include "attention/attn_bwd_sm90.h"

#include "families/attention/attn_bwd.hpp"
#include "families/attention/attn_facts.hpp"
#include "families/families.hpp"
#include "families/jagged/jagged_map.hpp"
#include "operators/attention/attention_backward.hpp"

#include <algorithm>

namespace hstujit {
namespace {

namespace key = attention_backward;
enum : int { kBlockN, kStages, kApart, kKeyParts, kOwnTiles };

constexpr int32_t kBlockNValues[] = {32, 48, 64, 96};
constexpr int32_t kStagesValues[] = {2, 3, 4};
constexpr int32_t kApartValues[] = {0, 1};
constexpr int32_t kKeyPartsValues[] = {1, 2};
constexpr int32_t kOwnTilesValues[] = {1, 2};
constexpr int kOwn = 128, kThreads = 384, kWarpRows = 16;  // of the kernel
constexpr int kMostHeld = 218;  // of a consumer's 232 registers; the rest are places and the mask

constexpr Knob kKnobs[] = {
    {"block_n", kBlockNValues, "rows of the other side a tile: long products, for registers and masked waste"},
    {"stages", kStagesValues, "tiles of the other side in flight"},
    {"apart", kApartValues, "dk and dv at places of their own: scores once more, for half of the sums"},
    {"key_parts", kKeyPartsValues, "2: keys, which have two sums, take half of a tile a step"},
    {"own_tiles", kOwnTilesValues, "2: the next tile of own rows comes while one is walked for, for stages"},
};

int columns(int32_t head_dim) { return (head_dim + 15) / 16 * 16; }
int panel_columns(const Problem& p) { return (p[key::kHeadDimQk] + 63) / 64 * 64 + (p[key::kHeadDimV] + 63) / 64 * 64; }

int smem_bytes(const Problem& p, const Config& c) {
  return 2 * panel_columns(p) * (c[kOwnTiles] * kOwn + c[kStages] * c[kBlockN]) + 1024;
}

int box_rows(const Config& c) { return c[kBlockN] % 64 == 0 ? 64 : c[kBlockN] % 32 == 0 ? 32 : 16; }

/// Sums, scores, dP, and words of both operands; factors; addresses of the products' operands, which ptxas holds.
/// Fitted to kernels of all head dims: what spills, or makes ptxas give up that products overlap, holds more.
int held_registers(const Problem& p, const Config& c) {
  const int qk = columns(p[key::kHeadDimQk]), v = columns(p[key::kHeadDimV]), step = c[kBlockN] / c[kKeyParts];
  const int sums_qk = p[key::kHasDk] ? qk / 2 : 0, sums_v = p[key::kHasDv] ? v / 2 : 0;
  const bool factors = p[key::kAttnScale] == attention_checks::kRowScale;
  const int keys = (c[kApart] ? std::max(sums_qk, sums_v) : sums_qk + sums_v) + step * 3 / 2 + (factors ? step / 4 : 0);
  const int queries = p[key::kHasDq] ? qk / 2 + c[kBlockN] * 5 / 4 - 12 : 0;
  const int more = (std::max(qk, v) > 240 ? 16 : 0) + (c[kBlockN] > 64 ? 8 : 0);
  return std::max(keys, queries) + (qk + v) / 16 + more;
}

/// What ptxas takes under causal masks although it holds more: long products of the commonest heads.
bool is_taken_all_the_same(const Problem& p, const Config& c) {
  return p[key::kDtype] == HSTU_DTYPE_BF16 && p[key::kMask] == HSTU_MASK_CAUSAL && columns(p[key::kHeadDimQk]) == 128 &&
         columns(p[key::kHeadDimV]) == 128 && p[key::kAttnScale] != attention_checks::kRowScale && c[kBlockN] == 64 &&
         c[kKeyParts] == 1;
}

bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  return held_registers(p, c) <= kMostHeld || is_taken_all_the_same(p, c);
}
bool steps_are_whole(const Problem&, const Config& c, const DeviceFacts&) {
  const int step = c[kBlockN] / c[kKeyParts];
  return step % 16 == 0 && step <= 64;
}
bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_holds(device, 1, smem_bytes(p, c));
}
bool both_are_wanted(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kApart] == 0 || attn_bwd::are_both_of_keys_wanted(p);
}

constexpr Rule kRules[] = {
    {"a step of keys must be of 16 to 64 rows", steps_are_whole},
    {"sums and scores would not fit the registers", registers_suffice},
    {"the tiles must fit the shared memory of a block", smem_fits},
    {"there is nothing to be apart unless dk and dv are both wanted", both_are_wanted},
};

/// The other families have gradients of biases and scales, and softmax heads.
bool covers(const Problem& p, const DeviceFacts& device) {
  return device.compute_capability == 90 && is_16_bit(p[key::kDtype]) && p[key::kVector] == 8 &&
         p[key::kSoftmaxHeads] == attention_extras::kNoSoftmax && p[key::kRab] == 0 && !p[key::kHasDattnScale] &&
         std::max(p[key::kHeadDimQk], p[key::kHeadDimV]) <= 256 && p[key::kHasDq] + p[key::kHasDk] + p[key::kHasDv] > 0;
}

/// Tiles of 64 rows in one step, or where the registers end in parts.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const int32_t both = attn_bwd::are_both_of_keys_wanted(p);
  const Config candidates[] = {{{64, 4, 0, 1, 2}},    {{64, 3, 0, 1, 2}},    {{64, 3, 0, 2, 2}},   {{32, 4, 0, 1, 2}},
                               {{64, 2, both, 2, 1}}, {{32, 3, both, 2, 1}}, {{32, 2, both, 2, 1}}};
  return first_legal(candidates, kRules, p, device);
}

Resources resources(const Problem& p, const Config& c) {
  return {kThreads, smem_bytes(p, c), held_registers(p, c), 1, 256};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  attn_facts::write_backward(text, p);
  text.flag("kHalf", p[key::kDtype] == HSTU_DTYPE_F16);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kStages", c[kStages]);
  text.flag("kApart", c[kApart] != 0);
  text.constant("kKeyParts", c[kKeyParts]);
  text.constant("kOwnTiles", c[kOwnTiles]);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_attention_backward_args*>(args);
  auto& k = launch.emplace<hstu::AttnBwdSm90Params>();
  const attn_bwd::Tiles tiles = {
      .own = kOwn, .walk = c[kBlockN], .apart = c[kApart] != 0, .threads = kThreads, .smem_bytes = smem_bytes(p, c)};
  const int64_t places = attn_bwd::fill(k.bwd, a, p, tiles, device);
  launch.grid[0] = static_cast<uint32_t>(std::min<int64_t>(places, device.sm_count));
  launch.block[0] = kThreads;
  launch.smem_bytes = static_cast<uint32_t>(tiles.smem_bytes);
  if (places == 0) return;
  encode_tensor_map(jagged_map(a.forward.q, box_rows(c)), k.q);
  encode_tensor_map(jagged_map(a.forward.k, box_rows(c)), k.k);
  encode_tensor_map(jagged_map(a.forward.v, box_rows(c)), k.v);
  encode_tensor_map(jagged_map(a.dout, box_rows(c)), k.dout);
  if (p[key::kHasDq]) encode_tensor_map(jagged_map(a.dq, kWarpRows), k.dq);
  if (p[key::kHasDk]) encode_tensor_map(jagged_map(a.dk, kWarpRows), k.dk);
  if (p[key::kHasDv]) encode_tensor_map(jagged_map(a.dv, kWarpRows), k.dv);
}

}  // namespace

const Family kAttnBwdSm90 = {
    .name = "attn_bwd_sm90",
    .room = "attention",
    .op = Op::attention_backward,
    .min_compute_capability = 90,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "attn_bwd_sm90_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::AttnBwdSm90Params, bwd) + offsetof(hstu::AttnBwdParams, counters),
};

}  // namespace hstujit
