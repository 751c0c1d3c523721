// gated_addmm_sm90: an HSTU layer's output stage in one product, on wgmma and TMA, kernels/dense/gated_addmm_sm90.cuh.
#include "dense/gated_addmm_sm90.h"

#include "families/dense/tma_product.hpp"
#include "families/families.hpp"
#include "operators/dense/gated_addmm.hpp"

#include <algorithm>

namespace hstujit {
namespace {

enum : int { kBlockN, kBlockK, kStagesX, kBoxes, kLead, kGroup, kKnobCount };

constexpr int32_t kBlockNValues[] = {128, 256};
constexpr int32_t kBlockKValues[] = {32, 64};
constexpr int32_t kStagesXValues[] = {2, 3};
constexpr int32_t kBoxesValues[] = {1, 2};
constexpr int32_t kLeadValues[] = {0, 1, 2, 4};
constexpr int32_t kGroupValues[] = {8, 16};
constexpr Knob kKnobs[] = {
    {"block_n", kBlockNValues, "columns of a tile of 32768 results: of wide ones the norm is made anew less often"},
    {"block_k", kBlockKValues, "k of a slice of w: of short ones more are in flight in the same memory"},
    {"stages_x", kStagesXValues, "slices of u and attn in flight, for such of w"},
    {"boxes", kBoxesValues, "stores in flight a warp, for slices of w"},
    {"lead", kLeadValues, "slices by which a warpgroup is ahead, so that epilogues run beside products"},
    {"group", kGroupValues, "tile rows walked together, so that concurrent blocks share w in L2"},
};

constexpr int kTileResults = 128 * 256, kSliceK = 64;  // k: of u, of attn and of g together
constexpr int kWarps = 8, kBoxBytes = 16 * 128, kBarriers = 16;
constexpr int kMostParts = 16;

int block_m(const Config& c) { return kTileResults / c[kBlockN]; }
int stage_x_bytes(const Config& c) { return 2 * block_m(c) * 2 * kSliceK; }
int stage_w_bytes(const Config& c) { return c[kBlockN] * 2 * c[kBlockK]; }
/// Slices of w that make up 64 k.
int slice_parts(const Config& c) { return kSliceK / c[kBlockK]; }

/// Everything but the slices of w.
int fixed_bytes(const Problem& p, const Config& c) {
  const int affine = 2 * p[gated_addmm::kDim] * size_of(static_cast<hstu_dtype>(p[gated_addmm::kWeightDtype]));
  return c[kStagesX] * (stage_x_bytes(c) + kBarriers) + kWarps * c[kBoxes] * kBoxBytes + affine +
         (c[kLead] > 0 ? 8 : 0);
}
/// As many as fit.
int stages_w(const Problem& p, const Config& c) {
  constexpr int kSmemPerBlock = 227 * 1024;  // of every device with these instructions
  return std::max(0, kSmemPerBlock - fixed_bytes(p, c)) / (stage_w_bytes(c) + kBarriers);
}
int smem_bytes(const Problem& p, const Config& c) {
  return fixed_bytes(p, c) + stages_w(p, c) * (stage_w_bytes(c) + kBarriers);
}

bool tiles_are_whole(const Problem& p, const Config& c, const DeviceFacts&) {
  return p[gated_addmm::kN] % c[kBlockN] == 0;
}
bool slices_are_boxes(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kBlockK] == kSliceK || (c[kBlockN] == 256 && p[gated_addmm::kWeightTransposed] == 0);
}
bool ring_is_deep(const Problem& p, const Config& c, const DeviceFacts&) {
  return stages_w(p, c) >= 3 * slice_parts(c);
}
bool lead_is_in_the_ring(const Problem& p, const Config& c, const DeviceFacts&) {
  return c[kLead] <= 3 * slice_parts(c) && c[kLead] + slice_parts(c) <= stages_w(p, c);
}
bool lead_has_registers(const Problem&, const Config& c, const DeviceFacts&) {
  return c[kLead] == 0 || c[kBlockN] == 256;
}

constexpr Rule kRules[] = {
    {"n must be a multiple of block_n", tiles_are_whole},
    {"slices of 32 k are for a row-major w and tiles of 256 columns, which a piece of the residual fills",
     slices_are_boxes},
    {"the ring of w must have room for 192 k in the shared memory that is left", ring_is_deep},
    {"a lead is of slices of a tile's first 64 k, and the ring of w has room for it and 64 k", lead_is_in_the_ring},
    {"tiles of 256 rows leave no registers for a lead", lead_has_registers},
};

/// What TMA takes, and what wgmma does; norm_mul and addmm take the rest.
bool covers(const Problem& p, const DeviceFacts& device) {
  const int32_t dtype = p[gated_addmm::kDtype], weight = p[gated_addmm::kWeightDtype], dim = p[gated_addmm::kDim];
  constexpr int kMostAffine = 32 * 1024;  // bytes of the norm's parameters, which stay in shared memory
  return device.target == "sm_90a" && dtype != HSTU_DTYPE_F32 && (weight == dtype || weight == HSTU_DTYPE_F32) &&
         dim > 0 && dim % kSliceK == 0 && 2 * int64_t{dim} * size_of(static_cast<hstu_dtype>(weight)) <= kMostAffine &&
         p[gated_addmm::kN] > 0 && p[gated_addmm::kN] % 128 == 0 && p[gated_addmm::kParts] <= kMostParts &&
         p[gated_addmm::kVector] == 8 && p[gated_addmm::kVectorW] == 8 && p[gated_addmm::kM] < tma_product::kMostRows;
}

/// Measured best on an H200; each falls back to what fits.
Config default_config(const Problem& p, const DeviceFacts& device) {
  constexpr Config kCandidates[] = {
      {{256, 32, 2, 1, 2, 8}}, {{256, 64, 2, 2, 0, 8}}, {{256, 64, 2, 1, 0, 8}}, {{128, 64, 2, 1, 0, 8}}};
  return first_legal(kCandidates, kRules, p, device);
}

Resources resources(const Problem& p, const Config& c) {
  const int accumulators = kTileResults / 256, words = block_m(c) / 8;
  return {tma_product::kThreads, smem_bytes(p, c), accumulators + words, 1, tma_product::kHolders};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[gated_addmm::kDtype])));
  text.type("Weight", device_type(static_cast<hstu_dtype>(p[gated_addmm::kWeightDtype])));
  text.constant("kDim", p[gated_addmm::kDim]);
  text.constant("kParts", p[gated_addmm::kParts]);
  text.flag("kHasResidual", p[gated_addmm::kResidual] != 0);
  text.flag("kWAlongK", p[gated_addmm::kWeightTransposed] != 0);
  text.flag("kResident", false);
  text.constant("kCluster", 1);
  text.constant("kBlockM", block_m(c));
  text.constant("kBlockN", c[kBlockN]);
  text.constant("kBlockK", c[kBlockK]);
  text.constant("kStagesX", c[kStagesX]);
  text.constant("kStagesW", stages_w(p, c));
  text.constant("kBoxes", c[kBoxes]);
  text.constant("kLead", c[kLead]);
  text.constant("kGroup", c[kGroup]);
  text.constant("kThreads", tma_product::kThreads);
  text.constant("kMinBlocks", 1);
}

