// addmm_sm80: matrix product with bias, residual and activation, kernels/dense/addmm_sm80.cuh.
#include "families/dense/tile_product.hpp"
#include "families/families.hpp"
#include "operators/dense/addmm.hpp"
#include "operators/dense/product_terms.hpp"
#include "operators/operators.hpp"
#include "support/ceil_div.hpp"
#include "tile/addmm.h"
#include "tile/addmm_terms.h"

#include <algorithm>
#include <bit>
#include <span>

namespace hstujit {
namespace {

using namespace tile_product;

enum : int { kPersistent = kSharedKnobs, kMinBlocks, kKnobCount };

constexpr int32_t kBlockMValues[] = {16, 32, 64, 128, 256};
constexpr int32_t kBlockNValues[] = {32, 64, 128, 256};
constexpr int32_t kBlockKValues[] = {32, 64};
constexpr int32_t kWarpsMValues[] = {1, 2, 4};
constexpr int32_t kWarpsNValues[] = {1, 2, 4};
constexpr int32_t kStagesValues[] = {2, 3, 4, 5};
constexpr int32_t kGroupValues[] = {8};
constexpr int32_t kPersistentValues[] = {0, 1};
constexpr int32_t kMinBlocksValues[] = {1, 2, 3, 4};

constexpr Knob kKnobs[kKnobCount] = {
    {"block_m", kBlockMValues, "rows of out a block: reuse of w, against waste on few rows"},
    {"block_n", kBlockNValues, "columns of out a block: reuse of x"},
    {"block_k", kBlockKValues, "k per slice: fewer barriers, for shared memory"},
    {"warps_m", kWarpsMValues, "warps along m"},
    {"warps_n", kWarpsNValues, "warps along n; 64x64 a warp gives the most products per byte of shared memory"},
    {"stages", kStagesValues, "slices in flight"},
    {"group", kGroupValues, "tile rows walked together, so that concurrent blocks share operands in L2"},
    {"persistent", kPersistentValues, "blocks walk tiles: the next one's operands arrive during the epilogue"},
    {"min_blocks", kMinBlocksValues, "blocks an SM: one's epilogue runs beside another's products"},
};

int element_bytes(const Problem& p) { return size_of(static_cast<hstu_dtype>(p[addmm::kDtype])); }
bool is_wide(const Problem& p) { return p[addmm::kDtype] == HSTU_DTYPE_F32; }
bool gathers(const Problem& p) { return p[addmm::kVectorX] == 0 || p[addmm::kVectorW] == 0 || p[addmm::kGatherY] != 0; }

/// Accumulators and two sets of fragments, per thread; of f32 two sets of sums, and both halves of fragments.
int held_registers(const Problem& p, const Config& c) {
  const int sums = warp_m(c) * warp_n(c) / 32, fragments = (warp_m(c) + warp_n(c)) / 2;
  return is_wide(p) ? 2 * (sums + fragments) : sums + fragments;
}

int smem_bytes(const Problem& p, const Config& c) {
  const int slice = (c[kBlockM] + c[kBlockN]) * c[kBlockK] * element_bytes(p);
  const int staging = 16 * (warp_n(c) + 8) * element_bytes(p);  // of a warp: 16 rows of its part of out, padded
  return c[kStages] * slice + warps(c) * staging;
}

bool warp_tiles_are_whole(const Problem&, const Config& c, const DeviceFacts&) {
  return warp_m(c) % 16 == 0 && warp_n(c) % 32 == 0 && std::has_single_bit(static_cast<unsigned>(warp_n(c)));
}
bool warp_tiles_are_not_thin(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kBlockM] <= 2 * c[kBlockN] && warp_n(c) <= 64 && warp_m(c) <= 64 &&
         (warp_m(c) == warp_n(c) || c[kBlockM] < 64);
}
bool small_parts_where_registers_go_elsewhere(const Problem& p, const Config& c, const DeviceFacts&) {
  if (!is_wide(p) && !gathers(p)) return true;
  return warp_m(c) <= 32 && warp_n(c) <= 32 && (c[kBlockM] >= 32 || !is_wide(p)) && c[kPersistent] == 0;
}
bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  constexpr int kAddressing = 40;
  const int budget = register_budget(c[kMinBlocks], threads(c));
  return held_registers(p, c) + kAddressing <= budget;
}
/// Both are held beside the sums in front of an activation; slices of 64 k unroll to more addresses, too.
bool both_terms_leave_registers(const Problem& p, const Config& c, const DeviceFacts&) {
  const bool both = p[addmm::kBias] == (hstu::kRowBias | hstu::kResidual) && p[addmm::kActivation] != 0;
  return !both || warp_m(c) * warp_n(c) < 64 * 64 || c[kBlockK] <= 32;
}
bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_holds(device, c[kMinBlocks], smem_bytes(p, c));
}
bool enough_warps(const Problem&, const Config& c, const DeviceFacts&) {
  const int least = warp_m(c) * warp_n(c) == 64 * 64 ? 8 : 4;
  return c[kMinBlocks] * warps(c) >= least && c[kMinBlocks] * warps(c) <= 16;
}
bool rows_are_used(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kBlockM] <= std::max(is_wide(p) ? 32 : 16, p[addmm::kM]) && c[kBlockN] < 2 * std::max(32, p[addmm::kN]);
}
bool large_products_take_large_tiles(const Problem& p, const Config& c, const DeviceFacts& device) {
  const int64_t tiles = (int64_t{p[addmm::kM]} / 128) * (p[addmm::kN] / 128);
  return tiles < 4 * device.sm_count || c[kBlockM] * c[kBlockN] >= 128 * 64;
}
bool copies_divide_among_threads(const Problem& p, const Config& c, const DeviceFacts&) {
  const int chunks = c[kBlockK] * element_bytes(p) / 16;  // a line's 16-byte parts
  const int lines = threads(c) / chunks;
  return c[kBlockM] >= lines && c[kBlockN] >= lines;
}

