// addmm_wgrad_sm80: gradients of a product's weight and bias, kernels/dense/addmm_wgrad_sm80.cuh.
#include "dense/addmm_wgrad.h"
#include "families/dense/tile_product.hpp"
#include "families/families.hpp"
#include "operators/dense/addmm_wgrad.hpp"
#include "operators/dense/product_terms.hpp"
#include "operators/operators.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

namespace hstujit {
namespace {

using namespace tile_product;
namespace key = addmm_wgrad;

enum : int { kSplit = kSharedKnobs, kMinBlocks, kKnobCount };

constexpr int32_t kBlockMValues[] = {32, 64, 128, 256};
constexpr int32_t kBlockNValues[] = {32, 64, 128, 256};
constexpr int32_t kBlockKValues[] = {32, 64};
constexpr int32_t kWarpsMValues[] = {1, 2, 4};
constexpr int32_t kWarpsNValues[] = {1, 2, 4};
constexpr int32_t kStagesValues[] = {2, 3, 4, 5};
constexpr int32_t kGroupValues[] = {8};
constexpr int32_t kSplitValues[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64};
constexpr int32_t kMinBlocksValues[] = {1, 2, 3, 4};

constexpr Knob kKnobs[kKnobCount] = {
    {"block_m", kBlockMValues, "rows of the result a block: reuse of the second operand, against few tiles"},
    {"block_n", kBlockNValues, "columns of the result a block: reuse of the first operand"},
    {"block_k", kBlockKValues, "rows summed over per slice: fewer barriers, for shared memory"},
    {"warps_m", kWarpsMValues, "warps along the result's rows"},
    {"warps_n", kWarpsNValues, "warps along its columns; 64x64 a warp gives the most products per byte read"},
    {"stages", kStagesValues, "slices in flight"},
    {"group", kGroupValues, "tile rows walked together, so that concurrent blocks share operands in L2"},
    {"split", kSplitValues, "parts of the rows: as many blocks as the device takes, for sums through memory"},
    {"min_blocks", kMinBlocksValues, "blocks an SM: one's barriers run beside another's products"},
};

/// The result as the kernel has it: a's columns by b's.
struct Facts {
  int64_t m, n;
  int element_bytes, gradient_bytes;
  bool wide, gathers;
  int sums;  ///< kSums of the kernel: 0 none, 1 of b's columns, 2 of a's
};
Facts facts_of(const Problem& p) {
  const bool transposed = p[key::kTransposed] != 0;
  return {.m = transposed ? p[key::kN] : p[key::kK],
          .n = transposed ? p[key::kK] : p[key::kN],
          .element_bytes = size_of(static_cast<hstu_dtype>(p[key::kDtype])),
          .gradient_bytes = size_of(static_cast<hstu_dtype>(p[key::kGradientDtype])),
          .wide = p[key::kDtype] == HSTU_DTYPE_F32,
          .gathers = p[key::kVectorX] == 0 || p[key::kVectorDout] == 0,
          .sums = p[key::kBiasDtype] == HSTU_DTYPE_NONE ? 0
                  : transposed                          ? 2
                                                        : 1};
}

int64_t tiles(const Facts& f, const Config& c) { return ceil_div(f.m, c[kBlockM]) * ceil_div(f.n, c[kBlockN]); }

/// Accumulators, two sets of fragments and sums of columns, per thread; of f32 two sets of sums, and both halves of
/// fragments.
int held_registers(const Facts& f, const Config& c) {
  const int sums = warp_m(c) * warp_n(c) / 32, fragments = (warp_m(c) + warp_n(c)) / 2;
  const int of_bias = f.sums == 0 ? 0 : (f.sums == 1 ? warp_n(c) : warp_m(c)) / 8;
  return (f.wide ? 2 : 1) * (sums + fragments) + of_bias;
}

int smem_bytes(const Facts& f, const Config& c) {
  const int ring = c[kStages] * (c[kBlockM] + c[kBlockN]) * c[kBlockK] * f.element_bytes;
  const int staging = 16 * (warp_n(c) + 8) * f.gradient_bytes;  // of a warp: 16 rows of its part of out, padded
  return std::max(ring, 128 + warps(c) * staging);
}

bool warp_tiles_are_whole(const Problem&, const Config& c, const DeviceFacts&) {
  return warp_m(c) % 16 == 0 && warp_n(c) % 32 == 0 && std::has_single_bit(static_cast<unsigned>(warp_n(c)));
}
bool warp_tiles_are_not_thin(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kBlockM] <= 2 * c[kBlockN] && c[kBlockN] <= 4 * c[kBlockM] && warp_n(c) <= 64 && warp_m(c) <= 64 &&
         (warp_m(c) == warp_n(c) || c[kBlockM] < 64);
}
bool small_parts_where_registers_go_elsewhere(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return (!f.wide && !f.gathers) || (warp_m(c) <= 32 && warp_n(c) <= 32);
}
bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  constexpr int kAddressing = 40;
  return held_registers(facts_of(p), c) + kAddressing <= register_budget(c[kMinBlocks], threads(c));
}
bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_holds(device, c[kMinBlocks], smem_bytes(facts_of(p), c));
}
bool enough_warps(const Problem&, const Config& c, const DeviceFacts&) {
  const int least = warp_m(c) * warp_n(c) == 64 * 64 ? 8 : 4;
  return c[kMinBlocks] * warps(c) >= least && c[kMinBlocks] * warps(c) <= 16;
}
bool tiles_are_used(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return c[kBlockM] < 2 * std::max<int64_t>(32, f.m) && c[kBlockN] < 2 * std::max<int64_t>(32, f.n);
}
bool large_results_take_large_tiles(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  return f.m < 256 || f.n < 256 || f.wide || f.gathers || c[kBlockM] * c[kBlockN] >= 64 * 64;
}
bool copies_divide_among_threads(const Problem& p, const Config& c, const DeviceFacts&) {
  const Facts f = facts_of(p);
  const auto divides = [&](int block, bool along_rows) {
    const int chunks = (along_rows ? c[kBlockK] : block) * f.element_bytes / 16;  // a line's 16-byte parts
    return threads(c) % chunks == 0 && (along_rows ? block : c[kBlockK]) * chunks >= threads(c);
  };
  const bool x = p[key::kXAlongRows] != 0, dout = p[key::kDoutAlongRows] != 0, transposed = p[key::kTransposed] != 0;
  return divides(c[kBlockM], transposed ? dout : x) && divides(c[kBlockN], transposed ? x : dout);
}
bool parts_have_rows(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kSplit] <= key::most_parts(p[key::kM], p[key::kK], p[key::kN]);
}
/// Of few blocks each waits for its own: more than four of a place on the device only add sums in memory.
bool parts_are_few(const Problem& p, const Config& c, const DeviceFacts& device) {
  return c[kSplit] == 1 || tiles(facts_of(p), c) * c[kSplit] <= int64_t{4} * device.sm_count * c[kMinBlocks];
}

