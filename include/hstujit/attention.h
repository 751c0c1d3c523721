/**
 * Attention over jagged sequences.
 * What all operators have in common stands in hstujit.h.
 */
#ifndef HSTUJIT_ATTENTION_H
#define HSTUJIT_ATTENTION_H

#include <hstujit/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hstu_mask { HSTU_MASK_CAUSAL = 0, HSTU_MASK_FULL = 1 } hstu_mask;

/**
 * Jagged HSTU attention, forward: out_i = 1/scaling_seqlen * sum_j allowed(i, j) silu(alpha q_i . k_j) v_j within each
 * sequence (Zhai et al. 2024, arXiv:2402.17152). Sequences lie one behind another along the rows.
 *
 * q, k                   [total, num_heads, head_dim_qk] 16-bit (f32 also on "cpu"), last stride 1, other strides free
 * v, out                 [total, num_heads, head_dim_v] same dtype; head_dim_v may differ from head_dim_qk
 * seq_offsets            [batch + 1] i32 or i64, from 0, not decreasing; rows past its last value are left untouched
 * num_targets            absent or [batch] i32 or i64: the last num_targets[b] rows see history and themselves only
 * attn_scale             absent, or f32 [1] or [total]: replaces 1/scaling_seqlen (per query row)
 * alpha                  logit scale; 0 means 1/sqrt(head_dim_qk)
 * max_seq_len            longest sequence the caller expects, > 0; longer ones are still computed
 * scaling_seqlen         divisor; 0 means max_seq_len
 * mask                   CAUSAL, or FULL (every row sees every row; not with the options below)
 * contextual_seq_len     the first rows of each sequence see all but targets (0: off)
 * max_attn_len           a row sees itself and that many previous positions (0: unlimited)
 * min_full_attn_seq_len  with max_attn_len: the last so many history rows, and all targets, are exempt (0: off)
 * A sequence shorter than contextual_seq_len + num_targets[b] attends to the diagonal only.
 */
typedef struct hstu_attention_args {
  size_t struct_size;
  hstu_tensor q, k, v, out;
  hstu_tensor seq_offsets, num_targets, attn_scale;
  float alpha;
  hstu_mask mask;
  int64_t max_seq_len;
  int64_t scaling_seqlen;
  int64_t contextual_seq_len;
  int64_t max_attn_len;
  int64_t min_full_attn_seq_len;
} hstu_attention_args;
HSTU_API hstu_status hstu_attention(hstu_context* context, const hstu_attention_args* args, hstu_stream stream);

#ifdef __cplusplus
}
#endif
#endif
