// addmm_thin_sm80: matrix products of few rows, operands straight from memory, kernels/dense/addmm_thin_sm80.cuh.
#include "families/families.hpp"
#include "operators/dense/addmm.hpp"
#include "operators/dense/product_terms.hpp"
#include "operators/operators.hpp"
#include "support/ceil_div.hpp"
#include "tile/addmm.h"

#include <algorithm>

namespace hstujit {
namespace {

enum : int { kBlockM, kBlockN, kWarps, kAhead, kKnobCount };

constexpr int32_t kBlockMValues[] = {16, 32, 64};
constexpr int32_t kBlockNValues[] = {16, 32, 64};
constexpr int32_t kWarpsValues[] = {4, 8, 16};
constexpr int32_t kAheadValues[] = {1, 2, 4};

constexpr Knob kKnobs[kKnobCount] = {
    {"block_m", kBlockMValues, "rows of out a block: reuse of w, against blocks for all SMs"},
    {"block_n", kBlockNValues, "columns of out a block: reuse of x, against blocks for all SMs"},
    {"warps", kWarpsValues, "parts of k that are fetched and multiplied at the same time"},
    {"ahead", kAheadValues, "slices of 32 k a warp has under way: fewer waits, for registers"},
};

constexpr int kSlice = 32;  // k
constexpr int kMostRows = 64;

int64_t tiles(const Problem& p, const Config& c) {
  return ceil_div(p[addmm::kM], c[kBlockM]) * ceil_div(p[addmm::kN], c[kBlockN]);
}
int threads(const Config& c) { return 32 * c[kWarps]; }
int smem_bytes(const Config& c) { return c[kWarps] * c[kBlockM] * c[kBlockN] * 4; }
/// Accumulators, and the slices under way.
int held_registers(const Config& c) { return c[kBlockM] * c[kBlockN] / 32 + c[kAhead] * (c[kBlockM] + c[kBlockN]) / 2; }

bool registers_suffice(const Problem&, const Config& c, const DeviceFacts&) {
  constexpr int kAddressing = 48;
  return held_registers(c) + kAddressing <= std::min(255, 65536 / threads(c));
}
bool sums_fit(const Problem&, const Config& c, const DeviceFacts& device) {
  return smem_bytes(c) <= device.smem_per_block;
}
bool rows_are_used(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kBlockM] <= std::max(16, p[addmm::kM]) && c[kBlockN] < 2 * std::max(16, p[addmm::kN]);
}
bool warps_have_slices(const Problem& p, const Config& c, const DeviceFacts&) {
  const int64_t slices = ceil_div(p[addmm::kK], kSlice);
  return c[kWarps] == 4 || c[kWarps] * c[kAhead] < 2 * slices;
}

constexpr Rule kRules[] = {
    {"accumulators and the slices under way would not fit the registers", registers_suffice},
    {"the sums of all warps must fit the shared memory of a block", sums_fit},
    {"the tile must not be larger than the matrix", rows_are_used},
    {"more slices under way than k has", warps_have_slices},
};

/// Few rows, whose lines are aligned; x along k, w along either dimension. With more tiles than SMs wgmma is faster.
bool covers(const Problem& p, const DeviceFacts& device) {
  const int64_t least_tiles = ceil_div(p[addmm::kM], 16) * ceil_div(p[addmm::kN], 16);
  return p[addmm::kDtype] != HSTU_DTYPE_F32 && p[addmm::kZDtype] == HSTU_DTYPE_NONE && p[addmm::kSplit] == 0 &&
         p[addmm::kM] <= kMostRows && p[addmm::kXTransposed] == 0 && p[addmm::kVectorX] == 8 &&
         p[addmm::kVectorW] == 8 && p[addmm::kVectorZ] >= 2 && p[addmm::kN] > 0 && p[addmm::kK] > 0 &&
         (device.target != "sm_90a" || least_tiles <= device.sm_count);
}

// Large tiles first; the last is legal everywhere. Measured on an H200.
constexpr Config kCandidates[] = {
    {{32, 32, 8, 2}}, {{16, 32, 8, 2}}, {{16, 16, 8, 2}}, {{16, 16, 8, 1}}, {{16, 16, 4, 1}}};

/// The first tile that fills the device, or the smallest.
Config default_config(const Problem& p, const DeviceFacts& device) {
  const Config* last = nullptr;
  for (const Config& c : kCandidates) {
    const bool same_tile = last && (*last)[kBlockM] == c[kBlockM] && (*last)[kBlockN] == c[kBlockN];
    if (same_tile || !legal(kAddmmThinSm80, p, c, device)) continue;
    last = &c;
    if (tiles(p, c) >= device.sm_count) return c;
  }
  return *last;
}

Resources resources(const Problem&, const Config& c) { return {threads(c), smem_bytes(c), held_registers(c), 1}; }

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto dtype = static_cast<hstu_dtype>(p[addmm::kDtype]), bias = static_cast<hstu_dtype>(p[addmm::kBiasDtype]);
  text.type("Element", device_type(dtype));
  text.type("Bias", device_type(bias == HSTU_DTYPE_NONE ? dtype : bias));
  text.constant("kBias", p[addmm::kBias]);
  text.constant("kActivation", p[addmm::kActivation]);
  text.flag("kWAlongK", p[addmm::kWeightTransposed] != 0);
  text.constant("kBlockM", c[kBlockM]);
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kThreads", threads(c));
  text.constant("kAhead", c[kAhead]);
  text.constant("kMinBlocks", 1);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_addmm_args*>(args);
  const int64_t m = a.out.shape[0], n = a.out.shape[1];
  launch.grid[0] = m == 0 ? 0 : static_cast<uint32_t>(ceil_div(n, c[kBlockN]));
  launch.grid[1] = static_cast<uint32_t>(ceil_div(m, c[kBlockM]));
  launch.block[0] = static_cast<uint32_t>(threads(c));
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(c));
  auto& k = launch.emplace<hstu::AddmmParams>();
  k.x = a.x.data;
  k.w = a.w.data;
  k.bias = a.bias.data;
  k.residual = a.residual.data;
  k.out[0] = a.out.data;
  k.m = m;
  k.n = n;
  k.k = a.x.shape[1];
  k.x_row_stride = line_stride(a.x, 1, true);
  k.w_row_stride = line_stride(a.w, 0, p[addmm::kWeightTransposed] != 0);
  k.residual_row_stride = a.residual.stride[0];
  k.out_row_stride[0] = a.out.stride[0];
  k.bias_stride = a.bias.stride[0];
  k.residual_column_stride = a.residual.stride[1];
  k.act_columns = a.activation_columns;
}

}  // namespace

const Family kAddmmThinSm80 = {
    .name = "addmm_thin_sm80",
    .room = "dense",
    .op = Op::addmm,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "addmm_thin_sm80_smem_bytes<Config>",
    .bind = bind,
    .dependent_launch = true,
};

}  // namespace hstujit
