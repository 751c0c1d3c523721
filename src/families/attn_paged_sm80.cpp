// attn_paged_sm80: attention of new rows against a cache in pages, kernels/attn_paged_sm80.cuh.
#include "families/attn_split.hpp"
#include "families/families.hpp"

namespace hstujit {
namespace {

bool covers(const Problem& p, const DeviceFacts&) {
  const attn_split::Facts f = attn_split::facts_of(p);
  return f.element == HSTU_DTYPE_BF16 || f.element == HSTU_DTYPE_F16;
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_paged_attention_args*>(args);
  if (auto* k = attn_split::bind(a, p, c, a.last_page_lens.shape[0], a.max_q_len, launch))
    attn_split::fill_cache(*k, a, p);
}

}  // namespace

const Family kAttnPagedSm80 = {
    .name = "attn_paged_sm80",
    .op = Op::paged_hstu_attention,
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
