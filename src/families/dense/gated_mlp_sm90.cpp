// gated_mlp_sm90: gated products on wgmma and TMA, kernels/dense/gated_mlp_sm90.cuh.
#include "dense/gated_mlp_sm90.h"

#include "families/dense/tma_product.hpp"
#include "families/families.hpp"
#include "operators/dense/gated_mlp.hpp"

namespace hstujit {
namespace {

using tma_product::Facts;

Facts facts(const Problem& p, const Config&) {
  Facts f;
  f.m = p[gated_mlp::kM];
  f.n = p[gated_mlp::kN];
  f.k = p[gated_mlp::kK];
  f.w_along_k = p[gated_mlp::kWeightTransposed] != 0;
  f.results = 2;  // gate and up
  return f;
}

bool boxes_are_whole(const Problem&, const Config& c, const DeviceFacts&) { return c[tma_product::kBlockN] % 128 == 0; }
constexpr auto kRules = tma_product::rules<facts>(
    std::array<Rule, 1>{{{"a tile has whole boxes of 64 columns of gate and of up", boxes_are_whole}}});

/// What TMA takes: 16-byte aligned lines and addresses. sm_80's family takes the rest.
bool covers(const Problem& p, const DeviceFacts& device) {
  return device.target == "sm_90a" && p[gated_mlp::kDtype] != HSTU_DTYPE_F32 && p[gated_mlp::kVectorX] == 8 &&
         p[gated_mlp::kVectorW] == 8 &&
         p[gated_mlp::kVectorOut] == (p[gated_mlp::kOutDtype] != HSTU_DTYPE_NONE ? 16 : 8) && p[gated_mlp::kN] > 0 &&
         p[gated_mlp::kK] > 0 && p[gated_mlp::kM] < tma_product::kMostRows;
}

Config default_config(const Problem& p, const DeviceFacts& device) {
  return tma_product::default_config(kGatedMlpSm90, p, facts(p, {}), device);
}

Resources resources(const Problem& p, const Config& c) {
  return tma_product::resources(facts(p, c), c, tma_product::accumulators(c));
}

void write_config(ConfigText& text, const Problem& p, const Config& c) {
  text.type("Element", device_type(static_cast<hstu_dtype>(p[gated_mlp::kDtype])));
  if (p[gated_mlp::kOutDtype] != HSTU_DTYPE_NONE)
    text.type("Fp8", device_type(static_cast<hstu_dtype>(p[gated_mlp::kOutDtype])));
  text.constant("kActivation", p[gated_mlp::kActivation]);
  text.flag("kActOnGate", p[gated_mlp::kActivateGate] != 0);
  text.flag("kXAlongK", p[gated_mlp::kXTransposed] == 0);
  text.flag("kWAlongK", p[gated_mlp::kWeightTransposed] != 0);
  tma_product::write_knobs(text, facts(p, c), c);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_gated_mlp_args*>(args);
  Facts f = facts(p, c);
  f.m = a.out.shape[0];
  tma_product::shape_launch(f, c, device, launch);
  if (launch.grid[0] == 0) return;
  const int columns = c[tma_product::kBlockN] / 2, shares = c[tma_product::kCluster];
  auto& k = launch.emplace<hstu::GatedMlpTmaParams>();
  tma_product::encode_operand(a.x, 1, p[gated_mlp::kXTransposed] == 0, c[tma_product::kBlockM], 1, k.x);
  tma_product::encode_operand(a.gate, 0, f.w_along_k, columns, shares, k.gate);
  tma_product::encode_operand(a.up, 0, f.w_along_k, columns, shares, k.up);
  tma_product::encode_rows(a.out, k.out);
  k.m = f.m;
  k.n = f.n;
  k.k = f.k;
  k.out_descale = static_cast<const float*>(a.out_descale.data);
}

}  // namespace

const Family kGatedMlpSm90 = {
    .name = "gated_mlp_sm90",
    .room = "dense",
    .op = Op::gated_mlp,
    .min_compute_capability = 90,
    .knobs = tma_product::kKnobs,
    .rules = kRules,
    .covers = covers,
    .default_config = default_config,
    .resources = resources,
    .write_config = write_config,
    .smem_expression = "gated_mlp_sm90_smem_bytes<Config>",
    .bind = bind,
    .dependent_launch = true,
};

}  // namespace hstujit
