// The key of attention, and how it is made as far as attention_fp8 has the same.
#pragma once

#include "operators/attention/attention_checks.hpp"
#include "operators/key_fields.hpp"

namespace hstujit {

/// The first fields of attention and attention_fp8.
#define HSTUJIT_JAGGED_ATTENTION_FIELDS(X)                                                \
  X(kDtype, dtype, dtype)                                                                 \
  X(kHeadDimQk, head_dim_qk, exact)                                                       \
  X(kHeadDimV, head_dim_v, exact)                                                         \
  X(kNumHeads, num_heads, exact)                                                          \
  X(kOffsetDtype, offset_dtype, dtype)                                                    \
  X(kTargetDtype, target_dtype, dtype)  /* NONE without targets */                        \
  X(kMask, mask, exact)                 /* hstu_mask */                                   \
  X(kContextual, contextual, exact)     /* 0 none, 1 one length, 2 a length a sequence */ \
  X(kMaxAttnLen, max_attn_len, exact)   /* 0|1 */                                         \
  X(kMinFullAttn, min_full_attn, exact) /* 0|1 */                                         \
  X(kAttnScale, attn_scale, exact)      /* 0 none, 1 scalar, 2 rows */                    \
  X(kVector, vector, exact)                                                               \
  X(kBatch, batch, bucket)                                                                \
  X(kTotal, total, bucket)                                                                \
  X(kMaxSeqLen, max_seq_len, bucket)                                                      \
  X(kTargetGroups, target_groups, exact) /* 0|1 */                                        \
  X(kIntervals, intervals, exact)        /* how many; 0 unless the mask has them */
#define HSTUJIT_ATTENTION_FIELDS(X)                                            \
  HSTUJIT_JAGGED_ATTENTION_FIELDS(X)                                           \
  X(kSoftmaxHeads, softmax_heads, exact) /* attention_extras::kNoSoftmax... */ \
  X(kLse, lse, exact)                    /* 0|1 */                             \
  X(kRab, rab, exact)                    /* attention_extras::kBias... */      \
  X(kHeadsPerKv, heads_per_kv, exact)                                          \
  X(kMoments, moments, exact) /* 0|1 */
HSTUJIT_KEY_FIELDS(attention, HSTUJIT_ATTENTION_FIELDS)

namespace attention_extras {
enum : int32_t { kNoSoftmax = 0, kAllSoftmax = 1, kSomeSoftmax = 2 };
}

namespace attention {

/// num_softmax_heads, which is checked, as the key has it.
inline int32_t softmax_kind(int64_t num_softmax_heads, int64_t num_heads) {
  attention_checks::softmax_heads(num_softmax_heads, num_heads);
  return num_softmax_heads == 0           ? attention_extras::kNoSoftmax
         : num_softmax_heads == num_heads ? attention_extras::kAllSoftmax
                                          : attention_extras::kSomeSoftmax;
}

/// Checks the sequences and the options, and fills the fields that both have but for kVector; the others stay 0.
template <class Args>
Problem problem_of(Op op, Args& args, const checks::Tensor& q, const checks::Tensor& v, const checks::Tensor& out) {
  const checks::Tensor offsets = attention_checks::offsets("seq_offsets", args.seq_offsets, out);
  const int64_t batch = offsets.t.shape[0] - 1;
  attention_checks::targets(args.mask.num_targets, batch, out);
  const int32_t contextual =
      attention_checks::contexts(args.mask.num_contexts, args.mask.contextual_seq_len, batch, out);
  const int32_t scale = attention_checks::scale(args.attn_scale, out);
  attention_checks::lengths(args.max_seq_len, args.scaling_seqlen);
  const int32_t intervals = attention_checks::mask(args.mask, q, out);
  args.alpha = attention_checks::alpha(args.alpha, q.t.shape[2]);
  checks::field(offsets, 0);  // kernels count sequences in 32 bits

  Problem problem{op, {}};
  problem[kDtype] = out.t.dtype;
  problem[kHeadDimQk] = checks::field(q, 2);
  problem[kHeadDimV] = checks::field(v, 2);
  problem[kNumHeads] = checks::field(q, 1);
  problem[kOffsetDtype] = offsets.t.dtype;
  problem[kTargetDtype] = args.mask.num_targets.dtype;
  problem[kMask] = args.mask.kind;
  problem[kContextual] = contextual;
  problem[kMaxAttnLen] = args.mask.max_attn_len > 0;
  problem[kMinFullAttn] = args.mask.min_full_attn_seq_len > 0;
  problem[kAttnScale] = scale;
  problem[kBatch] = bucket(batch);
  problem[kTotal] = bucket(q.t.shape[0]);
  problem[kMaxSeqLen] = bucket(args.max_seq_len);
  problem[kTargetGroups] = args.mask.target_group_size > 1;
  problem[kIntervals] = intervals;
  return problem;
}

}  // namespace attention

}  // namespace hstujit