/// w [3 dim, n] in boxes of a whole slice: along n in panels of 64 columns, which are the third dimension.
TensorMapSpec w_map(const hstu_tensor& w, bool along_k, const Config& c) {
  const auto columns = static_cast<uint64_t>(w.shape[1]), k = static_cast<uint64_t>(w.shape[0]);
  TensorMapSpec spec;
  spec.base = w.data;
  spec.dtype = w.dtype;
  spec.rank = 3;
  spec.box[0] = 64;
  if (along_k) {
    spec.extent[0] = k, spec.extent[1] = columns, spec.extent[2] = 1;
    spec.stride[0] = spec.stride[1] = static_cast<uint64_t>(w.stride[1]) * 2;
    spec.box[1] = static_cast<uint32_t>(c[kBlockN]), spec.box[2] = 1;
  } else {
    spec.extent[0] = 64, spec.extent[1] = k, spec.extent[2] = columns / 64;
    spec.stride[0] = static_cast<uint64_t>(w.stride[0]) * 2, spec.stride[1] = 128;
    spec.box[1] = static_cast<uint32_t>(c[kBlockK]), spec.box[2] = static_cast<uint32_t>(c[kBlockN] / 64);
  }
  return spec;
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_gated_addmm_args*>(args);
  const int64_t tiles = (a.out.shape[0] + block_m(c) - 1) / block_m(c) * (a.out.shape[1] / c[kBlockN]);
  launch.grid[0] = static_cast<uint32_t>(std::min<int64_t>(tiles, device.sm_count));
  launch.block[0] = tma_product::kThreads;
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
  if (launch.grid[0] == 0) return;
  auto& k = launch.emplace<hstu::GatedAddmmParams>();
  tma_product::encode_operand(a.u, 1, true, block_m(c), 1, k.u);
  tma_product::encode_operand(a.attn, 1, true, block_m(c), 1, k.attn);
  encode_tensor_map(w_map(a.w, p[gated_addmm::kWeightTransposed] != 0, c), k.w);
  if (p[gated_addmm::kResidual] != 0) tma_product::encode_operand(a.residual, 1, true, 128, 1, k.residual);
  tma_product::encode_rows(a.out, k.out);
  k.weight = a.weight.data;
  k.bias = a.bias.data;
  k.moments = static_cast<const float*>(a.moments.data);
  k.m = a.out.shape[0];
  k.n = a.out.shape[1];
  k.k = a.attn.shape[1];
  k.eps = static_cast<float>(a.eps);
}

}  // namespace

const Family kGatedAddmmSm90 = {
    .name = "gated_addmm_sm90",
    .room = "dense",
    .op = Op::gated_addmm,
    .min_compute_capability = 90,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "gated_addmm_sm90_smem_bytes<Config>",
    .bind = bind,
    .dependent_launch = true,
};

}  // namespace hstujit
