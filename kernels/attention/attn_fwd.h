// The argument struct of attn_fwd_* kernels, shared by host and device: fixed-width members only, passed by value as
// the kernel's one parameter. Strides are in elements; "rows" of a jagged tensor are tokens.
#pragma once

namespace hstu {

// attn_fwd_*: jagged HSTU attention, forward.
struct AttnFwdParams {
  const void* q;            // [total, num_heads, head_dim_qk]
  const void* k;            // [total, num_heads / Config::kHeadsPerKv, head_dim_qk]
  const void* v;            // [total, num_heads / Config::kHeadsPerKv, head_dim_v]
  void* out;                // [total, num_heads, head_dim_v]
  const void* seq_offsets;  // [batch + 1], Config::Offset
  const void* num_targets;  // [batch], Config::Target; read only when Config::kHasTargets
  const float* attn_scale;  // one, or one a row of q; read only when Config::kAttnScale
  long long q_row_stride, q_head_stride;
  long long k_row_stride, k_head_stride;
  long long v_row_stride, v_head_stride;
  long long out_row_stride, out_head_stride;
  // Dense tensors: extents between batches; read by variant::DenseSequences only, as the lengths below.
  long long q_batch_stride, k_batch_stride, v_batch_stride, out_batch_stride;
  float* lse;  // a value a query and softmax head; read only when Config::kLse
  long long lse_row_stride, lse_head_stride, lse_batch_stride;
  const void* rab;  // [batch, 1 or num_heads, rab_positions, rab_positions]; read only when Config::kBias
  long long rab_row_stride, rab_head_stride, rab_batch_stride;
  const void* intervals;     // [1 or num_heads, bounds, total] i32; read by variant::IntervalMask only
  const void* num_contexts;  // [batch], or null: contextual_seq_len for all; read only when Config::kContextual
  long long intervals_head_stride, intervals_bound_stride;
  int rab_positions;
  int num_softmax_heads;  // the first heads; read only when Config has kSilu and kSoftmax
  int queries, keys;      // of each dense sequence
  float log2_alpha;       // logit scale times log2(e): exp(x) comes from 2^x
  int batch;
  int num_heads;
  int row_blocks;                 // row blocks of a sequence covered by the grid; longer sequences loop
  float half_alpha;               // logit scale / 2: silu(x) comes from tanh(x / 2)
  float scale;                    // output scale, 1 / scaling_seqlen; attn_scale replaces it
  int attn_scale_stride;          // 0: one value for all rows, 1: a value a row
  int contextual_seq_len;         // read only when Config::kContextual
  int max_attn_len;               // read only when Config::kMaxAttnLen; 0: no limit
  int min_full_attn_seq_len;      // read only when Config::kMinFullAttn; 0: off
  int target_group_size;          // read only when Config::kTargetGroups
  int window_left, window_right;  // read only when Config::kLocal; negative: no limit
  int wide_contexts;              // 1: num_contexts are i64, 0: i32
  int section_pairs;              // (head, sequence) pairs whose tiles are neighbours in the grid; at least 1
  int whole_pairs;                // the first pairs, of which a block of threads takes all tiles; attn_*_sm90 only
  int first_early;                // 1: of attention/section_order.cuh; read only when Config::kContextual
  // Scales of FP8 tensors, one a (sequence or block of 128 rows, head); strides are 0 where one is for all.
  const float *q_scale, *k_scale, *v_scale;
  long long q_scale_stride, q_scale_head_stride;
  long long k_scale_stride, k_scale_head_stride;
  long long v_scale_stride, v_scale_head_stride;
  float* moments;  // [total, num_heads, 2]: mean and squared deviations of out's rows; attn_fwd_sm90 only, if kMoments
};
static_assert(sizeof(AttnFwdParams) == 416, "host and device disagree about AttnFwdParams");

}  // namespace hstu
