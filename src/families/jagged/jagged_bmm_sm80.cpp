// jagged_bmm_sm80: products of sequences with matrices of their own, kernels/jagged/jagged_bmm_sm80.cuh. Its tiles are
// those of addmm_sm80.
#include "families/dense/tile_product.hpp"
#include "families/families.hpp"
#include "jagged/jagged_bmm.h"
#include "operators/jagged/jagged_checks.hpp"
#include "operators/jagged/jagged_dense_bmm_broadcast_add.hpp"
#include "support/ceil_div.hpp"
#include "tile/addmm_terms.h"

#include <algorithm>

namespace hstujit {
namespace {

using namespace tile_product;

enum : int { kMinBlocks = kSharedKnobs, kKnobCount };

constexpr int32_t kBlockMValues[] = {16, 32, 64, 128};
constexpr int32_t kBlockNValues[] = {32, 64, 128, 256};
constexpr int32_t kBlockKValues[] = {32, 64};
constexpr int32_t kWarpsMValues[] = {1, 2};
constexpr int32_t kWarpsNValues[] = {1, 2, 4};
constexpr int32_t kStagesValues[] = {2, 3, 4, 5};
constexpr int32_t kGroupValues[] = {4, 8, 16};
constexpr int32_t kMinBlocksValues[] = {1, 2, 3, 4};

constexpr Knob kKnobs[kKnobCount] = {
    {"block_m", kBlockMValues, "rows of out a block: reuse of dense, against waste at the ends of sequences"},
    {"block_n", kBlockNValues, "columns of out a block: reuse of jagged"},
    {"block_k", kBlockKValues, "k per slice: fewer barriers, for shared memory"},
    {"warps_m", kWarpsMValues, "warps along m"},
    {"warps_n", kWarpsNValues, "warps along n; 64x64 a warp gives the most products per byte of shared memory"},
    {"stages", kStagesValues, "slices in flight"},
    {"group", kGroupValues, "tile rows walked together, so that concurrent blocks share operands in L2"},
    {"min_blocks", kMinBlocksValues, "blocks an SM: one's epilogue and search run beside another's products"},
};

bool is_wide(const Problem& p) { return p[jagged_bmm::kDtype] == HSTU_DTYPE_F32; }
bool gathers(const Problem& p) { return p[jagged_bmm::kVectorW] == 0; }
int element_bytes(const Problem& p) { return is_wide(p) ? 4 : 2; }

/// Accumulators and two sets of fragments, per thread; of f32 two sets of sums, and both halves of fragments.
int held_registers(const Problem& p, const Config& c) {
  return (warp_m(c) * warp_n(c) / 32 + (warp_m(c) + warp_n(c)) / 2) * (is_wide(p) ? 2 : 1);
}

int smem_bytes(const Problem& p, const Config& c) {
  const int slice = (c[kBlockM] + c[kBlockN]) * c[kBlockK] * element_bytes(p);
  const int staging = 16 * (warp_n(c) + 8) * element_bytes(p);  // of a warp: 16 rows of its part of out, padded
  return c[kStages] * slice + warps(c) * staging;
}

bool warp_tiles_are_square(const Problem&, const Config& c, const DeviceFacts&) {
  if (warp_m(c) % 16 != 0 || (warp_n(c) != 32 && warp_n(c) != 64)) return false;
  return warp_m(c) == warp_n(c) || (c[kBlockM] < 64 && warp_m(c) <= warp_n(c));
}
bool small_parts_where_registers_go_elsewhere(const Problem& p, const Config& c, const DeviceFacts&) {
  if (!is_wide(p) && !gathers(p)) return true;
  return warp_m(c) <= 32 && warp_n(c) <= 32 && (c[kBlockM] >= 32 || !is_wide(p));
}
int register_budget(const Config& c) { return hstujit::register_budget(c[kMinBlocks], threads(c)); }
bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  constexpr int kAddressing = 44;
  return held_registers(p, c) + kAddressing <= register_budget(c);
}
bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_holds(device, c[kMinBlocks], smem_bytes(p, c));
}
bool enough_warps(const Problem&, const Config& c, const DeviceFacts&) {
  if (warp_m(c) == 64 && warps(c) < 4) return false;
  return c[kMinBlocks] * warps(c) >= (warp_m(c) == 64 ? 8 : 4) && c[kMinBlocks] * warps(c) <= 16;
}
bool columns_are_used(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kBlockN] < 2 * std::max(32, p[jagged_bmm::kN]);
}
bool copies_divide_among_threads(const Problem& p, const Config& c, const DeviceFacts&) {
  const int lines = threads(c) / (c[kBlockK] * element_bytes(p) / 16);
  return c[kBlockM] >= lines && c[kBlockN] >= lines;
}

