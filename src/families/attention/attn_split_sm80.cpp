// attn_split_sm80: jagged HSTU attention under masks given as data, kernels/attention/attn_split_sm80.cuh.
#include "families/attention/attn_split.hpp"
#include "families/families.hpp"
#include "operators/attention/attention.hpp"

namespace hstujit {
namespace {

bool covers(const Problem& p, const DeviceFacts& device) {
  const attn_split::Facts f = attn_split::facts_of(p);
  const bool special = f.intervals > 0 || f.target_groups || f.mask == HSTU_MASK_LOCAL;
  // It weighs by SiLU of the bare scores.
  if (p[attention::kSoftmaxHeads] != attention_extras::kNoSoftmax || p[attention::kRab] != 0) return false;
  if (p[attention::kMoments] != 0) return false;
  return special && attn_split::covers(p, device);
}

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_attention_args*>(args);
  if (auto* k = attn_split::bind(a, p, c, a.max_seq_len, launch)) {
    k->seq_offsets = k->q_offsets = a.seq_offsets.data;
    k->heads_per_kv = p[attention::kHeadsPerKv];
  }
}

}  // namespace

const Family kAttnSplitSm80 = attn_split::family("attn_split_sm80", Op::attention, covers, bind);

}  // namespace hstujit
