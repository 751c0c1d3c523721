// gated_mlp_sm80: two products that share x, multiplied in their epilogue, kernels/dense/gated_mlp_sm80.cuh.
#include "dense/gated_mlp.h"
#include "families/dense/tile_product.hpp"
#include "families/families.hpp"
#include "operators/dense/gated_mlp.hpp"
#include "operators/dense/product_terms.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using namespace tile_product;

enum : int { kMinBlocks = kSharedKnobs, kKnobCount };

constexpr int32_t kBlockMValues[] = {32, 64, 128};
constexpr int32_t kBlockNValues[] = {64, 128};
constexpr int32_t kBlockKValues[] = {32, 64};
constexpr int32_t kWarpsMValues[] = {1, 2, 4};
constexpr int32_t kWarpsNValues[] = {1, 2};
constexpr int32_t kStagesValues[] = {2, 3, 4};
constexpr int32_t kGroupValues[] = {8};
constexpr int32_t kMinBlocksValues[] = {1, 2, 3};

constexpr Knob kKnobs[kKnobCount] = {
    {"block_m", kBlockMValues, "rows of out a block: reuse of the weights"},
    {"block_n", kBlockNValues, "columns of gate and of up a block, counted together: reuse of x"},
    {"block_k", kBlockKValues, "k per slice: fewer barriers, for shared memory"},
    {"warps_m", kWarpsMValues, "warps along m"},
    {"warps_n", kWarpsNValues, "warps along n, of 64 columns each"},
    {"stages", kStagesValues, "slices in flight"},
    {"group", kGroupValues, "tile rows walked together, so that concurrent blocks share operands in L2"},
    {"min_blocks", kMinBlocksValues, "blocks an SM: one's epilogue runs beside another's products"},
};

int element_bytes(const Problem& p) { return size_of(static_cast<hstu_dtype>(p[gated_mlp::kDtype])); }
bool gathers(const Problem& p) { return p[gated_mlp::kVectorX] == 0 || p[gated_mlp::kVectorW] == 0; }

/// Accumulators, of f32 twice and with both halves of its fragments, and two sets of fragments.
int held_registers(const Problem& p, const Config& c) {
  const int sums = warp_m(c) * warp_n(c) / 32, fragments = (warp_m(c) + warp_n(c)) / 2;
  return element_bytes(p) == 4 ? 2 * (sums + fragments) : sums + fragments;
}

int smem_bytes(const Problem& p, const Config& c) {
  const int slice = (c[kBlockM] + c[kBlockN]) * c[kBlockK] * element_bytes(p);
  const int staging = 16 * (warp_n(c) / 2 + 8) * element_bytes(p);
  return c[kStages] * slice + warps(c) * staging;
}

bool warps_take_both_factors(const Problem&, const Config& c, const DeviceFacts&) {
  return warp_n(c) == 64 && warp_m(c) % 16 == 0 && warp_m(c) >= 16;
}
bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  constexpr int kAddressing = 40;
  const int budget = register_budget(c[kMinBlocks], threads(c));
  const int limit = gathers(p) ? 32 : 64;
  return held_registers(p, c) + kAddressing <= budget && warp_m(c) <= limit;
}
bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_holds(device, c[kMinBlocks], smem_bytes(p, c));
}
bool enough_warps(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kMinBlocks] * warps(c) >= 2 && c[kMinBlocks] * warps(c) <= 16;
}
bool rows_are_used(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kBlockM] <= std::max(32, p[gated_mlp::kM]) && c[kBlockN] <= std::max(64, 4 * p[gated_mlp::kN]);
}
bool copies_divide_among_threads(const Problem& p, const Config& c, const DeviceFacts&) {
  const int lines = threads(c) / (c[kBlockK] * element_bytes(p) / 16);  // of a pass along k
  return c[kBlockM] >= lines && c[kBlockN] / 2 >= lines;
}

