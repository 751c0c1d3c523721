// fp8_gemm_sm90: products of FP8 matrices with scales on wgmma and TMA, kernels/fp8_gemm_sm90.cuh.
#include "params/fp8_gemm_sm90.h"

#include "families/families.hpp"
#include "families/tma_product.hpp"
#include "problem/fp8_fields.hpp"
#include "problem/fp8_scales.hpp"

namespace hstujit {
namespace {

using tma_product::Facts;

Facts facts(const Problem& p, const Config& c) {
  const bool has_bias = p[fp8_gemm::kBiasDtype] != HSTU_DTYPE_NONE, scaled = p[fp8_gemm::kScalingB] == HSTU_FP8_ROW;
  Facts f;
  f.m = p[fp8_gemm::kM];
  f.n = p[fp8_gemm::kN];
  f.k = p[fp8_gemm::kK];
  f.element_bytes = 1;
  f.w_along_k = true;
  f.epilogue_bytes = ((has_bias ? 1 : 0) + (scaled ? 1 : 0)) * 2 * 4 * (c[tma_product::kBlockN] + 16);
  return f;
}

int held_registers(const Config& c) { return tma_product::accumulators(c) + c[tma_product::kBlockN] / 2; }

bool sums_fit_beside_accumulators(const Problem&, const Config& c, const DeviceFacts&) {
  return held_registers(c) <= 192;
}
bool warpgroups_share_tiles(const Problem&, const Config& c, const DeviceFacts&) { return !c[tma_product::kPingPong]; }
bool columns_have_one_block(const Problem& p, const Config& c, const DeviceFacts&) {
  return p[fp8_gemm::kScalingB] != HSTU_FP8_BLOCK || c[tma_product::kBlockN] <= 128;
}
constexpr auto kRules = tma_product::rules<facts>(std::array<Rule, 3>{
    {{"one warpgroup multiplies while the other promotes its sums, so both are at work on every slice",
      warpgroups_share_tiles},
     {"accumulators and the sums of a slice of 64 rows take 192 registers at most", sums_fit_beside_accumulators},
     {"a tile's columns have the scale of one block", columns_have_one_block}}});

/// What TMA takes, in results of 16 bits, whose rounding covers what promotion leaves of FP8 sums' error; scales of
/// groups on a alone. sm_80's family takes the rest.
bool covers(const Problem& p, const DeviceFacts& device) {
  const bool wide = p[fp8_gemm::kDtype] == HSTU_DTYPE_F32;
  return device.target == "sm_90a" && !wide && p[fp8_gemm::kVectorA] == 16 && p[fp8_gemm::kVectorB] == 16 &&
         p[fp8_gemm::kVectorOut] == 8 && p[fp8_gemm::kScalingB] != HSTU_FP8_GROUP && p[fp8_gemm::kN] > 0 &&
         p[fp8_gemm::kK] > 0 && p[fp8_gemm::kM] < tma_product::kMostRows;
}

Config default_config(const Problem& p, const DeviceFacts& device) {
  return tma_product::default_config(kFp8GemmSm90, p, facts(p, {}), device);
}

Resources resources(const Problem& p, const Config& c) {
  return {tma_product::kThreads, tma_product::smem_bytes(facts(p, c), c), held_registers(c), 1};
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto dtype = static_cast<hstu_dtype>(p[fp8_gemm::kDtype]),
             bias = static_cast<hstu_dtype>(p[fp8_gemm::kBiasDtype]);
  text.type("A", device_type(static_cast<hstu_dtype>(p[fp8_gemm::kDtypeA])));
  text.type("B", device_type(static_cast<hstu_dtype>(p[fp8_gemm::kDtypeB])));
  text.type("Element", device_type(dtype));
  text.type("Bias", device_type(bias == HSTU_DTYPE_NONE ? dtype : bias));
  text.flag("kHasBias", bias != HSTU_DTYPE_NONE);
  text.constant("kScalingA", p[fp8_gemm::kScalingA]);
  text.constant("kScalingB", p[fp8_gemm::kScalingB]);
  text.flag("kXAlongK", true);
  text.flag("kWAlongK", true);
  tma_product::write_knobs(text, facts(p, c), c);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_fp8_gemm_args*>(args);
  Facts f = facts(p, c);
  f.m = a.out.shape[0];
  tma_product::shape_launch(f, c, device, launch);
  if (launch.grid[0] == 0) return;
  auto& k = launch.emplace<hstu::Fp8GemmTmaParams>();
  tma_product::encode_operand(a.a, 1, true, c[tma_product::kBlockM], 1, k.a);
  tma_product::encode_operand(a.b, 1, true, c[tma_product::kBlockN], c[tma_product::kCluster], k.b);
  tma_product::encode_rows(a.out, k.out);
  k.a_descale = static_cast<const float*>(a.a_descale.data);
  k.b_descale = static_cast<const float*>(a.b_descale.data);
  k.bias = a.bias.data;
  k.m = f.m;
  k.n = f.n;
  k.k = f.k;
  k.a_descale_row_stride = fp8::row_stride(a.a_descale, a.a_scaling);
  k.a_descale_column_stride = fp8::column_stride(a.a_descale, a.a_scaling);
  k.b_descale_row_stride = fp8::row_stride(a.b_descale, a.b_scaling);
  k.b_descale_column_stride = fp8::column_stride(a.b_descale, a.b_scaling);
}

}  // namespace

const Family kFp8GemmSm90 = {
    .name = "fp8_gemm_sm90",
    .op = Op::fp8_gemm,
    .min_compute_capability = 90,
    .knobs = tma_product::kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "fp8_gemm_sm90_smem_bytes<Config>",
    .bind = bind,
    .dependent_launch = true,
};

}  // namespace hstujit
