/**
 * Attention over jagged sequences.
 * What all operators have in common stands in hstujit.h.
 */
#ifndef HSTUJIT_ATTENTION_H
#define HSTUJIT_ATTENTION_H

#include <hstujit/base.h>
#include <hstujit/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hstu_mask {
  HSTU_MASK_CAUSAL = 0,   /* a row sees itself and what lies before it, with all options */
  HSTU_MASK_FULL = 1,     /* every row sees every row */
  HSTU_MASK_LOCAL = 2,    /* a row sees window_left rows before it, itself and window_right after it */
  HSTU_MASK_INTERVALS = 3 /* a row sees the keys in the intervals that a tensor gives it */
} hstu_mask;

/**
 * Which keys a row of its sequence sees. A sequence of contextual_seq_len + num_targets[b] rows or more begins with
 * contextual rows, and its targets are its last rows; what lies between is history. A shorter one attends to the
 * diagonal only.
 *
 * kind                   CAUSAL; FULL, LOCAL or INTERVALS take none of the options of CAUSAL, nor num_targets and
 *                        num_contexts
 * target_group_size      with num_targets: targets come in groups of so many, from the first; inside a group they are
 *                        causal, and no row sees a target of another group (0 means 1)
 * contextual_seq_len     the first rows of each sequence see all but targets (0: off)
 * max_attn_len           a row sees itself and that many previous positions (0: unlimited)
 * min_full_attn_seq_len  with max_attn_len: the last so many history rows, and all targets, are exempt (0: off)
 * window_left, _right    LOCAL: how many positions before and after itself a row sees (negative: unlimited)
 * num_targets            absent or [batch] i32 or i64: the last num_targets[b] rows see history and themselves only
 * num_contexts           absent, or [batch] i32 or i64: a contextual_seq_len for each sequence; that one is 0 then
 * intervals              INTERVALS: i32 [1 or num_heads, 2 m - 1, total], m up to 32: a row with bounds f_0, f_1, ...
 *                        sees the positions [0, f_0), [f_1, f_2), [f_3, f_4), ... of its sequence; they may overlap, be
 *                        empty or reach beyond it. Rows that see nothing give 0
 * Source of groups, local and interval masks: NVIDIA recsys-examples, corelib/hstu.
 */
typedef struct hstu_mask_options {
  hstu_mask kind;
  int32_t target_group_size;
  int64_t contextual_seq_len, max_attn_len, min_full_attn_seq_len;
  int64_t window_left, window_right;
  hstu_tensor num_targets, num_contexts, intervals;
} hstu_mask_options;

/**
 * Jagged HSTU attention, forward: out_i = 1/scaling_seqlen * sum_j allowed(i, j) silu(alpha q_i . k_j) v_j within each
 * sequence (Zhai et al. 2024, arXiv:2402.17152). Sequences lie one behind another along the rows.
 *
 * q, out                 [total, num_heads, head_dim_qk], [total, num_heads, head_dim_v] f32 or 16-bit, same dtype,
 *                        last stride 1, other strides free. f32 has a kernel without tensor cores, for precision
 *                        rather than speed. Head dims are 1 to 256, and may differ
 * k, v                   [total, num_kv_heads, head_dim_qk], [total, num_kv_heads, head_dim_v], likewise; num_heads is
 *                        a multiple of num_kv_heads, and neighbouring heads of q share one
 * seq_offsets            [batch + 1] i32 or i64, from 0, not decreasing; rows past its last value are left untouched
 * mask                   which keys a row sees
 * attn_scale             absent, or f32 [1] or [total]: replaces 1/scaling_seqlen (per query row)
 * alpha                  logit scale; 0 means 1/sqrt(head_dim_qk); HSTU_EXACT_ZERO: 0
 * max_seq_len            longest sequence the caller expects, > 0; longer ones are still computed
 * scaling_seqlen         divisor; 0 means max_seq_len
 * rab                    absent, or [batch, 1 or num_heads, n, n] q's dtype: added to q_i . k_j before alpha; 0 from
 *                        position n on
 * num_softmax_heads      the first so many heads weigh by softmax_j(alpha (q_i . k_j + rab_ij)) instead, without any
 *                        scale behind it (0: none)
 * lse                    absent, or f32 [num_softmax_heads, total]: log-sum-exp of their scores, natural logarithm
 * moments                absent, or f32 [total, num_heads, 2], contiguous, aligned to 8 bytes: mean, and sum of squared
 *                        deviations from it, of each row's head_dim_v values of each head as out holds them, for
 *                        hstu_gated_addmm. Compute capability 9.0 has it for 16-bit tensors aligned to 16 bytes (head
 *                        dims too), without intervals and rab; HSTU_ERROR_UNSUPPORTED elsewhere, but on "cpu"
 * Blocks of rows run from the longest key range to the shortest over all sequences, so no sequence need be sorted.
 */
