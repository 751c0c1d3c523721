// addmm_sm90: matrix product with bias, residual and activation on wgmma and TMA, kernels/dense/addmm_sm90.cuh.
#include "dense/addmm_sm90.h"

#include "families/dense/tma_product.hpp"
#include "families/families.hpp"
#include "operators/dense/addmm.hpp"
#include "tile/addmm_terms.h"

namespace hstujit {
namespace {

using tma_product::Facts;

Facts facts(const Problem& p, const Config& c) {
  Facts f;
  f.m = p[addmm::kM];
  f.n = p[addmm::kN];
  f.k = p[addmm::kK];
  f.w_along_k = p[addmm::kWeightTransposed] != 0;
  f.residual = (p[addmm::kBias] & hstu::kResidual) != 0;
  if ((p[addmm::kBias] & hstu::kRowBias) != 0) f.epilogue_bytes = 2 * 4 * (c[tma_product::kBlockN] + 16);
  if (f.residual) f.epilogue_bytes += 8 * 8;  // a barrier a warp
  return f;
}

bool residual_fits_beside_accumulators(const Problem& p, const Config& c, const DeviceFacts&) {
  const bool ahead = p[addmm::kZDtype] != HSTU_DTYPE_NONE && (p[addmm::kBias] & hstu::kResidual) != 0;
  return !ahead || tma_product::accumulators(c) <= 128;
}
constexpr auto kRules = tma_product::rules<facts>(std::array<Rule, 1>{
    {{"a residual that results in FP8 overwrite is read 64 columns ahead, which spills beside 192 accumulators",
      residual_fits_beside_accumulators, true}}});

/// What TMA takes: 16-byte aligned lines and addresses. sm_80's family takes the rest.
bool covers(const Problem& p, const DeviceFacts& device) {
  const bool fp8 = p[addmm::kZDtype] != HSTU_DTYPE_NONE;
  return device.target == "sm_90a" && p[addmm::kDtype] != HSTU_DTYPE_F32 && p[addmm::kVectorX] == 8 &&
         p[addmm::kVectorW] == 8 && p[addmm::kVectorZ] == (fp8 ? 16 : 8) && p[addmm::kSplit] % 64 == 0 &&
         p[addmm::kN] > 0 && p[addmm::kK] > 0 && p[addmm::kM] < tma_product::kMostRows &&
         ((p[addmm::kBias] & hstu::kResidual) == 0 || p[addmm::kGatherY] == 0);
}

Config default_config(const Problem& p, const DeviceFacts& device) {
  return tma_product::default_config(kAddmmSm90, p, facts(p, {}), device);
}

Resources resources(const Problem& p, const Config& c) {
  return tma_product::resources(facts(p, c), c, tma_product::accumulators(c));
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  const auto dtype = static_cast<hstu_dtype>(p[addmm::kDtype]), bias = static_cast<hstu_dtype>(p[addmm::kBiasDtype]);
  text.type("Element", device_type(dtype));
  text.type("Bias", device_type(bias == HSTU_DTYPE_NONE ? dtype : bias));
  text.constant("kBias", p[addmm::kBias]);
  text.constant("kActivation", p[addmm::kActivation]);
  text.flag("kActivatesPart",
            tma_product::activates_part(p[addmm::kActColumns], p[addmm::kN], c[tma_product::kBlockN]));
  text.flag("kSplitColumns", p[addmm::kSplit] != 0);
  if (p[addmm::kZDtype] != HSTU_DTYPE_NONE) text.type("Fp8", device_type(static_cast<hstu_dtype>(p[addmm::kZDtype])));
  text.flag("kXAlongK", p[addmm::kXTransposed] == 0);
  text.flag("kWAlongK", p[addmm::kWeightTransposed] != 0);
  tma_product::write_knobs(text, facts(p, c), c);
}

template <int kOutputs>
void fill(const hstu_addmm_args& a, const Problem& p, const Config& c, const Facts& f, Launch& launch) {
  auto& k = launch.emplace<hstu::AddmmTmaParams<kOutputs>>();
  tma_product::encode_operand(a.x, 1, p[addmm::kXTransposed] == 0, c[tma_product::kBlockM], 1, k.x);
  tma_product::encode_operand(a.w, 0, p[addmm::kWeightTransposed] != 0, c[tma_product::kBlockN],
                              static_cast<int>(launch.cluster), k.w);
  if (f.residual) tma_product::encode_rows(a.residual, k.residual);
  tma_product::encode_result({&a.out, &a.out1, &a.out2, &a.out3}, k.out, k.out_first);
  k.bias = a.bias.data;
  k.bias_stride = a.bias.stride[0];
  k.m = f.m;
  k.n = f.n;
  k.k = f.k;
  k.act_columns = a.activation_columns;
  k.out_descale = static_cast<const float*>(a.out_descale.data);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_addmm_args*>(args);
  Facts f = facts(p, c);
  f.m = a.out.shape[0];
  tma_product::shape_launch(f, c, device, launch);
  if (launch.grid[0] == 0) return;
  if (p[addmm::kSplit] == 0)
    fill<1>(a, p, c, f, launch);
  else
    fill<4>(a, p, c, f, launch);
}

}  // namespace

const Family kAddmmSm90 = {
    .name = "addmm_sm90",
    .room = "dense",
    .op = Op::addmm,
    .min_compute_capability = 90,
    .knobs = tma_product::kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "addmm_sm90_smem_bytes<Config>",
    .bind = bind,
    .dependent_launch = true,
};

}  // namespace hstujit