constexpr Rule kRules[] = {
    {"a warp's part must be whole 16 x 32 pieces, its width a power of two", warp_tiles_are_whole},
    {"a warp's part is square, at most 64 x 64, but for few rows; taller blocks than 2 : 1 spill",
     warp_tiles_are_not_thin, true},
    {"f32, whose sums and fragments count twice, and gathered operands take parts of 32 x 32 at most",
     small_parts_where_registers_go_elsewhere},
    {"accumulators and fragments would not fit the registers", registers_suffice},
    {"the slices of min_blocks blocks must fit the shared memory of an SM", smem_fits},
    {"4 to 16 warps an SM, 8 at least where one takes 64 x 64", enough_warps, true},
    {"the tile must not be larger than the matrix", tiles_are_used},
    {"large results take tiles of 64 x 64 at least", large_results_take_large_tiles, true},
    {"a pass of the block's threads must not copy more lines than a tile has", copies_divide_among_threads},
    {"each part must have 256 rows, and its sums a place in the workspace", parts_have_rows},
    {"more parts than fill the device four times only add sums in memory", parts_are_few, true},
};

bool covers(const Problem& p, const DeviceFacts&) {
  return p[key::kGradientDtype] != HSTU_DTYPE_NONE && p[key::kK] > 0 && p[key::kN] > 0;
}

// What default_config() tries, large ones first, all but the parts. The largest are 5 to 9 % faster on an H200.
constexpr Config kCandidates[] = {
    {{256, 128, 64, 4, 2, 3, 8, 1, 1}}, {{128, 256, 64, 2, 4, 3, 8, 1, 1}}, {{128, 128, 32, 2, 2, 4, 8, 1, 2}},
    {{128, 128, 32, 2, 2, 3, 8, 1, 2}}, {{64, 64, 64, 2, 2, 4, 8, 1, 3}},   {{64, 64, 64, 2, 2, 3, 8, 1, 2}},
    {{64, 64, 32, 2, 2, 3, 8, 1, 2}},   {{32, 64, 64, 2, 2, 4, 8, 1, 2}},   {{64, 32, 64, 2, 1, 4, 8, 1, 2}},
    {{32, 32, 64, 2, 1, 4, 8, 1, 2}},   {{32, 32, 32, 2, 1, 3, 8, 1, 2}},
};
constexpr Config kSmallPartCandidates[] = {
    {{128, 64, 32, 4, 2, 3, 8, 1, 1}}, {{64, 64, 32, 2, 2, 3, 8, 1, 2}}, {{64, 64, 32, 2, 2, 3, 8, 1, 1}},
    {{32, 32, 32, 1, 1, 3, 8, 1, 4}},  {{32, 32, 32, 1, 1, 2, 8, 1, 4}},
};

