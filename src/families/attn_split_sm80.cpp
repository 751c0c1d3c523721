// attn_split_sm80: jagged HSTU attention under masks given as data, kernels/attn_split_sm80.cuh.
#include "families/attn_split.hpp"
#include "families/families.hpp"
#include "problem/attention_extras.hpp"
#include "problem/attention_fields.hpp"

namespace hstujit {
namespace {

bool covers(const Problem& p, const DeviceFacts&) {
  const attn_split::Facts f = attn_split::facts_of(p);
  const bool special = f.intervals > 0 || f.target_groups || f.mask == HSTU_MASK_LOCAL;
  // It weighs by SiLU of the bare scores.
  if (p[attention::kSoftmaxHeads] != attention_extras::kNoSoftmax || p[attention::kRab] != 0) return false;
  if (p[attention::kMoments] != 0) return false;
  return special && (f.element == HSTU_DTYPE_BF16 || f.element == HSTU_DTYPE_F16);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_attention_args*>(args);
  if (auto* k = attn_split::bind(a, p, c, a.seq_offsets.shape[0] - 1, a.max_seq_len, launch)) {
    k->seq_offsets = k->q_offsets = a.seq_offsets.data;
    k->heads_per_kv = p[attention::kHeadsPerKv];
  }
}

}  // namespace

const Family kAttnSplitSm80 = {
    .name = "attn_split_sm80",
    .op = Op::hstu_attention,
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
