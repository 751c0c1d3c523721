// fp8_gemm_sm80: products of FP8 matrices with scales, kernels/fp8/fp8_gemm_sm80.cuh.
#include "families/dense/tile_product.hpp"
#include "families/families.hpp"
#include "families/fp8/fp8_product.hpp"
#include "fp8/fp8_gemm.h"
#include "operators/operators.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>

namespace hstujit {
namespace {

using fp8_product::element_of, fp8_product::scales_along_k;

using namespace tile_product;

enum : int { kMinBlocks = kSharedKnobs, kNative, kKnobCount };

constexpr int32_t kBlockMValues[] = {32, 64, 128};
constexpr int32_t kBlockNValues[] = {64, 128};
constexpr int32_t kBlockKValues[] = {64, 128};
constexpr int32_t kWarpsMValues[] = {1, 2, 4};
constexpr int32_t kWarpsNValues[] = {1, 2};
constexpr int32_t kStagesValues[] = {2, 3, 4};
constexpr int32_t kGroupValues[] = {8};
constexpr int32_t kMinBlocksValues[] = {1, 2};
constexpr int32_t kNativeValues[] = {0, 1};

constexpr Knob kKnobs[kKnobCount] = {
    {"block_m", kBlockMValues, "rows of out a block: reuse of b"},
    {"block_n", kBlockNValues, "columns of out a block: reuse of a"},
    {"block_k", kBlockKValues, "k per slice: fewer barriers and promotions, for shared memory"},
    {"warps_m", kWarpsMValues, "warps along m"},
    {"warps_n", kWarpsNValues, "warps along n"},
    {"stages", kStagesValues, "slices in flight"},
    {"group", kGroupValues, "tile rows walked together, so that concurrent blocks share operands in L2"},
    {"min_blocks", kMinBlocksValues, "blocks an SM: one's epilogue runs beside another's products"},
    {"native", kNativeValues, "1: mma of FP8, which sm_89 alone has; 0: of f16, after conversion"},
};

bool promotes(const Problem& p, const Config& c) { return c[kNative] != 0 || scales_along_k(p); }

/// Accumulators, twice where sums are promoted, and fragments: two sets as stored, one widened in part.
int held_registers(const Problem& p, const Config& c) {
  const int sums = warp_m(c) * warp_n(c) / 32;
  return sums * (promotes(p, c) ? 2 : 1) + (warp_m(c) + warp_n(c)) * 3 / 4;
}

int smem_bytes(const Problem& p, const Config& c) {
  const int element = size_of(element_of(p));
  return c[kStages] * (c[kBlockM] + c[kBlockN]) * c[kBlockK] + warps(c) * 16 * (warp_n(c) + 8) * element;
}

bool native_where_it_is(const Problem&, const Config& c, const DeviceFacts& device) {
  return (c[kNative] != 0) == (device.compute_capability == 89);
}
bool warp_tiles_are_whole(const Problem&, const Config& c, const DeviceFacts&) {
  return warp_m(c) >= 16 && warp_m(c) % 16 == 0 && warp_m(c) <= 64 && warp_n(c) >= 32 && warp_n(c) <= 64;
}
bool registers_suffice(const Problem& p, const Config& c, const DeviceFacts&) {
  constexpr int kAddressing = 28;
  const int budget = register_budget(c[kMinBlocks], threads(c));
  const bool long_slices = promotes(p, c) && c[kBlockK] == 128;  // of which the compiler unrolls too much
  return held_registers(p, c) + kAddressing <= budget && (!long_slices || warp_m(c) * warp_n(c) <= 1024);
}
bool smem_fits(const Problem& p, const Config& c, const DeviceFacts& device) {
  return smem_holds(device, c[kMinBlocks], smem_bytes(p, c));
}
bool enough_warps(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kMinBlocks] * warps(c) >= 4 && c[kMinBlocks] * warps(c) <= 16;
}
bool rows_are_used(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kBlockM] <= std::max(32, p[fp8_gemm::kM]) && c[kBlockN] <= std::max(64, 2 * p[fp8_gemm::kN]);
}
bool copies_divide_among_threads(const Problem&, const Config& c, const DeviceFacts&) {
  const int lines = threads(c) / (c[kBlockK] / 16);
  return c[kBlockM] >= lines && c[kBlockN] >= lines;
}

/// What the epilogue adds to addresses and values grows with a warp's part; so does what long slices are unrolled to.
/// Two warps copy more lines of a slice each than four, whose addresses they hold.
bool parts_leave_registers_for_their_ending(const Problem& p, const Config& c, const DeviceFacts&) {
  const bool ending = (p[fp8_gemm::kBias] & hstu::kResidual) != 0 || p[fp8_gemm::kActivation] != HSTU_ACTIVATION_NONE ||
                      p[fp8_gemm::kSplit] != 0 || fp8::stores(p[fp8_gemm::kDtype]);
  if (!ending) return true;
  const bool wide = element_of(p) == HSTU_DTYPE_F32, narrow = p[fp8_gemm::kVectorOut] < (wide ? 4 : 8);
  const bool all =
      p[fp8_gemm::kBias] == (hstu::kRowBias | hstu::kResidual) && p[fp8_gemm::kActivation] != HSTU_ACTIVATION_NONE;
  const int share = fp8::stores(p[fp8_gemm::kDtype]) ? 4 : wide || narrow || all || warps(c) == 2 ? 2 : 1;
  return warp_m(c) * warp_n(c) * c[kBlockK] <= 64 * 64 * 64 / share;
}

