// What the operators that attend to a cache share: their attributes, the fields of their keys, the checks of queries
// and keys, and their cost.
#pragma once

#include "operators/attention/attention_checks.hpp"
#include "operators/attention/attention_extras.hpp"
#include "operators/attention/attention_fields.hpp"

namespace hstujit::delta_attention {

inline constexpr FieldInfo kFields[] = {{"dtype", FieldKind::dtype},          {"head_dim_qk", FieldKind::exact},
                                        {"head_dim_v", FieldKind::exact},     {"num_heads", FieldKind::exact},
                                        {"heads_per_kv", FieldKind::exact},   {"offset_dtype", FieldKind::dtype},
                                        {"q_offset_dtype", FieldKind::dtype}, {"target_dtype", FieldKind::dtype},
                                        {"page_dtype", FieldKind::dtype},     {"page_size", FieldKind::exact},
                                        {"mask", FieldKind::exact},           {"contextual", FieldKind::exact},
                                        {"max_attn_len", FieldKind::exact},   {"min_full_attn", FieldKind::exact},
                                        {"target_groups", FieldKind::exact},  {"intervals", FieldKind::exact},
                                        {"attn_scale", FieldKind::exact},     {"vector", FieldKind::exact},
                                        {"batch", FieldKind::bucket},         {"max_q_len", FieldKind::bucket},
                                        {"max_seq_len", FieldKind::bucket},   {"rab", FieldKind::exact},
                                        {"page_gaps", FieldKind::exact}};

template <class Args>
inline constexpr ScalarSlot kScalars[] = {
    {"alpha", offsetof(Args, alpha), ScalarSlot::Kind::f32},
    {"mask", offsetof(Args, mask), ScalarSlot::Kind::i32, attention_checks::kMaskWords},
    {"max_seq_len", offsetof(Args, max_seq_len), ScalarSlot::Kind::i64},
    {"max_q_len", offsetof(Args, max_q_len), ScalarSlot::Kind::i64},
    {"scaling_seqlen", offsetof(Args, scaling_seqlen), ScalarSlot::Kind::i64},
    {"contextual_seq_len", offsetof(Args, contextual_seq_len), ScalarSlot::Kind::i64},
    {"max_attn_len", offsetof(Args, max_attn_len), ScalarSlot::Kind::i64},
    {"min_full_attn_seq_len", offsetof(Args, min_full_attn_seq_len), ScalarSlot::Kind::i64},
    {"target_group_size", offsetof(Args, target_group_size), ScalarSlot::Kind::i64},
    {"window_left", offsetof(Args, window_left), ScalarSlot::Kind::i64},
    {"window_right", offsetof(Args, window_right), ScalarSlot::Kind::i64}};

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
  problem[kTargetDtype] = args.num_targets.dtype;
  problem[kMask] = args.mask;
  problem[kContextual] = contextual;
  problem[kMaxAttnLen] = args.max_attn_len > 0;
  problem[kMinFullAttn] = args.min_full_attn_seq_len > 0;
  problem[kTargetGroups] = args.target_group_size > 1;
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
Work work_of_heads(const hstu_tensor& q, const hstu_tensor& out, double pairs, double keys, double biases,
                   std::initializer_list<const hstu_tensor*> others);

}  // namespace hstujit::delta_attention
