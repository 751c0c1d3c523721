// gated_fp8_gemm_sm90: an HSTU layer's output stage in one FP8 product, on wgmma and TMA,
// kernels/fp8/gated_fp8_gemm_sm90.cuh.
#include "fp8/gated_fp8_gemm_sm90.h"

#include "families/dense/tma_product.hpp"
#include "families/families.hpp"
#include "operators/fp8/gated_fp8_gemm.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>
#include <bit>

namespace hstujit {
namespace {

enum : int { kBlockK, kGroup, kKnobCount };

constexpr int32_t kBlockKValues[] = {64, 128};
constexpr int32_t kGroupValues[] = {1, 8};
constexpr Knob kKnobs[] = {
    {"block_k", kBlockKValues, "k of a slice: words of short ones are made beside the products of the one before"},
    {"group", kGroupValues, "tile rows walked together, so that concurrent blocks share w in L2; of one, u and attn"},
};

constexpr int kBlockM = 128, kBlockN = 256, kMostBlockK = 128;
constexpr int kStagesX = 2, kBoxes = 1;  // what is left is for w; a third stage is slower
constexpr int kWarps = 8, kBarriers = 16;
constexpr int kMostParts = 16, kLeastDim = 384, kMostDim = 1024;

int stage_w_bytes(const Config& c) { return kBlockN * c[kBlockK]; }

/// Everything but the slices of w.
int fixed_bytes(const Problem& p) {
  constexpr int kStageX = 2 * kBlockM * 2 * 64, kBoxBytes = 16 * 128, kScales = 4 * (kBlockN + 16);
  const int affine = 2 * 4 * p[gated_fp8_gemm::kDim] + 16;  // in f32, and what they can lead to
  return kStagesX * (kStageX + kBarriers) + kWarps * kBoxes * kBoxBytes + affine + 2 * kScales;
}
/// As many as fit.
int stages_w(const Problem& p, const Config& c) {
  constexpr int kSmemPerBlock = 227 * 1024;  // of every device with these instructions
  return (kSmemPerBlock - fixed_bytes(p)) / (stage_w_bytes(c) + kBarriers);
}
int smem_bytes(const Problem& p, const Config& c) {
  return fixed_bytes(p) + stages_w(p, c) * (stage_w_bytes(c) + kBarriers);
}

/// Measured with NVRTC 13.0.
bool words_fit_beside_accumulators(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kBlockK] == 64 || p[gated_fp8_gemm::kResidual] != 0;
}

constexpr Rule kRules[] = {
    {"slices of 128 k spill two words without a residual", words_fit_beside_accumulators, true},
};

/// What TMA takes, and what wgmma does; norm_mul and fp8_gemm take the rest. Narrower rows and other numbers of parts
/// would spill: loops of few rounds are unrolled, and divisions take registers.
bool covers(const Problem& p, const DeviceFacts& device) {
  const int32_t dtype = p[gated_fp8_gemm::kDtype], weight = p[gated_fp8_gemm::kWeightDtype];
  const int32_t dim = p[gated_fp8_gemm::kDim], n = p[gated_fp8_gemm::kN], parts = p[gated_fp8_gemm::kParts];
  return device.target == "sm_90a" && dtype != HSTU_DTYPE_F32 && (weight == dtype || weight == HSTU_DTYPE_F32) &&
         dim >= kLeastDim && dim <= kMostDim && dim % kMostBlockK == 0 && n > 0 && n % kBlockN == 0 && parts > 1 &&
         parts <= kMostParts && std::has_single_bit(static_cast<uint32_t>(parts)) && p[gated_fp8_gemm::kVector] == 8 &&
         p[gated_fp8_gemm::kVectorW] == 16 && p[gated_fp8_gemm::kM] < tma_product::kMostRows;
}

/// Measured best on an H200, where it does not spill.
Config default_config(const Problem& p, const DeviceFacts& device) {
  constexpr Config kBest = {{128, 1}}, kOther = {{64, 1}};
  return words_fit_beside_accumulators(p, kBest, device) ? kBest : kOther;
}

Resources resources(const Problem& p, const Config& c) {
  constexpr int kAccumulators = kBlockN / 2, kWords = 48;  // of one slice, or of two
  return {tma_product::kThreads, smem_bytes(p, c), kAccumulators + kWords, 1, tma_product::kHolders};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[gated_fp8_gemm::kDtype])));
  text.type("Weight", device_type(static_cast<hstu_dtype>(p[gated_fp8_gemm::kWeightDtype])));
  text.type("Fp8", device_type(HSTU_DTYPE_E4M3));
  text.constant("kDim", p[gated_fp8_gemm::kDim]);
  text.constant("kParts", p[gated_fp8_gemm::kParts]);
  text.flag("kHasResidual", p[gated_fp8_gemm::kResidual] != 0);
  text.flag("kResident", false);
  text.constant("kCluster", 1);
  text.constant("kBlockM", kBlockM);
  text.constant("kBlockN", kBlockN);
  text.constant("kBlockK", c[kBlockK]);
  text.constant("kStagesX", kStagesX);
  text.constant("kStagesW", stages_w(p, c));
  text.constant("kBoxes", kBoxes);
  text.constant("kGroup", c[kGroup]);
  text.constant("kThreads", tma_product::kThreads);
  text.constant("kMinBlocks", 1);
}