constexpr Rule kRules[] = {
    {"a warp's part must be whole 16 x 32 pieces, its width a power of two", warp_tiles_are_whole},
    {"a warp's part is square, at most 64 x 64, but for few rows; taller blocks than 2 : 1 spill",
     warp_tiles_are_not_thin, true},
    {"f32, whose sums and fragments count twice, and gathered operands take parts of 32 x 32 at most, a tile a block",
     small_parts_where_registers_go_elsewhere},
    {"accumulators and fragments would not fit the registers", registers_suffice},
    {"a bias and a residual in front of an activation take registers: slices of 32 k beside parts of 64 x 64",
     both_terms_leave_registers},
    {"the slices of min_blocks blocks must fit the shared memory of an SM", smem_fits},
    {"4 to 16 warps an SM, 8 at least where one takes 64 x 64", enough_warps, true},
    {"the tile must not be larger than the matrix", rows_are_used},
    {"where large tiles fill the device, small ones only cost", large_products_take_large_tiles, true},
    {"a pass of the block's threads must not copy more lines than a tile has", copies_divide_among_threads},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

// What default_config() tries, large ones first; measured best on an H200.
constexpr Config kCandidates[] = {
    {{128, 128, 64, 2, 2, 3, 8, 0, 2}}, {{128, 128, 32, 2, 2, 4, 8, 0, 2}}, {{128, 128, 32, 2, 2, 3, 8, 0, 1}},
    {{128, 128, 32, 2, 2, 2, 8, 0, 2}}, {{64, 64, 64, 2, 2, 4, 8, 0, 3}},   {{64, 64, 64, 2, 2, 3, 8, 0, 2}},
    {{32, 64, 64, 2, 2, 4, 8, 0, 2}},   {{32, 32, 64, 2, 1, 4, 8, 0, 2}},   {{16, 64, 64, 1, 2, 4, 8, 0, 2}},
    {{16, 32, 64, 1, 1, 4, 8, 0, 4}},
};
// Of the least tiles, where SMs have 100 KB.
constexpr Config kLeast = {{16, 32, 64, 1, 1, 3, 8, 0, 4}};
constexpr Config kSmallPartCandidates[] = {
    {{128, 64, 32, 4, 2, 3, 8, 0, 1}}, {{64, 64, 32, 2, 2, 3, 8, 0, 2}}, {{64, 64, 32, 2, 2, 3, 8, 0, 1}},
    {{32, 32, 32, 1, 1, 3, 8, 0, 4}},  {{32, 32, 32, 1, 1, 2, 8, 0, 4}}, {{16, 32, 32, 1, 1, 3, 8, 0, 4}},
};

/// The largest candidate that is legal and fills the device.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const bool small_parts = is_wide(p) || gathers(p);
  const std::span<const Config> candidates =
      small_parts ? std::span<const Config>(kSmallPartCandidates) : std::span<const Config>(kCandidates);
  const Config* last = nullptr;
  for (const Config& c : candidates) {
    if (!legal(kRules, p, c, device)) continue;
    last = &c;
    const int64_t tiles = ceil_div(p[addmm::kM], c[kBlockM]) * ceil_div(p[addmm::kN], c[kBlockN]);
    if (tiles >= device.sm_count) return c;
  }
  return last ? *last : kLeast;
}