bool has_tail(const Problem& p, const Config& c) { return p[jagged_bmm::kK] % c[kBlockK] != 0; }

/// Loops over slices of f32 without a tail, which the compiler unrolls where a thread's copies are many or of single
/// words: a part of 16 x 32 then takes all registers, one of 32 x 32 more than there are.
bool unrolled_copies_leave_registers(const Problem& p, const Config& c, const DeviceFacts&) {
  if (!is_wide(p) || c[kBlockK] < 64 || has_tail(p, c)) return true;
  const int copies_of_jagged = c[kBlockM] * c[kBlockK] / p[jagged_bmm::kVectorX] / threads(c);  // of each thread
  const bool unrolled = copies_of_jagged >= 8 || p[jagged_bmm::kVectorW] < 4 || p[jagged_bmm::kDenseTransposed] != 0;
  return !unrolled || (warp_m(c) < 32 && register_budget(c) == 255);
}

/// Addresses and conditions of single words of a bias, beside the sums.
bool rows_of_bias_leave_registers(const Problem& p, const Config& c, const DeviceFacts&) {
  constexpr int kWordByWord = 64;
  if (is_wide(p) || p[jagged_bmm::kBias] != hstu::kResidual || p[jagged_bmm::kVectorZ] > 1) return true;
  return warp_m(c) < 32 || held_registers(p, c) + kWordByWord <= register_budget(c);
}

/// As measured with NVRTC 13.0 for sm_90a; for sm_80 it finds registers for all of these.
bool parts_leave_registers_for_bias(const Problem& p, const Config& c, const DeviceFacts& device) {
  if (is_wide(p) || warp_m(c) < 64 || c[kBlockK] < 64) return true;
  if (p[jagged_bmm::kBias] != hstu::kRowBias || device.compute_capability < 90) return true;
  const int32_t vector_x = p[jagged_bmm::kVectorX], vector_w = p[jagged_bmm::kVectorW];
  const bool along_k = p[jagged_bmm::kDenseTransposed] != 0, tail = has_tail(p, c), flat = c[kBlockM] < 128;
  if (vector_w == 1 && (vector_x == 1 || !tail)) return (along_k && warps(c) == 8) || (tail && flat);
  if (tail || warps(c) == 8) return true;
  return !along_k && vector_x == 8 && (vector_w < 8 || flat || c[kStages] > 2);
}

