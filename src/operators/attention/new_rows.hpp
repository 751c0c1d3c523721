// What delta_attention and paged_attention share, where a sequence's queries are its newest rows: attributes,
// key, checks of queries and keys, cost, and the reference, to which keys may lie anywhere.
#pragma once

#include "operators/attention/attention_checks.hpp"
#include "operators/attention/mask.hpp"
#include "operators/key_fields.hpp"
#include "operators/operators.hpp"
#include "operators/reference.hpp"

#include <functional>

namespace hstujit {

#define HSTUJIT_DELTA_ATTENTION_FIELDS(X)                                                  \
  X(kDtype, dtype, dtype)                                                                  \
  X(kHeadDimQk, head_dim_qk, exact)                                                        \
  X(kHeadDimV, head_dim_v, exact)                                                          \
  X(kNumHeads, num_heads, exact)                                                           \
  X(kHeadsPerKv, heads_per_kv, exact)                                                      \
  X(kOffsetDtype, offset_dtype, dtype)    /* NONE when paged */                            \
  X(kQOffsetDtype, q_offset_dtype, dtype) /* NONE: as many new rows in every sequence */   \
  X(kTargetDtype, target_dtype, dtype)    /* NONE without targets */                       \
  X(kPageDtype, page_dtype, dtype)        /* NONE unless paged */                          \
  X(kPageSize, page_size, exact)                                                           \
  X(kMask, mask, exact)                  /* hstu_mask */                                   \
  X(kContextual, contextual, exact)      /* 0 none, 1 one length, 2 a length a sequence */ \
  X(kMaxAttnLen, max_attn_len, exact)    /* 0|1 */                                         \
  X(kMinFullAttn, min_full_attn, exact)  /* 0|1 */                                         \
  X(kTargetGroups, target_groups, exact) /* 0|1 */                                         \
  X(kIntervals, intervals, exact)        /* how many; 0 unless the mask has them */        \
  X(kAttnScale, attn_scale, exact)       /* 0 none, 1 scalar, 2 rows */                    \
  X(kVector, vector, exact)                                                                \
  X(kBatch, batch, bucket)                                                                 \
  X(kMaxQLen, max_q_len, bucket)                                                           \
  X(kMaxSeqLen, max_seq_len, bucket)                                                       \
  X(kRab, rab, exact)            /* attention_checks::kBias... */                          \
  X(kPageGaps, page_gaps, exact) /* 0|1: cache_pages::page_rows says 0 */
HSTUJIT_KEY_FIELDS(delta_attention, HSTUJIT_DELTA_ATTENTION_FIELDS)

namespace delta_attention {

template <class Args>
inline constexpr ScalarSlot kOwnScalars[] = {
    {"alpha", offsetof(Args, alpha), ScalarSlot::Kind::f32, {}, kFollows},
    {"num_softmax_heads", offsetof(Args, num_softmax_heads), ScalarSlot::Kind::i32},
    {"max_seq_len", offsetof(Args, max_seq_len), ScalarSlot::Kind::i64, {}, kMustBeSet},
    {"max_q_len", offsetof(Args, max_q_len), ScalarSlot::Kind::i64, {}, kFollows},
    {"scaling_seqlen", offsetof(Args, scaling_seqlen), ScalarSlot::Kind::i64, {}, kFollows}};
template <class Args>
inline constexpr auto kScalars = joined(kOwnScalars<Args>, attention_checks::kMaskScalars<Args>);

/// q and out: [total_q, num_heads, ...], apart, of one dtype; head_dim_v is that of `v`.
void check_queries(const checks::Tensor& q, const checks::Tensor& out, const checks::Tensor& v);

/// Keys and values of all ranks: dtype, heads and head dims follow q and out.
void check_keys(const checks::Tensor& k, const checks::Tensor& v, const checks::Tensor& q, const checks::Tensor& out);

/// q_offsets and max_q_len, or equal parts of q: sets max_q_len. batch: of what the other offsets say.
void check_q_offsets(hstu_tensor& q_offsets, int64_t& max_q_len, int64_t batch, const checks::Tensor& q,
                     const checks::Tensor& out);

/// The fields that both operators read from members of the same names; the others stay 0.
template <class Args>
Problem key_of(Op op, const Args& args, const hstu_tensor& kv, int32_t scale, int32_t intervals, int32_t contextual,
               int64_t batch) {
  Problem problem{op, {}};
  problem[kDtype] = args.q.dtype;
  problem[kHeadDimQk] = static_cast<int32_t>(args.q.shape[2]);
  problem[kHeadDimV] = static_cast<int32_t>(args.out.shape[2]);
  problem[kNumHeads] = static_cast<int32_t>(args.q.shape[1]);
  problem[kHeadsPerKv] = static_cast<int32_t>(kv.shape[kv.rank - 2] > 0 ? args.q.shape[1] / kv.shape[kv.rank - 2] : 1);
  problem[kQOffsetDtype] = args.q_offsets.dtype;
  problem[kTargetDtype] = args.mask.num_targets.dtype;
  problem[kMask] = args.mask.kind;
  problem[kContextual] = contextual;
  problem[kMaxAttnLen] = args.mask.max_attn_len > 0;
  problem[kMinFullAttn] = args.mask.min_full_attn_seq_len > 0;
  problem[kTargetGroups] = args.mask.target_group_size > 1;
  problem[kIntervals] = intervals;
  problem[kAttnScale] = scale;
  problem[kBatch] = bucket(batch);
  problem[kMaxQLen] = bucket(args.max_q_len);
  problem[kMaxSeqLen] = bucket(args.max_seq_len);
  return problem;
}

/// Rows of q of sequence b: [first, last).
struct QueryRows {
  int64_t first = 0, last = 0;
};
QueryRows query_rows(const hstu_tensor& q_offsets, int64_t total_q, int64_t batch, int64_t b);

/// Numbers of rab that the last `queries` rows of a sequence of n keys read.
double bias_count(const hstu_tensor& rab, int64_t n, int64_t queries);

/// Of `pairs` of query and key and so many keys, all heads counted, `biases` numbers of rab, and all of `others`.
Cost cost_of_heads(const hstu_tensor& q, const hstu_tensor& out, double pairs, double keys, double biases,
                   std::initializer_list<const hstu_tensor*> others);

}  // namespace delta_attention

namespace reference {

/// One head of one sequence. Positions count from the sequence's first key.
struct CachedHead {
  SequenceMask mask;
  int64_t sequence = 0, head = 0, keys = 0, queries = 0, first_q = 0;  ///< first_q: of the sequence's rows of q and out
  /// Stores the key (or value) at a position as doubles.
  std::function<void(int64_t position, double*out)> key, value;
};

/// What all heads share.
struct CachedCall {
  const hstu_tensor &q, &attn_scale, &rab;
  double alpha = 0, scaling_seqlen = 0;
  int64_t dim_qk = 0, dim_v = 0;
};

/// Writes the sequence's rows of out.
void attend(const CachedCall& call, const CachedHead& head, const Output& out);

/// Writes out. head_of(args, sequence, head) says what a head has.
template <class Args, class HeadOf>
void attend_all(const Args& args, int64_t batch, const HeadOf& head_of, double* const* exact) {
  const CachedCall call{.q = args.q,
                        .attn_scale = args.attn_scale,
                        .rab = args.rab,
                        .alpha = static_cast<double>(args.alpha),
                        .scaling_seqlen = static_cast<double>(args.scaling_seqlen),
                        .dim_qk = args.q.shape[2],
                        .dim_v = args.out.shape[2]};
  const Output out(args.out, exact);
  const int64_t heads = args.q.shape[1];
  parallel_for(batch * heads, operator_of(op_of<Args>()).cost(&args).flops,
               [&](int64_t task) { attend(call, head_of(args, task / heads, task % heads), out); });
}

}  // namespace reference

}  // namespace hstujit