/// w [n, 3 dim] in boxes of a whole slice.
void encode_w(const hstu_tensor& w, int block_k, hstu::TensorMap& map) {
  TensorMapSpec spec;
  spec.base = w.data;
  spec.dtype = w.dtype;
  spec.rank = 2;
  spec.extent[0] = static_cast<uint64_t>(w.shape[1]), spec.extent[1] = static_cast<uint64_t>(w.shape[0]);
  spec.stride[0] = static_cast<uint64_t>(w.stride[0]);
  spec.box[0] = static_cast<uint32_t>(block_k), spec.box[1] = kBlockN;
  spec.swizzle = block_k == 128 ? Swizzle::bytes128 : Swizzle::bytes64;
  encode_tensor_map(spec, map);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_gated_fp8_gemm_args*>(args);
  const int64_t tiles = ceil_div(a.out.shape[0], kBlockM) * (a.out.shape[1] / kBlockN);
  launch.grid[0] = static_cast<uint32_t>(std::min<int64_t>(tiles, device.sm_count));
  launch.block[0] = tma_product::kThreads;
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
  if (launch.grid[0] == 0) return;
  auto& k = launch.emplace<hstu::GatedFp8GemmParams>();
  tma_product::encode_operand(a.u, 1, true, kBlockM, 1, k.u);
  tma_product::encode_operand(a.attn, 1, true, kBlockM, 1, k.attn);
  encode_w(a.w, c[kBlockK], k.w);
  if (p[gated_fp8_gemm::kResidual] != 0) tma_product::encode_operand(a.residual, 1, true, 128, 1, k.residual);
  tma_product::encode_rows(a.out, k.out);
  k.weight = a.weight.data;
  k.bias = a.bias.data;
  k.moments = static_cast<const float*>(a.moments.data);
  k.w_descale = static_cast<const float*>(a.w_descale.data);
  k.w_descale_stride = a.w_descale.stride[0];
  k.m = a.out.shape[0];
  k.n = a.out.shape[1];
  k.k = a.attn.shape[1];
  k.eps = static_cast<float>(a.eps);
}

}  // namespace

const Family kGatedFp8GemmSm90 = {
    .name = "gated_fp8_gemm_sm90",
    .room = "fp8",
    .op = Op::gated_fp8_gemm,
    .min_compute_capability = 90,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "gated_fp8_gemm_sm90_smem_bytes<Config>",
    .bind = bind,
    .dependent_launch = true,
};

}  // namespace hstujit
