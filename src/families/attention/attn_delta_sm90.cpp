// attn_delta_sm90: attention of new rows against jagged keys and values with TMA and warpgroup products,
// kernels/attention/attn_delta_sm90.cuh.
#include "attention/attn_delta_sm90.h"

#include "families/attention/attn_delta90.hpp"
#include "families/families.hpp"
#include "operators/attention/new_rows.hpp"

namespace hstujit {
namespace {

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts& device, Launch& launch) {
  const auto& a = *static_cast<const hstu_delta_attention_args*>(args);
  auto* k = attn_delta90::bind<hstu::AttnDeltaSm90Params>(a, p, c, device, launch);
  if (!k) return;
  // Without keys nothing is loaded, but a map must have rows.
  const bool keys = a.k.shape[0] > 0;
  attn90::encode_keys(keys ? a.k : a.q, keys ? a.v : a.q, c, *k);
  if (p[delta_attention::kRab] != 0) attn90::encode_bias(a.rab, c, *k);
}

}  // namespace

const Family kAttnDeltaSm90 = {
    .name = "attn_delta_sm90",
    .room = "attention",
    .op = Op::delta_attention,
    .min_compute_capability = 90,
    .knobs = attn_delta90::kKnobs,
    .rules = attn_delta90::kRules,
    .covers = attn_delta90::covers,
    .default_config = attn_delta90::default_config,
    .resources = attn_delta90::resources,
    .write_config = attn_delta90::write_config,
    .smem_expression = "attn_delta_sm90_smem_bytes<Config>",
    .bind = bind,
    .tile_counters_at = offsetof(hstu::AttnDeltaSm90Params, tile_counters),
};

}  // namespace hstujit
