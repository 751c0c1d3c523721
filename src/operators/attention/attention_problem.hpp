// What hstu_attention and hstu_attention_fp8 check and key alike.
#pragma once

#include "operators/attention/attention_checks.hpp"
#include "operators/attention/attention_fields.hpp"

namespace hstujit::attention {

/// Extents beyond the rows, which belong to all four, and where they may lie.
inline void check_heads(const checks::Tensor& q, const checks::Tensor& k, const checks::Tensor& v,
                        const checks::Tensor& out) {
  checks::extent(out, 1, q.t.shape[1], "num_heads = q.shape[1]");
  checks::extent(v, 1, k.t.shape[1], "num_kv_heads = k.shape[1]");
  attention_checks::head_dim("head_dim_qk", q);
  attention_checks::head_dim("head_dim_v", v);
  checks::extent(k, 2, q.t.shape[2], "head_dim_qk = q.shape[2]");
  checks::extent(out, 2, v.t.shape[2], "head_dim_v = v.shape[2]");
  checks::no_self_overlap(out);
  for (const checks::Tensor* in : {&q, &k, &v}) checks::disjoint(out, *in);
}

/// Checks the sequences and the options, and fills the fields that both have but for kVector; the others stay 0.
template <class Args>
Problem problem_of(Op op, Args& args, const checks::Tensor& q, const checks::Tensor& v, const checks::Tensor& out) {
  const checks::Tensor offsets = attention_checks::offsets("seq_offsets", args.seq_offsets, out);
  const int64_t batch = offsets.t.shape[0] - 1;
  attention_checks::targets(args.num_targets, batch, out);
  const int32_t contextual = attention_checks::contexts(args.num_contexts, args.contextual_seq_len, batch, out);
  const int32_t scale = attention_checks::scale(args.attn_scale, out);
  attention_checks::lengths(args.max_seq_len, args.scaling_seqlen);
  const int32_t intervals = attention_checks::mask(attention_checks::mask_options(args), q, out);
  args.alpha = attention_checks::alpha(args.alpha, q.t.shape[2]);
  checks::field(offsets, 0);  // kernels count sequences in 32 bits

  Problem problem{op, {}};
  problem[kDtype] = out.t.dtype;
  problem[kHeadDimQk] = checks::field(q, 2);
  problem[kHeadDimV] = checks::field(v, 2);
  problem[kNumHeads] = checks::field(q, 1);
  problem[kOffsetDtype] = offsets.t.dtype;
  problem[kTargetDtype] = args.num_targets.dtype;
  problem[kMask] = args.mask;
  problem[kContextual] = contextual;
  problem[kMaxAttnLen] = args.max_attn_len > 0;
  problem[kMinFullAttn] = args.min_full_attn_seq_len > 0;
  problem[kAttnScale] = scale;
  problem[kBatch] = bucket(batch);
  problem[kTotal] = bucket(q.t.shape[0]);
  problem[kMaxSeqLen] = bucket(args.max_seq_len);
  problem[kTargetGroups] = args.target_group_size > 1;
  problem[kIntervals] = intervals;
  return problem;
}

}  // namespace hstujit::attention
