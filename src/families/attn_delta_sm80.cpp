// attn_delta_sm80: attention of new rows against jagged keys and values, kernels/attn_delta_sm80.cuh.
#include "families/attn_split.hpp"
#include "families/families.hpp"

namespace hstujit {
namespace {

bool covers(const Problem& p, const DeviceFacts&) {
  const attn_split::Facts f = attn_split::facts_of(p);
  return f.element == HSTU_DTYPE_BF16 || f.element == HSTU_DTYPE_F16;
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_delta_attention_args*>(args);
  if (auto* k = attn_split::bind(a, p, c, a.seq_offsets.shape[0] - 1, a.max_q_len, launch))
    attn_split::fill_cache(*k, a, p);
}

}  // namespace

const Family kAttnDeltaSm80 = {
    .name = "attn_delta_sm80",
    .op = Op::delta_hstu_attention,
    .min_compute_capability = 80,
    .knobs = attn_split::kKnobs,
    .rules = attn_split::kRules,
    .covers = covers,
    .default_config = attn_split::default_config,
    .resources = attn_split::resources,
    .write_config = attn_split::write_config,
    .smem_expression = attn_split::kSmemExpression,
    .bind = bind,
};

}  // namespace hstujit