constexpr Rule kRules[] = {
    {"sm_89 multiplies FP8 itself, every other generation after conversion to f16", native_where_it_is},
    {"a warp's part is 16 to 64 rows by 32 or 64 columns", warp_tiles_are_whole},
    {"accumulators and fragments would not fit the registers", registers_suffice},
    {"the slices of min_blocks blocks must fit the shared memory of an SM", smem_fits},
    {"4 to 16 warps an SM", enough_warps},
    {"the tile must not be larger than the matrix", rows_are_used},
    {"a pass of the block's threads must not copy more lines than a tile has", copies_divide_among_threads},
    {"a residual, an activation or several outputs take registers: parts of 64 x 64 by 64 k, or half of it for two "
     "warps, f32, unaligned results and an activation beside bias and residual, a quarter for FP8, whose conversion is "
     "integer arithmetic before sm_89",
     parts_leave_registers_for_their_ending, true},
};

bool covers(const Problem&, const DeviceFacts&) { return true; }

/// The largest of these that is legal and fills the device.
Config default_config(const Problem& p, const DeviceFacts& device) {
  constexpr Config kCandidates[] = {
      {{128, 128, 64, 2, 2, 3, 8, 2}}, {{128, 64, 64, 2, 2, 4, 8, 2}}, {{128, 64, 64, 2, 2, 3, 8, 2}},
      {{64, 64, 64, 2, 2, 3, 8, 2}},   {{32, 64, 64, 2, 2, 3, 8, 2}},  {{32, 64, 64, 2, 2, 2, 8, 1}},
  };
  Config chosen;
  for (Config c : kCandidates) {
    c[kNative] = device.compute_capability == 89;
    if (!legal(kRules, p, c, device)) continue;
    chosen = c;
    const int64_t down = ceil_div(p[fp8_gemm::kM], c[kBlockM]);
    const int64_t across = ceil_div(p[fp8_gemm::kN], c[kBlockN]);
    if (down * across >= device.sm_count) break;
  }
  return chosen;
}

Resources resources(const Problem& p, const Config& c) {
  return {threads(c), smem_bytes(p, c), held_registers(p, c), c[kMinBlocks]};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const hstu_dtype dtype = element_of(p), bias = static_cast<hstu_dtype>(p[fp8_gemm::kBiasDtype]);
  text.type("A", device_type(static_cast<hstu_dtype>(p[fp8_gemm::kDtypeA])));
  text.type("B", device_type(static_cast<hstu_dtype>(p[fp8_gemm::kDtypeB])));
  text.type("Element", device_type(dtype));
  text.type("Bias", device_type(bias == HSTU_DTYPE_NONE ? dtype : bias));
  text.constant("kBias", p[fp8_gemm::kBias]);
  text.constant("kActivation", p[fp8_gemm::kActivation]);
  text.constant("kScalingA", p[fp8_gemm::kScalingA]);
  text.constant("kScalingB", p[fp8_gemm::kScalingB]);
  text.constant("kVectorX", p[fp8_gemm::kVectorA]);
  text.constant("kVectorW", p[fp8_gemm::kVectorB]);
  text.constant("kVectorZ", std::min(p[fp8_gemm::kVectorOut], 16 / size_of(dtype)));
  text.flag("kGatherY", false);
  text.flag("kSplitColumns", p[fp8_gemm::kSplit] != 0);
  if (fp8::stores(p[fp8_gemm::kDtype])) text.type("Fp8", device_type(static_cast<hstu_dtype>(p[fp8_gemm::kDtype])));
  text.flag("kTailK", p[fp8_gemm::kK] % c[kBlockK] != 0);
  write_knobs(text, c, false, c[kMinBlocks]);
  text.flag("kNative", c[kNative] != 0);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_fp8_gemm_args*>(args);
  const int64_t m = a.out.shape[0], n = a.w.shape[0];
  launch.grid[0] = static_cast<uint32_t>(ceil_div(m, c[kBlockM]) * ceil_div(n, c[kBlockN]));
  launch.block[0] = static_cast<uint32_t>(threads(c));
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
  auto& k = launch.emplace<hstu::Fp8GemmParams>();
  k.a = a.x.data;
  k.b = a.w.data;
  k.a_descale = static_cast<const float*>(a.x_descale.data);
  k.b_descale = static_cast<const float*>(a.w_descale.data);
  k.bias = a.bias.data;
  k.residual = a.residual.data;
  k.m = m;
  k.n = n;
  k.k = a.x.shape[1];
  k.a_row_stride = a.x.stride[0];
  k.b_row_stride = a.w.stride[0];
  k.residual_row_stride = a.residual.stride[0];
  k.act_columns = a.activation_columns;
  k.out_descale = static_cast<const float*>(a.out_descale.data);
  k.a_descale_row_stride = fp8::row_stride(a.x_descale, a.x_scaling);
  k.a_descale_column_stride = fp8::column_stride(a.x_descale, a.x_scaling);
  k.b_descale_row_stride = fp8::row_stride(a.w_descale, a.w_scaling);
  k.b_descale_column_stride = fp8::column_stride(a.w_descale, a.w_scaling);
  set_result({&a.out, &a.out1, &a.out2, &a.out3}, k);
}

}  // namespace

const Family kFp8GemmSm80 = {
    .name = "fp8_gemm_sm80",
    .room = "fp8",
    .op = Op::fp8_gemm,
    .min_compute_capability = 80,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "fp8_gemm_sm80_smem_bytes<Config>",
    .bind = bind,
};

}  // namespace hstujit