constexpr Rule kRules[] = {
    {"a warp's part is 32 or 64 columns wide and square, or flatter in blocks of few rows", warp_tiles_are_square},
    {"f32, whose sums and fragments count twice, and gathered matrices take parts of 32 x 32 at most",
     small_parts_where_registers_go_elsewhere},
    {"accumulators and fragments would not fit the registers", registers_suffice},
    {"the slices of min_blocks blocks must fit the shared memory of an SM", smem_fits},
    {"4 to 16 warps an SM; a part of 64 x 64 wants 8, and 4 a block: the threads of fewer copy more than they can hold",
     enough_warps},
    {"slices of 64 f32 without a tail spill, but for aligned ones in blocks whose threads copy few",
     unrolled_copies_leave_registers, true},
    {"a part's sums leave too few registers for rows of bias word by word", rows_of_bias_leave_registers, true},
    {"a part of 64 x 64 and a row of bias spill in slices of 64 k: in blocks of 4 warps, but for three slices of dense "
     "not transposed, and with words of dense one by one",
     parts_leave_registers_for_bias, true},
    {"the tile must not be wider than the matrices", columns_are_used},
    {"a pass of the block's threads must not copy more lines than a tile has", copies_divide_among_threads},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

/// Rows of a sequence on average, which decide how tall tiles may be.
int64_t mean_rows(const Problem& p) { return p[jagged_bmm::kRows] / std::max(p[jagged_bmm::kBatch], 1); }

Config default_config(const Problem& p, const DeviceFacts& device) {
  constexpr Config kCandidates[] = {
      {{128, 128, 64, 2, 2, 3, 8, 2}}, {{128, 128, 32, 2, 2, 4, 8, 2}}, {{64, 64, 64, 2, 2, 4, 8, 3}},
      {{64, 64, 32, 2, 2, 4, 8, 2}},   {{64, 64, 32, 2, 2, 3, 8, 2}},   {{32, 32, 32, 1, 1, 3, 8, 4}},
      {{32, 32, 32, 1, 1, 2, 8, 4}},   {{32, 64, 64, 2, 2, 3, 8, 2}},   {{32, 32, 64, 2, 1, 4, 8, 2}},
      {{16, 32, 64, 1, 1, 4, 8, 4}},
  };
  const Config* last = nullptr;
  for (const Config& c : kCandidates) {
    if (!legal(kRules, p, c, device)) continue;
    last = &c;
    const int64_t tiles = int64_t{p[jagged_bmm::kRows]} / c[kBlockM] * ceil_div(p[jagged_bmm::kN], c[kBlockN]);
    if (mean_rows(p) >= 2 * c[kBlockM] && tiles >= device.sm_count) return c;
  }
  return last ? *last : kCandidates[std::size(kCandidates) - 1];
}

Resources resources(const Problem& p, const Config& c) {
  return {threads(c), smem_bytes(p, c), held_registers(p, c), c[kMinBlocks]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto dtype = static_cast<hstu_dtype>(p[jagged_bmm::kDtype]);
  const auto bias = static_cast<hstu_dtype>(p[jagged_bmm::kBiasDtype]);
  text.type("Element", device_type(dtype));
  text.type("Bias", device_type(bias == HSTU_DTYPE_NONE ? dtype : bias));
  text.type("Offset", device_type(static_cast<hstu_dtype>(p[jagged_bmm::kOffsetDtype])));
  text.constant("kBias", p[jagged_bmm::kBias]);
  text.constant("kActivation", 0);
  text.flag("kSplitColumns", false);
  text.flag("kTf32", false);
  text.flag("kXAlongK", true);
  text.flag("kWAlongK", p[jagged_bmm::kDenseTransposed] != 0);
  text.constant("kVectorX", p[jagged_bmm::kVectorX]);
  text.constant("kVectorW", p[jagged_bmm::kVectorW]);
  text.constant("kVectorZ", p[jagged_bmm::kVectorZ]);
  text.flag("kGatherY", false);
  text.flag("kTailK", p[jagged_bmm::kK] % c[kBlockK] != 0);
  write_knobs(text, c, false, c[kMinBlocks]);
}

void bind(const void* args, const Problem& problem, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_jagged_dense_bmm_broadcast_add_args*>(args);
  const int64_t batch = a.seq_offsets.shape[0] - 1, rows = a.jagged.shape[0], n = a.out.shape[1];
  const int64_t tiles_m = batch == 0 || rows == 0 ? 0 : rows / c[kBlockM] + batch;
  launch.grid[0] = static_cast<uint32_t>(tiles_m * ceil_div(n, c[kBlockN]));
  launch.block[0] = static_cast<uint32_t>(threads(c));
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(problem, c));
  auto& p = launch.emplace<hstu::JaggedBmmParams>();
  p.jagged = a.jagged.data;
  p.dense = a.dense.data;
  p.bias = a.bias.data;
  p.out = a.out.data;
  p.seq_offsets = a.seq_offsets.data;
  p.n = n;
  p.k = a.jagged.shape[1];
  p.jagged_row_stride = a.jagged.stride[0];
  p.dense_batch_stride = a.dense.stride[0];
  const bool along_k = problem[jagged_bmm::kDenseTransposed] != 0;
  p.dense_row_stride = a.dense.stride[along_k ? 2 : 1];
  p.dense_element_stride = a.dense.stride[along_k ? 1 : 2];
  p.bias_row_stride = a.bias.stride[0];
  p.out_row_stride = a.out.stride[0];
  p.batch = static_cast<int>(batch);
  p.tiles_m = static_cast<unsigned>(tiles_m);
}

}  // namespace

const Family kJaggedBmmSm80 = {
    .name = "jagged_bmm_sm80",
    .room = "jagged",
    .op = Op::jagged_dense_bmm_broadcast_add,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "jagged_bmm_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