Resources resources(const Problem& p, const Config& c) {
  return {threads(c), smem_bytes(p, c), held_registers(p, c), c[kMinBlocks]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto dtype = static_cast<hstu_dtype>(p[addmm::kDtype]), bias = static_cast<hstu_dtype>(p[addmm::kBiasDtype]);
  text.type("Element", device_type(dtype));
  text.type("Bias", device_type(bias == HSTU_DTYPE_NONE ? dtype : bias));
  text.constant("kBias", p[addmm::kBias]);
  text.constant("kActivation", p[addmm::kActivation]);
  text.flag("kTf32", p[addmm::kAllowTf32] != 0);
  text.flag("kXAlongK", p[addmm::kXTransposed] == 0);
  text.flag("kWAlongK", p[addmm::kWeightTransposed] != 0);
  text.constant("kVectorX", p[addmm::kVectorX]);
  text.constant("kVectorW", p[addmm::kVectorW]);
  text.constant("kVectorZ", std::min(p[addmm::kVectorZ], 16 / element_bytes(p)));
  text.flag("kGatherY", p[addmm::kGatherY] != 0);
  text.flag("kTailK", p[addmm::kK] % c[kBlockK] != 0);
  text.flag("kSplitColumns", p[addmm::kSplit] != 0);
  if (p[addmm::kZDtype] != HSTU_DTYPE_NONE) text.type("Fp8", device_type(static_cast<hstu_dtype>(p[addmm::kZDtype])));
  write_knobs(text, c, c[kPersistent] != 0, c[kMinBlocks]);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_addmm_args*>(args);
  const int64_t m = a.out.shape[0], n = a.w.shape[1];
  const int64_t tiles = ceil_div(m, c[kBlockM]) * ceil_div(n, c[kBlockN]);
  const int64_t resident = int64_t{device.sm_count} * c[kMinBlocks];
  launch.grid[0] = static_cast<uint32_t>(c[kPersistent] ? std::min(tiles, resident) : tiles);
  launch.block[0] = static_cast<uint32_t>(threads(c));
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
  auto& k = launch.emplace<hstu::AddmmParams>();
  k.x = a.x.data;
  k.w = a.w.data;
  k.bias = a.bias.data;
  k.residual = a.residual.data;
  k.m = m;
  k.n = n;
  k.k = a.x.shape[1];
  k.x_row_stride = line_stride(a.x, 1, p[addmm::kXTransposed] == 0);
  k.w_row_stride = line_stride(a.w, 0, p[addmm::kWeightTransposed] != 0);
  k.residual_row_stride = a.residual.stride[0];
  k.x_column_stride = element_stride(a.x, 1);
  k.w_column_stride = element_stride(a.w, 0);
  k.bias_stride = a.bias.stride[0];
  k.residual_column_stride = a.residual.stride[1];
  k.act_columns = a.activation_columns;
  k.out_descale = static_cast<const float*>(a.out_descale.data);
  set_result({&a.out, &a.out1, &a.out2, &a.out3}, k);
}

}  // namespace

const Family kAddmmSm80 = {
    .name = "addmm_sm80",
    .room = "dense",
    .op = Op::addmm,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "addmm_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