typedef struct hstu_attention_args {
  size_t struct_size;
  hstu_tensor q, k, v, out;
  hstu_tensor seq_offsets, attn_scale;
  hstu_mask_options mask;
  float alpha;
  int32_t num_softmax_heads;
  int64_t max_seq_len, scaling_seqlen;
  hstu_tensor rab, lse;
  hstu_tensor moments;
} hstu_attention_args;
HSTU_API hstu_status hstu_attention(hstu_context* context, const hstu_attention_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(attention)

/**
 * Gradients of hstu_attention. With s_ij = alpha (q_i . k_j + rab_ij), P_ij = c_i silu(s_ij) and dP_ij = dout_i . v_j,
 * c_i being 1/scaling_seqlen or attn_scale: dS_ij = c_i silu'(s_ij) dP_ij where i sees j, else 0; then
 *   dv_j = sum_i P_ij dout_i,  dq_i = alpha sum_j dS_ij k_j,  dk_j = alpha sum_i dS_ij q_i,  drab_ij = alpha dS_ij,
 *   d_attn_scale_i = sum_j silu(s_ij) dP_ij over all heads.
 * Softmax heads have P_ij = exp(s_ij - lse_i) and dS_ij = P_ij (dP_ij - out_i . dout_i), and add nothing to
 * d_attn_scale.
 *
 * forward       as the call whose gradients these are, struct_size 0 or its size. With softmax heads its out and lse
 *               must be there and hold what the call left. Without them these are not read. Its moments never are
 * dout          [total, num_heads, head_dim_v], q's dtype, the gradient of out
 * dq, dk, dv    like q, k and v: absent ones are not computed, and with all gradients absent nothing is launched. Of
 *               heads that share one of k and v, dk and dv are the sum. Rows past seq_offsets' last are left untouched
 * drab          absent, or like rab, summed over the heads where those share it; 0 where no row sees the key
 * d_attn_scale  absent, or f32 like attn_scale
 * accumulate    1: drab and d_attn_scale are added to what is there, with one rounding. 0: what is there is not read
 * determinism   both give the same bits in each run of a plan
 * workspace, workspace_size
 *               device memory aligned to 256 bytes, at least what the function below says; NULL and 0 where that is 0,
 *               as it is without d_attn_scale. Its contents are lost. Calls that may run at the same time need one each
 *
 * Any gradients may be columns of one buffer. None may overlap what the call reads. f32 has a kernel without tensor
 * cores, for precision rather than speed.
 */
typedef struct hstu_attention_backward_args {
  size_t struct_size;
  hstu_attention_args forward;
  hstu_tensor dout;
  hstu_tensor dq, dk, dv, drab, d_attn_scale;
  int32_t accumulate;
  hstu_determinism determinism;
  void* workspace;
  size_t workspace_size;
} hstu_attention_backward_args;
HSTU_API hstu_status hstu_attention_backward(hstu_context* context, const hstu_attention_backward_args* args,
                                             hstu_stream stream);
HSTU_TYPED_PLAN(attention_backward)
/** Bytes of workspace for the call on this context; reads extents and which tensors are there. */
HSTU_API hstu_status hstu_attention_backward_workspace_size(hstu_context* context,
                                                            const hstu_attention_backward_args* args, size_t* bytes);

/** What has a descale of its own in an e4m3 tensor [total, heads, head_dim], and the shape of its descales. */
typedef enum hstu_fp8_attention_scaling {
  HSTU_FP8_ATTENTION_TENSOR = 0,   /* the whole tensor                    [1] */
  HSTU_FP8_ATTENTION_HEAD = 1,     /* a head                              [heads] */
  HSTU_FP8_ATTENTION_SEQUENCE = 2, /* a head of a sequence                [batch, heads] */
  HSTU_FP8_ATTENTION_BLOCK = 3     /* a head of 128 rows, from row 0 on   [ceil(total / 128), heads] */
} hstu_fp8_attention_scaling;

/**
 * hstu_attention of FP8: q, k and v are e4m3, x = stored value * its descale, out is 16 bits wide. Descales are those
 * of hstu_quantize_fp8: its HSTU_FP8_TENSOR gives TENSOR, and on [total, num_heads * 128] its HSTU_FP8_BLOCK gives
 * BLOCK for head_dim 128.
 *
 * q                      [total, num_heads, head_dim_qk] E4M3, last stride 1, other strides free
 * k, v                   [total, num_kv_heads, head_dim_qk], [total, num_kv_heads, head_dim_v] E4M3, likewise;
 *                        num_heads is a multiple of num_kv_heads, and neighbouring heads of q share one
 * out                    [total, num_heads, head_dim_v] BF16 or F16
 * q_, k_, v_descale      f32, of the shape that `scaling` asks for; those of k and v for num_kv_heads
 * fast_sums              0 or 1: sums of FP8 products may keep 14 bits, see below
 * num_softmax_heads, rab  0 and absent; all else is HSTU_ERROR_UNSUPPORTED as yet
 * All else as in hstu_attention.
 *
 * Compute capability 9.0 multiplies FP8 itself where q, k and v are aligned to 16 bytes (head dims too), and out to 16.
 * There the weights silu(alpha q_i . k_j) are rounded to e4m3, times a power of two: on normal data that makes a
 * relative error (Frobenius, against exact attention of the same e4m3 values) of 2.7e-2. The power of two is the
 * largest, from 1 to 2^20, with which a weight saturates only beyond an eighth of the greatest score that the descales
 * admit, |alpha| * q_descale * k_descale * 448^2 * head_dim_qk; it is 8 for normal data scaled by its greatest
 * magnitudes.
 *
 * With scaling BLOCK a weight is multiplied by v_descale of its key before it is rounded, divided by the greatest
 * v_descale that the row's block of 128 rows sees. The power of two follows from the greatest k_descale * v_descale
 * there. So keys whose product k_descale * v_descale is small beside the greatest lose bits. On normal data the error
 * of what such keys add depends on how small the product is beside the greatest:
 *
 *   2^-4 and more  2.6e-2
 *   2^-6           2.8e-2
 *   2^-8           6e-2 for a small v_descale, 7e-2 for a small k_descale
 *   2^-10          0.3
 *   2^-14          such keys vanish
 *
 * The tensor cores add up with 14 bits, which biases sums of one sign towards zero. So they go to f32 sums every 2048
 * keys (head_dim_v up to 128; else never). Where all weights and values are positive an error of 3.3e-2 remains. Where
 * the mean of the values is their standard deviation, 1e-3 remains. With fast_sums they do not go there, which is 3 to
 * 5 % faster. At 12,000 keys the same errors are then 1.6e-1 and 4e-3. Without a mean there is no such error.
 *
 * In all other cases q, k and v are dequantised to out's type as they are loaded, and attention is computed in that
 * type. Values must keep to its range.
 *
 * Source: NVIDIA recsys-examples, corelib/hstu (scalings); FlashAttention-3, arXiv:2407.08608.
 */
typedef struct hstu_attention_fp8_args {
  size_t struct_size;
  hstu_tensor q, k, v, out;
  hstu_tensor q_descale, k_descale, v_descale;
  hstu_tensor seq_offsets, attn_scale;
  hstu_mask_options mask;
  float alpha;
  int32_t num_softmax_heads;
  hstu_fp8_attention_scaling scaling;
  int32_t fast_sums;
  int64_t max_seq_len, scaling_seqlen;
  hstu_tensor rab;
} hstu_attention_fp8_args;
HSTU_API hstu_status hstu_attention_fp8(hstu_context* context, const hstu_attention_fp8_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(attention_fp8)

/**
 * The intervals of semi-local attention, for hstu_attention with mask INTERVALS: history row p sees the first_keys keys
 * at the beginning of its sequence and the last_keys keys up to itself, as far as they lie before it; targets see the
 * whole history, and not themselves. Contextual rows count as history; first_keys is at least contextual_seq_len.
 *
 * seq_offsets         [batch + 1] i32 or i64
 * num_targets         absent or [batch] i32 or i64
 * intervals           [1 or num_heads, 3, total] i32, the same for all heads; last stride 1, others free; columns
 *                     behind the last sequence are left untouched
 * last_keys, first_keys, contextual_seq_len  not negative
 * Source: alibaba/TorchEasyRec, build_sla_func.
 */
typedef struct hstu_build_sla_func_args {
  size_t struct_size;
  hstu_tensor seq_offsets, num_targets, intervals;
  int64_t last_keys, first_keys, contextual_seq_len;
} hstu_build_sla_func_args;
HSTU_API hstu_status hstu_build_sla_func(hstu_context* context, const hstu_build_sla_func_args* args,
                                         hstu_stream stream);
HSTU_TYPED_PLAN(build_sla_func)

/**
 * The relative bias of positions and times, for hstu_attention's rab, in f32, rounded once:
 *   rab[b, h, i, j] = position_weights[h, n - 1 + j - i] + time_weights[h, bucket(t_(i + 1) - t_j)]
 * t are the sequence's timestamps, t_n is t_(n - 1): a row uses the time of the next item, which it predicts.
 * bucket(d) = trunc(ln(max(|d|, 1)) / 0.301), in f32, at most the last row of time_weights. Differences are exact until
 * they become floats.
 *
 * timestamps        [batch, n] i64; row stride free. hstu_expand_1d_jagged_to_dense lays a jagged tensor out like this,
 *                   each sequence's last time repeated behind its end, which the definition above asks for
 * position_weights  [1 or num_heads, 2 n - 1] f32 or 16-bit, one row for all heads or one per head; row stride free
 * time_weights      [1 or num_heads, buckets + 1] same dtype, likewise; at least one column
 * rab               [batch, num_heads, n, n] f32 or 16-bit, last stride 1, others free; num_heads may be 1, as
 *                   hstu_attention takes it; n up to 131,072. Every element is written
 * Source: meta-recsys/generative-recommenders, research, RelativeBucketedTimeAndPositionBasedBias.
 */
typedef struct hstu_rel_bias_args {
  size_t struct_size;
  hstu_tensor timestamps, position_weights, time_weights;
  hstu_tensor rab;
} hstu_rel_bias_args;
HSTU_API hstu_status hstu_rel_bias(hstu_context* context, const hstu_rel_bias_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(rel_bias)

/**
 * Attention of the newest rows of each sequence against all of its keys and values, which a cache holds: rows
 * [keys - queries, keys) of hstu_attention on the whole sequence. Forward only.
 *
 * q, out                 [total_q, num_heads, head_dim_qk], [total_q, num_heads, head_dim_v]: the new rows alone
 * k, v                   [total, num_kv_heads, head_dim_qk], [total, num_kv_heads, head_dim_v]: all rows; num_heads is
 *                        a multiple of num_kv_heads, and neighbouring heads of q share one
 * seq_offsets            [batch + 1] i32 or i64, of k and v
 * q_offsets              absent: every sequence has total_q / batch new rows; or [batch + 1] i32 or i64, of q and out
 * max_q_len              the most new rows of a sequence that the caller expects, > 0 with q_offsets; else not read
 * mask                   num_targets count the last rows of a sequence, new or not; intervals are i32 [1 or num_heads,
 *                        2 m - 1, total_q]
 * attn_scale             absent, or f32 [1] or [total_q]
 * rab                    absent, or [batch, 1 or num_heads, n, n] q's dtype, by positions in the whole sequence; of it
 *                        the new rows are read
 * num_softmax_heads      0; another is HSTU_ERROR_UNSUPPORTED as yet
 * All else as in hstu_attention. Note that scaling_seqlen follows max_seq_len: to
 * continue a prefill, pass that of the prefill. New rows of a sequence with fewer keys than new rows give 0 where they
 * lie before its first key. Source: meta-recsys/generative-recommenders, delta_hstu_mha.
 */
typedef struct hstu_delta_attention_args {
  size_t struct_size;
  hstu_tensor q, k, v, out;
  hstu_tensor seq_offsets, q_offsets, attn_scale;
  hstu_mask_options mask;
  float alpha;
  int32_t num_softmax_heads;
  int64_t max_seq_len, max_q_len, scaling_seqlen;
  hstu_tensor rab;
} hstu_delta_attention_args;
HSTU_API hstu_status hstu_delta_attention(hstu_context* context, const hstu_delta_attention_args* args,
                                          hstu_stream stream);
HSTU_TYPED_PLAN(delta_attention)

/**
 * The same against a cache in pages. The history of a sequence, new rows included (hstu_append_kv_cache puts them
 * there), lies in the pages; its targets, the last mask.num_targets[b] of its new rows, only in k and v.
 *
 * k, v                   [total_q, num_kv_heads, ...] rows of q's sequences, of which the targets' are read; absent
 *                        when mask.num_targets is
 * k_cache, v_cache       [pages, page_size, num_kv_heads, head_dim]; strides of the first three dimensions are free, so
 *                        a buffer [pages, 2, page_size, num_kv_heads, head_dim] gives both. Fastest with pages of a
 *                        multiple of 16 slots, a whole number of slots apart, as many for K as for V
 * page_offsets           [batch + 1] i32 or i64: sequence b has the pages page_ids[page_offsets[b]] ...
 *                        page_ids[page_offsets[b + 1] - 1]; every page but the last is full
 * page_ids               [page_offsets[batch] or more], page_offsets' dtype. Both absent: sequence b has the one page
 *                        b, so page_size is the room of a sequence
 * last_page_lens         [batch], page_offsets' dtype: rows in the last page; a sequence without pages has no history
 * mask                   num_targets are at most the sequence's new rows
 * max_seq_len            longest history + targets the caller expects, > 0
 * All else as in hstu_delta_attention. Source: NVIDIA recsys-examples, corelib/hstu.
 */
typedef struct hstu_paged_attention_args {
  size_t struct_size;
  hstu_tensor q, k, v, out;
  hstu_tensor k_cache, v_cache, page_offsets, page_ids, last_page_lens;
  hstu_tensor q_offsets, attn_scale;
  hstu_mask_options mask;
  float alpha;
  int32_t num_softmax_heads;
  int64_t max_seq_len, max_q_len, scaling_seqlen;
  hstu_tensor rab;
} hstu_paged_attention_args;
HSTU_API hstu_status hstu_paged_attention(hstu_context* context, const hstu_paged_attention_args* args,
                                          hstu_stream stream);
HSTU_TYPED_PLAN(paged_attention)

/**
 * Copies the keys and values of new rows to the end of each sequence's history in a cache, in pages or, without
 * page_offsets and page_ids, in one page per sequence. Bits are copied as they are.
 *
 * k, v                   [total, num_kv_heads, head_dim_qk], [total, num_kv_heads, head_dim_v], same dtype: any but
 *                        i32 and i64
 * k_cache, v_cache       as in hstu_paged_attention, k's dtype; only the new rows are written
 * seq_offsets            absent: every sequence has total / batch new rows; or [batch + 1] i32 or i64, of k and v
 * num_targets            absent or [batch] i32 or i64: the last num_targets[b] new rows are not history, and not copied
 * page_offsets, page_ids, last_page_lens  as in hstu_paged_attention, the state after the call
 * Row r of the new history of a sequence goes to position history - new + r; rows before position 0 are dropped.
 * Source: NVIDIA recsys-examples, paged_kvcache_ops; FlashInfer, append_paged_kv_cache.
 */
typedef struct hstu_append_kv_cache_args {
  size_t struct_size;
  hstu_tensor k, v, k_cache, v_cache;
  hstu_tensor page_offsets, page_ids, last_page_lens;
  hstu_tensor seq_offsets, num_targets;
} hstu_append_kv_cache_args;
HSTU_API hstu_status hstu_append_kv_cache(hstu_context* context, const hstu_append_kv_cache_args* args,
                                          hstu_stream stream);
HSTU_TYPED_PLAN(append_kv_cache)

/**
 * Softmax attention, forward: out_i = sum_j softmax_j(scale q_i . k_j) v_j over the keys that query i sees, with an
 * online softmax in f32 (Dao 2023, arXiv:2307.08691). Dense without seq_offsets, jagged with them.
 *
 * dense:  q, out         [batch, num_heads, queries, head_dim_qk], [batch, num_heads, queries, head_dim_v]
 *         k, v           [batch, num_heads, keys, head_dim_qk], [batch, num_heads, keys, head_dim_v]
 *         lse            absent, or f32 [batch, num_heads, queries]
 * jagged: q, k, v, out   [total, num_heads, head_dim]: sequences one behind another, as in hstu_attention
 *         lse            absent, or f32 [num_heads, total]
 *         seq_offsets    [batch + 1] i32 or i64, from 0, not decreasing; rows past its last value are left untouched
 *         max_seq_len    longest sequence the caller expects, > 0; longer ones are still computed. Dense: not read
 * q, k, v and out are f32 (without tensor cores) or 16-bit with last stride 1 and other strides free; head dims are 1
 * to 256.
 *
 * lse    log-sum-exp of a query's scaled scores, natural logarithm
 * scale  of the scores; 0 means 1/sqrt(head_dim_qk); HSTU_EXACT_ZERO: 0
 * mask   of kind FULL: a query sees every key. CAUSAL: query i sees keys up to i + keys - queries. Other kinds, and
 *        options, are HSTU_ERROR_UNSUPPORTED as yet
 * A query that sees no key gives zeros and an lse of minus infinity.
 */
typedef struct hstu_flash_attention_args {
  size_t struct_size;
  hstu_tensor q, k, v, out, lse;
  hstu_tensor seq_offsets;
  hstu_mask_options mask;
  double scale;
  int64_t max_seq_len;
} hstu_flash_attention_args;
HSTU_API hstu_status hstu_flash_attention(hstu_context* context, const hstu_flash_attention_args* args,
                                          hstu_stream stream);
HSTU_TYPED_PLAN(flash_attention)

#ifdef __cplusplus
}
#endif
#endif
