// attn_delta_sm80: attention of new rows against jagged keys and values, kernels/attention/attn_delta_sm80.cuh.
#include "families/attention/attn_split.hpp"
#include "families/families.hpp"

namespace hstujit {
namespace {

void bind(const void* args, const Problem& p, const Config& c, const DeviceFacts&, Launch& launch) {
  const auto& a = *static_cast<const hstu_delta_attention_args*>(args);
  if (auto* k = attn_split::bind(a, p, c, a.max_q_len, launch)) attn_split::fill_cache(*k, a, p);
}

}  // namespace

const Family kAttnDeltaSm80 = attn_split::family("attn_delta_sm80", Op::delta_attention, attn_split::covers, bind);

}  // namespace hstujit