/// The parts that take least time: as many rounds of blocks as there are, each of its part's rows and of what starting
/// and ending costs, as 600 rows would; and sums through memory, which cost a part of all tiles 500 rows.
int32_t best_split(const Problem& p, Config c, const DeviceFacts& device) {
  const auto all = static_cast<double>(tiles(facts_of(p), c));
  const double resident = static_cast<double>(device.sm_count) * c[kMinBlocks], rows = p[key::kM];
  double least = 0;
  int32_t best = 1;
  for (const int32_t split : kSplitValues) {
    c[kSplit] = split;
    if (!legal(kRules, p, c, device)) continue;
    const double rounds = std::ceil(all * split / resident);
    const double time = rounds * (rows / split + 600) + (split > 1 ? all / resident * 500 * split : 0);
    if (split > 1 && time >= least) continue;
    least = time;
    best = split;
  }
  return best;
}

/// The largest candidate that is legal, with as many parts as fill the device.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const Facts f = facts_of(p);
  Config c = f.wide || f.gathers ? first_legal(kSmallPartCandidates, kRules, p, device)
                                 : first_legal(kCandidates, kRules, p, device);
  c[kSplit] = best_split(p, c, device);
  return c;
}

Resources resources(const Problem& p, const Config& c) {
  const Facts f = facts_of(p);
  return {threads(c), smem_bytes(f, c), held_registers(f, c), c[kMinBlocks]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const Facts f = facts_of(p);
  const bool transposed = p[key::kTransposed] != 0;
  const auto type = [&](int field, int instead) {
    return device_type(static_cast<hstu_dtype>(p[field] != HSTU_DTYPE_NONE ? p[field] : instead));
  };
  const int x[] = {p[key::kXAlongRows], p[key::kVectorX]}, dout[] = {p[key::kDoutAlongRows], p[key::kVectorDout]};
  const int *const a = transposed ? dout : x, *const b = transposed ? x : dout;
  text.type("Element", type(key::kDtype, 0));
  text.type("Gradient", type(key::kGradientDtype, 0));
  text.type("Bias", type(key::kBiasDtype, HSTU_DTYPE_F32));
  text.constant("kSums", f.sums);
  text.flag("kTf32", p[key::kAllowTf32] != 0);
  text.flag("kAAlongK", a[0] != 0);
  text.flag("kBAlongK", b[0] != 0);
  text.constant("kVectorA", a[1]);
  text.constant("kVectorB", b[1]);
  text.constant("kVectorOut", p[key::kVectorDw]);
  write_knobs(text, c, false, c[kMinBlocks]);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_addmm_wgrad_args*>(args);
  const hstu_tensor &first = a.transposed ? a.dout : a.x, &second = a.transposed ? a.x : a.dout;
  const int first_along = a.transposed ? key::kDoutAlongRows : key::kXAlongRows;
  const int second_along = a.transposed ? key::kXAlongRows : key::kDoutAlongRows;
  const int64_t rows = a.x.shape[0];
  auto& k = launch.emplace<hstu::AddmmWgradParams>();
  k.a = first.data;
  k.b = second.data;
  k.valid_rows = a.valid_rows.data;
  k.out = a.dw.data;
  k.bias = a.dbias.data;
  k.partials = static_cast<float*>(a.workspace);
  k.m = first.shape[1];
  k.n = second.shape[1];
  k.k = rows;
  k.a_line_stride = line_stride(first, 0, p[first_along] != 0);
  k.b_line_stride = line_stride(second, 0, p[second_along] != 0);
  k.a_element_stride = element_stride(first, 0);
  k.b_element_stride = element_stride(second, 0);
  k.out_row_stride = a.dw.stride[0];
  k.split = static_cast<int>(std::min<int64_t>(c[kSplit], key::most_parts(rows, a.x.shape[1], a.dout.shape[1])));
  k.accumulate = a.accumulate;
  k.valid_rows_i64 = a.valid_rows.dtype == HSTU_DTYPE_I64;

  launch.grid[0] =
      static_cast<uint32_t>(ceil_div(k.m, int64_t{c[kBlockM]}) * ceil_div(k.n, int64_t{c[kBlockN]}) * k.split);
  launch.block[0] = static_cast<uint32_t>(threads(c));
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(facts_of(p), c));
}

}  // namespace

const Family kAddmmWgradSm80 = {
    .name = "addmm_wgrad_sm80",
    .room = "dense",
    .op = Op::addmm_wgrad,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "addmm_wgrad_sm80_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::AddmmWgradParams, counters),
};

}  // namespace hstujit
