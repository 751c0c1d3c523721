// addmm_split_sm90: matrix products whose tiles are too few for the device, their k divided among clusters,
// kernels/dense/addmm_split_sm90.cuh.
#include "dense/addmm_split.h"
#include "families/dense/tma_product.hpp"
#include "families/families.hpp"
#include "operators/dense/addmm.hpp"
#include "operators/operators.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>

namespace hstujit {
namespace {

enum : int { kBlockM, kBlockN, kSwap, kSplit, kKnobCount };

constexpr int32_t kBlockMValues[] = {16, 32, 64, 128};
constexpr int32_t kBlockNValues[] = {64, 128};
constexpr int32_t kSwapValues[] = {0, 1};
constexpr int32_t kSplitValues[] = {1, 2, 4, 8};

constexpr Knob kKnobs[kKnobCount] = {
    {"block_m", kBlockMValues, "rows of a tile"},
    {"block_n", kBlockNValues, "columns of a tile"},
    {"swap", kSwapValues, "columns of w take wgmma's 64 rows: no waste on few rows of x"},
    {"split", kSplitValues, "blocks that share a tile's k: shorter sums each, for an exchange"},
};

constexpr int kSmemPerBlock = 227 * 1024;  // of every device with these instructions
constexpr int kMostStages = 8, kSliceK = 64;

int tall(const Config& c) { return c[kSwap] ? c[kBlockN] : c[kBlockM]; }
int wide(const Config& c) { return c[kSwap] ? c[kBlockM] : c[kBlockN]; }
int threads(const Config& c) { return 2 * tall(c) + 32; }
int64_t slices(const Problem& p) { return ceil_div(p[addmm::kK], kSliceK); }
int64_t tiles(const Problem& p, const Config& c) {
  return ceil_div(p[addmm::kM], c[kBlockM]) * ceil_div(p[addmm::kN], c[kBlockN]);
}

int sums_bytes(const Config& c) { return c[kSplit] > 1 ? c[kBlockM] * c[kBlockN] * 4 : 0; }
/// Everything but the ring's stages.
int fixed_bytes(const Config& c) {
  constexpr int kArrived = 8;  // a barrier
  return sums_bytes(c) + kArrived;
}
int stage_bytes(const Config& c) { return (c[kBlockM] + c[kBlockN]) * 128; }
/// What one block has of k, or what fits.
int stages(const Problem& p, const Config& c) {
  constexpr int kBarriers = 16;
  const int fit = (kSmemPerBlock - fixed_bytes(c)) / (stage_bytes(c) + kBarriers);
  return static_cast<int>(std::min<int64_t>({fit, kMostStages, ceil_div(slices(p), c[kSplit])}));
}
int smem_bytes(const Problem& p, const Config& c) { return stages(p, c) * (stage_bytes(c) + 16) + fixed_bytes(c); }

bool warpgroups_are_whole(const Problem&, const Config& c, const DeviceFacts&) { return tall(c) % 64 == 0; }
bool panels_are_whole(const Problem& p, const Config& c, const DeviceFacts&) {
  const bool along_k = c[kSwap] ? p[addmm::kXTransposed] == 0 : p[addmm::kWeightTransposed] != 0;
  return along_k || wide(c) % 64 == 0;
}
bool swap_pays(const Problem&, const Config& c, const DeviceFacts&) { return !c[kSwap] || c[kBlockM] <= 64; }
bool tile_is_used(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kBlockM] <= std::max(c[kSwap] ? 16 : 64, p[addmm::kM]) && c[kBlockN] < 2 * std::max(64, p[addmm::kN]);
}
bool blocks_have_slices(const Problem& p, const Config& c, const DeviceFacts&) { return c[kSplit] <= slices(p); }
bool split_fills_the_device(const Problem& p, const Config& c, const DeviceFacts& device) {
  return c[kSplit] == 1 || tiles(p, c) * c[kSplit] < 4 * device.sm_count;
}

constexpr Rule kRules[] = {
    {"64 rows of wgmma a warpgroup", warpgroups_are_whole},
    {"an operand that does not lie along k comes in panels of 64", panels_are_whole},
    {"64 rows of x need no swap, and more forbid it", swap_pays},
    {"the tile must not be larger than the matrix", tile_is_used},
    {"every block must have a slice of k", blocks_have_slices},
    {"where tiles fill the device, splitting them only costs", split_fills_the_device},
};

/// What TMA takes, of few rows, or while small tiles leave half of the device idle and k is long enough to divide, or
/// large ones do and it is very long. Elsewhere addmm_sm90's small tiles were faster on an H200.
bool covers(const Problem& p, const DeviceFacts& device) {
  const auto fill_half = [&](int64_t size) {
    return 2 * ceil_div(p[addmm::kM], size) * ceil_div(p[addmm::kN], size) <= device.sm_count;
  };
  const int64_t k = p[addmm::kK];
  const bool pays = p[addmm::kM] <= 64 ? fill_half(128) : fill_half(64) ? k >= 1024 : fill_half(128) && k >= 4096;
  return device.target == "sm_90a" && p[addmm::kSplit] == 0 && p[addmm::kZDtype] == HSTU_DTYPE_NONE &&
         p[addmm::kDtype] != HSTU_DTYPE_F32 && p[addmm::kVectorX] == 8 && p[addmm::kVectorW] == 8 &&
         p[addmm::kVectorZ] >= 2 && p[addmm::kN] > 0 && k > 0 && pays;
}

/// Clocks of a call, as an H200 has them: slices arrive at 50 bytes a clock in each block; sums are exchanged.
int64_t estimate(const Problem& p, const Config& c, const DeviceFacts& device) {
  const int64_t slice = stage_bytes(c) / 50, exchange = c[kSplit] > 1 ? 2000 + c[kBlockM] * c[kBlockN] / 4 : 0;
  const int64_t waves = ceil_div(tiles(p, c) * c[kSplit], device.sm_count);
  return waves * (ceil_div(slices(p), c[kSplit]) * slice + exchange);
}

constexpr Config kTiles[] = {
    {{16, 64, 1, 1}}, {{32, 64, 1, 1}}, {{64, 64, 0, 1}}, {{64, 128, 0, 1}}, {{128, 128, 0, 1}}};

/// The tile and split of the least estimate; of equals the smaller tile.
Config default_config(const Problem& p, const DeviceFacts& device) {
  Config best = kTiles[2];  // legal everywhere
  for (Config c : kTiles)
    for (c[kSplit] = 1; c[kSplit] <= 8; c[kSplit] *= 2)
      if (legal(kAddmmSplitSm90, p, c, device) && estimate(p, c, device) < estimate(p, best, device)) best = c;
  return best;
}

Resources resources(const Problem& p, const Config& c) { return {threads(c), smem_bytes(p, c), wide(c) / 2, 1}; }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto dtype = static_cast<hstu_dtype>(p[addmm::kDtype]), bias = static_cast<hstu_dtype>(p[addmm::kBiasDtype]);
  text.type("Element", device_type(dtype));
  text.type("Bias", device_type(bias == HSTU_DTYPE_NONE ? dtype : bias));
  text.constant("kBias", p[addmm::kBias]);
  text.constant("kActivation", p[addmm::kActivation]);
  text.flag("kXAlongK", p[addmm::kXTransposed] == 0);
  text.flag("kWAlongK", p[addmm::kWeightTransposed] != 0);
  text.constant("kBlockM", c[kBlockM]);
  text.constant("kBlockN", c[kBlockN]);
  text.flag("kSwap", c[kSwap] != 0);
  text.constant("kSplit", c[kSplit]);
  text.constant("kStages", stages(p, c));
  text.constant("kThreads", threads(c));
  text.constant("kMinBlocks", 1);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_addmm_args*>(args);
  const int64_t m = a.out.shape[0], n = a.out.shape[1];
  launch.grid[0] = static_cast<uint32_t>(ceil_div(m, c[kBlockM]) * c[kSplit]);
  if (launch.grid[0] == 0) return;
  launch.grid[1] = static_cast<uint32_t>(ceil_div(n, c[kBlockN]));
  launch.block[0] = static_cast<uint32_t>(threads(c));
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
  launch.cluster = static_cast<uint32_t>(c[kSplit]);
  auto& k = launch.emplace<hstu::AddmmSplitParams>();
  tma_product::encode_operand(a.x, 1, p[addmm::kXTransposed] == 0, c[kBlockM], 1, k.x);
  tma_product::encode_operand(a.w, 0, p[addmm::kWeightTransposed] != 0, c[kBlockN], 1, k.w);
  k.bias = a.bias.data;
  k.residual = a.residual.data;
  k.out = a.out.data;
  k.bias_stride = a.bias.stride[0];
  k.residual_row_stride = a.residual.stride[0];
  k.residual_column_stride = a.residual.stride[1];
  k.out_row_stride = a.out.stride[0];
  k.m = m;
  k.n = n;
  k.k = p[addmm::kK];
  k.act_columns = a.activation_columns;
}

}  // namespace

const Family kAddmmSplitSm90 = {
    .name = "addmm_split_sm90",
    .room = "dense",
    .op = Op::addmm,
    .min_compute_capability = 90,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "addmm_split_sm90_smem_bytes<Config>",
    .bind = bind,
    .dependent_launch = true,
};

}  // namespace hstujit