constexpr Rule kRules[] = {
    {"a warp's part is 32 columns of gate and of up, and whole 16 rows", warps_take_both_factors},
    {"accumulators and fragments would not fit the registers", registers_suffice},
    {"the slices of min_blocks blocks must fit the shared memory of an SM", smem_fits},
    {"2 to 16 warps an SM", enough_warps},
    {"the tile must not be larger than the matrix", rows_are_used},
    {"a pass of the block's threads must not copy more lines than a tile has", copies_divide_among_threads},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

/// The largest of these that is legal and fills the device.
Config default_config(const Problem& p, const DeviceFacts& device) {
  constexpr Config kCandidates[] = {
      {{128, 128, 64, 2, 2, 3, 8, 2}}, {{128, 128, 32, 2, 2, 3, 8, 1}}, {{128, 64, 32, 4, 1, 3, 8, 2}},
      {{64, 128, 32, 2, 2, 3, 8, 2}},  {{64, 64, 32, 4, 1, 3, 8, 2}},   {{64, 64, 32, 2, 1, 3, 8, 2}},
      {{32, 64, 32, 1, 1, 3, 8, 2}},   {{32, 64, 32, 2, 1, 3, 8, 2}},
  };
  const Config* last = nullptr;
  for (const Config& c : kCandidates) {
    if (!legal(kRules, p, c, device)) continue;
    last = &c;
    const int64_t down = ceil_div(p[gated_mlp::kM], c[kBlockM]);
    const int64_t across = ceil_div(int64_t{p[gated_mlp::kN]} * 2, c[kBlockN]);
    if (down * across >= device.sm_count) return c;
  }
  return last ? *last : kCandidates[std::size(kCandidates) - 1];
}

Resources resources(const Problem& p, const Config& c) {
  return {threads(c), smem_bytes(p, c), held_registers(p, c), c[kMinBlocks]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[gated_mlp::kDtype])));
  text.flag("kTf32", p[gated_mlp::kAllowTf32] != 0);
  text.constant("kActivation", p[gated_mlp::kActivation]);
  text.flag("kActOnGate", p[gated_mlp::kActivateGate] != 0);
  text.flag("kXAlongK", p[gated_mlp::kXTransposed] == 0);
  text.flag("kWAlongK", p[gated_mlp::kWeightTransposed] != 0);
  text.constant("kVectorX", p[gated_mlp::kVectorX]);
  text.constant("kVectorW", p[gated_mlp::kVectorW]);
  text.constant("kVectorZ", std::min(p[gated_mlp::kVectorOut], 16 / element_bytes(p)));
  if (p[gated_mlp::kOutDtype] != HSTU_DTYPE_NONE)
    text.type("Fp8", device_type(static_cast<hstu_dtype>(p[gated_mlp::kOutDtype])));
  text.flag("kTailK", p[gated_mlp::kK] % c[kBlockK] != 0);
  write_knobs(text, c, false, c[kMinBlocks]);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_gated_mlp_args*>(args);
  const int64_t m = a.out.shape[0], n = a.out.shape[1], columns = c[kBlockN] / 2;
  launch.grid[0] = static_cast<uint32_t>(ceil_div(m, c[kBlockM]) * ceil_div(n, columns));
  launch.block[0] = static_cast<uint32_t>(threads(c));
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
  const bool along_k = p[gated_mlp::kWeightTransposed] != 0;
  auto& k = launch.emplace<hstu::GatedMlpParams>();
  k.x = a.x.data;
  k.gate = a.gate.data;
  k.up = a.up.data;
  k.out = a.out.data;
  k.m = m;
  k.n = n;
  k.k = a.x.shape[1];
  k.x_row_stride = line_stride(a.x, 1, p[gated_mlp::kXTransposed] == 0);
  k.gate_row_stride = line_stride(a.gate, 0, along_k);
  k.up_row_stride = line_stride(a.up, 0, along_k);
  k.out_row_stride = a.out.stride[0];
  k.x_column_stride = element_stride(a.x, 1);
  k.gate_column_stride = element_stride(a.gate, 0);
  k.up_column_stride = element_stride(a.up, 0);
  k.out_descale = static_cast<const float*>(a.out_descale.data);
}

}  // namespace

const Family kGatedMlpSm80 = {
    .name = "gated_mlp_sm80",
    .room = "dense",
    .op = Op::gated_mlp,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "gated_mlp_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
