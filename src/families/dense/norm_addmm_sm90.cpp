// norm_addmm_sm90: layer norm and the product behind it in one kernel, on wgmma and TMA,
// kernels/dense/norm_addmm_sm90.cuh.
#include "dense/norm_addmm_sm90.h"

#include "families/dense/tma_product.hpp"
#include "families/families.hpp"
#include "operators/dense/norm_addmm.hpp"
#include "support/ceil_div.hpp"
#include "tile/addmm_terms.h"

#include <algorithm>

namespace hstujit {
namespace {

enum : int { kStageSlices, kKnobCount };

constexpr int32_t kStageSlicesValues[] = {1, 2, 4};
constexpr Knob kKnobs[] = {
    {"stage_slices", kStageSlicesValues,
     "slices of w that share a barrier: fewer waits, or a ring filled in finer parts"},
};

// Normed rows, 64 of a warpgroup, are in registers, beside accumulators of two tiles.
constexpr int kBlockM = 128, kBlockN = 64, kSliceK = 64, kWarpgroups = 2, kMostDim = 512;
constexpr int kWarps = 8, kBoxes = 1, kBoxBytes = 16 * 128, kSliceBytes = kBlockN * 2 * kSliceK, kBarriers = 16;

int slices(const Problem& p) { return p[norm_addmm::kK] / kSliceK; }
int stage_bytes(const Config& c) { return c[kStageSlices] * kSliceBytes; }

/// Everything but the slices of w.
int64_t fixed_bytes(const Problem& p) {
  const int dim = p[norm_addmm::kK], rows = kBlockM / kWarpgroups * 2 * dim;
  const int affine = 2 * dim * size_of(static_cast<hstu_dtype>(p[norm_addmm::kWeightDtype]));
  const int64_t columns = ceil_div(p[norm_addmm::kN], kBlockN) * kBlockN;
  const int64_t bias = p[norm_addmm::kBias] == hstu::kRowBias ? columns * 4 : 0;
  return rows + kWarps * kBoxes * kBoxBytes + affine + bias + 8 * (kWarpgroups + 1);
}
/// As many as fit.
int stages(const Problem& p, const Config& c) {
  constexpr int kSmemPerBlock = 227 * 1024;  // of every device with these instructions
  const int64_t room = kSmemPerBlock - fixed_bytes(p);
  return room < 0 ? 0 : static_cast<int>(room / (stage_bytes(c) + kBarriers));
}
int smem_bytes(const Problem& p, const Config& c) {
  return static_cast<int>(fixed_bytes(p)) + stages(p, c) * (stage_bytes(c) + kBarriers);
}

bool stages_make_a_tile(const Problem& p, const Config& c, const DeviceFacts&) {
  return slices(p) % c[kStageSlices] == 0;
}
bool tile_is_in_the_ring(const Problem& p, const Config& c, const DeviceFacts&) {
  return stages(p, c) * c[kStageSlices] >= slices(p);
}

constexpr Rule kRules[] = {
    {"k must be a multiple of a stage's", stages_make_a_tile},
    {"all of a tile's w must fit the shared memory that is left", tile_is_in_the_ring},
};

/// What TMA takes, and what registers and shared memory hold; layer_norm and addmm take the rest.
bool covers(const Problem& p, const DeviceFacts& device) {
  constexpr Config kSmallest = {{1}};
  const int32_t dtype = p[norm_addmm::kDtype], weight = p[norm_addmm::kWeightDtype], dim = p[norm_addmm::kK];
  return device.target == "sm_90a" && dtype != HSTU_DTYPE_F32 && (weight == dtype || weight == HSTU_DTYPE_F32) &&
         dim > 0 && dim <= kMostDim && dim % kSliceK == 0 && p[norm_addmm::kN] > 0 && p[norm_addmm::kSplit] % 64 == 0 &&
         p[norm_addmm::kVector] == 8 && p[norm_addmm::kVectorW] == 8 && p[norm_addmm::kM] < tma_product::kMostRows &&
         tile_is_in_the_ring(p, kSmallest, device);
}

/// Measured best on an H200; each falls back to what fits.
Config default_config(const Problem& p, const DeviceFacts& device) {
  constexpr Config kCandidates[] = {{{4}}, {{2}}, {{1}}};
  return first_legal(kCandidates, kRules, p, device);
}

Resources resources(const Problem& p, const Config& c) {
  const int accumulators = 2 * kBlockN / 2, words = p[norm_addmm::kK] / 4;
  return {tma_product::kThreads, smem_bytes(p, c), accumulators + words, 1, tma_product::kHolders};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto dtype = static_cast<hstu_dtype>(p[norm_addmm::kDtype]),
             bias = static_cast<hstu_dtype>(p[norm_addmm::kBiasDtype]);
  text.type("Element", device_type(dtype));
  text.type("Weight", device_type(static_cast<hstu_dtype>(p[norm_addmm::kWeightDtype])));
  text.type("Bias", device_type(bias == HSTU_DTYPE_NONE ? dtype : bias));
  text.constant("kBias", p[norm_addmm::kBias]);
  text.constant("kActivation", p[norm_addmm::kActivation]);
  text.flag("kActivatesPart", tma_product::activates_part(p[norm_addmm::kActColumns], p[norm_addmm::kN], kBlockN));
  text.flag("kSplitColumns", p[norm_addmm::kSplit] != 0);
  text.constant("kDim", p[norm_addmm::kK]);
  text.constant("kColumns", p[norm_addmm::kN]);
  text.flag("kWAlongK", p[norm_addmm::kWeightTransposed] != 0);
  text.constant("kBlockM", kBlockM);
  text.constant("kBlockN", kBlockN);
  text.constant("kStageSlices", c[kStageSlices]);
  text.constant("kStages", stages(p, c));
  text.constant("kBoxes", kBoxes);
  text.constant("kThreads", tma_product::kThreads);
  text.constant("kMinBlocks", 1);
}

template <int kOutputs>
void fill(const hstu_norm_addmm_args& a, const Problem& p, Launch& launch) {
  auto& k = launch.emplace<hstu::NormAddmmParams<kOutputs>>();
  tma_product::encode_operand(a.x, 1, true, kBlockM / kWarpgroups, 1, k.x);
  tma_product::encode_operand(a.w, 0, p[norm_addmm::kWeightTransposed] != 0, kBlockN, 1, k.w);
  tma_product::encode_result({&a.out, &a.out1, &a.out2, &a.out3}, k.out, k.out_first);
  k.norm_weight = a.norm_weight.data;
  k.norm_bias = a.norm_bias.data;
  k.bias = a.bias.data;
  k.bias_stride = a.bias.stride[0];
  k.m = a.x.shape[0];
  k.n = a.w.shape[1];
  k.k = a.x.shape[1];
  k.act_columns = a.activation_columns;
  k.eps = a.eps;
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_norm_addmm_args*>(args);
  const int64_t tiles = ceil_div(a.x.shape[0], kBlockM) * ceil_div(a.w.shape[1], kBlockN);
  launch.grid[0] = static_cast<uint32_t>(std::min<int64_t>(tiles, device.sm_count));
  launch.block[0] = tma_product::kThreads;
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes(p, c));
  if (launch.grid[0] == 0) return;
  if (p[norm_addmm::kSplit] == 0)
    fill<1>(a, p, launch);
  else
    fill<4>(a, p, launch);
}

}  // namespace

const Family kNormAddmmSm90 = {
    .name = "norm_addmm_sm90",
    .room = "dense",
    .op = Op::norm_addmm,
    .min_compute_capability = 90,
    .knobs = kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "norm_addmm_sm90_smem_bytes<Config>",
    .bind = bind,
    .dependent_launch = true,
};

}  // namespace hstujit
