/**
 * Copies of jagged tensors, and products with them. A jagged tensor is a matrix whose rows are those of all sequences,
 * one sequence behind another; offsets [batch + 1] (i32 or i64, from 0, not decreasing) say where each begins.
 * What all operators have in common stands in hstujit.h.
 *
 * Copies move bits unchanged, of any element type. Types that hstu_dtype lacks go by their size: 8 bits as U8, 16 as
 * I16. Tensors of one call may have offsets or lengths of different integer types. Rows behind the last sequence are
 * neither read nor written.
 */
#ifndef HSTUJIT_JAGGED_H
#define HSTUJIT_JAGGED_H

#include <hstujit/base.h>
#include <hstujit/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Concatenates two jagged tensors sequence by sequence. Sequence b of out, of a rows of left and c rows of right:
 *
 *   right[0 : p] | left[0 : a] | right[p : c]        p = min(n_prefix_from_right, c)
 *
 * With is_replace, out has left's rows instead, and the last c rows of each sequence are right's; where right has more
 * rows than left, the last a of right.
 *
 * left, right            [total, dim], or [batch, rows, dim] for a dense part; same dtype, any; last stride 1, other
 *                        strides free
 * offsets_left, _right   [batch + 1] i32 or i64; absent: the part is dense, every sequence has as many rows
 * max_len_left, _right   rows per sequence of a dense part; may be 0 for a part of rank 3; not read for jagged parts
 * out                    [rows of left + rows of right, dim], with is_replace [rows of left, dim]; dtype of left
 * n_prefix_from_right    rows of right that come first; 0 with is_replace
 * is_replace             0 or 1
 *
 * The batch comes from the offsets; of two dense parts, from left's rows and max_len_left (or its first extent).
 * hstu_concat_l2_embeddings of upstream is this call with left = prefix, right = l2 and n_prefix_from_right = the
 * contextual length. Source: meta-recsys/generative-recommenders, concat_2D_jagged.
 */
typedef struct hstu_concat_2d_jagged_args {
  size_t struct_size;
  hstu_tensor left, right, offsets_left, offsets_right, out;
  int64_t max_len_left, max_len_right;
  int64_t n_prefix_from_right;
  int64_t is_replace;
} hstu_concat_2d_jagged_args;
HSTU_API hstu_status hstu_concat_2d_jagged(hstu_context* context, const hstu_concat_2d_jagged_args* args,
                                           hstu_stream stream);
HSTU_TYPED_PLAN(concat_2d_jagged)

/**
 * The inverse of hstu_concat_2d_jagged: gives each row of a combined jagged tensor back to the part it came from.
 *
 * values                 [rows of left + rows of right, dim], any dtype; row stride free
 * left, right            [total, dim], or [batch, rows, dim] for a dense part; dtype of values; last stride 1, other
 *                        strides free
 * offsets_left, _right   [batch + 1] i32 or i64; absent (one of them at most): that part is dense
 * max_len_left, _right   rows per sequence of a dense part; may be 0 for a part of rank 3
 * n_prefix_to_right      rows at the beginning of a sequence that belong to right, where right has so many
 *
 * hstu_split_l2_embeddings of upstream is this call with left = prefix and right = l2.
 * Source: meta-recsys/generative-recommenders, split_2D_jagged.
 */
typedef struct hstu_split_2d_jagged_args {
  size_t struct_size;
  hstu_tensor values, left, right, offsets_left, offsets_right;
  int64_t max_len_left, max_len_right;
  int64_t n_prefix_to_right;
} hstu_split_2d_jagged_args;
HSTU_API hstu_status hstu_split_2d_jagged(hstu_context* context, const hstu_split_2d_jagged_args* args,
                                          hstu_stream stream);
HSTU_TYPED_PLAN(split_2d_jagged)

/**
 * Adds a row of its own to all rows of a sequence: out[r] = jagged[r] + dense[b] for r in sequence b, in f32.
 *
 * jagged, out  [total, dim] f32 or 16-bit, same dtype; row stride free; out may be jagged itself
 * dense        [batch, dim] f32 or 16-bit; row stride free
 * seq_offsets  [batch + 1] i32 or i64
 * Source: meta-recsys/generative-recommenders, jagged_dense_broadcast_add.
 */
typedef struct hstu_jagged_dense_broadcast_add_args {
  size_t struct_size;
  hstu_tensor jagged, dense, seq_offsets, out;
} hstu_jagged_dense_broadcast_add_args;
HSTU_API hstu_status hstu_jagged_dense_broadcast_add(hstu_context* context,
                                                     const hstu_jagged_dense_broadcast_add_args* args,
                                                     hstu_stream stream);
HSTU_TYPED_PLAN(jagged_dense_broadcast_add)

/**
 * Multiplies each sequence's rows with a matrix of its own and adds a bias: out[r] = jagged[r] dense[b] + bias for r in
 * sequence b, accumulated and biased in f32, rounded once.
 *
 * jagged       [total, k] f32 or 16-bit, last stride 1; f32 products are exact to about 2^-22
 * dense        [batch, k, n] same dtype, any strides: (any, s, 1), and (any, 1, s) for matrices stored [n, k], are read
 *              fast, others element by element
 * bias         absent; or [batch, n], a row per sequence (f32 or 16-bit); or, with elementwise, [total, n] in jagged's
 *              dtype
 * seq_offsets  [batch + 1] i32 or i64
 * out          [total, n] jagged's dtype
 * elementwise  1: the bias has a row for each row of jagged
 * Source: meta-recsys/generative-recommenders, jagged_dense_bmm_broadcast_add.
 */
typedef struct hstu_jagged_dense_bmm_broadcast_add_args {
  size_t struct_size;
  hstu_tensor jagged, dense, bias, seq_offsets, out;
  int64_t elementwise;
} hstu_jagged_dense_bmm_broadcast_add_args;
HSTU_API hstu_status hstu_jagged_dense_bmm_broadcast_add(hstu_context* context,
                                                         const hstu_jagged_dense_bmm_broadcast_add_args* args,
                                                         hstu_stream stream);
HSTU_TYPED_PLAN(jagged_dense_bmm_broadcast_add)

/**
 * Adds up each sequence's rows: out[b] = sum of jagged[r] for r in sequence b, in f32, 0 for a sequence without rows.
 * The gradient of hstu_jagged_dense_broadcast_add with respect to dense is this operator on the gradient of out.
 *
 * jagged       [total, dim] f32 or 16-bit; row stride free
 * seq_offsets  [batch + 1] i32 or i64
 * out          [batch, dim] dtype of jagged, or f32; row stride free
 * Source: meta-recsys/generative-recommenders, jagged_reduce_sum.
 */
typedef struct hstu_jagged_reduce_sum_args {
  size_t struct_size;
  hstu_tensor jagged, seq_offsets, out;
} hstu_jagged_reduce_sum_args;
HSTU_API hstu_status hstu_jagged_reduce_sum(hstu_context* context, const hstu_jagged_reduce_sum_args* args,
                                            hstu_stream stream);
HSTU_TYPED_PLAN(jagged_reduce_sum)

/**
 * Lays each sequence out in a matrix of its own: out[b, t] = row t of sequence b, and rows of `padding` behind its
 * last. Rows from max_len on are cut.
 *
 * values   [total, dim] any dtype; row stride free
 * offsets  [batch + 1] i32 or i64
 * out      [batch, max_len, dim] dtype of values; strides of batch and row free
 * padding  rounded to the element type once, so exact in i32; beyond an integer type its nearest end, and 0 for NaN
 * Source: FBGEMM, jagged_to_padded_dense.
 */
typedef struct hstu_jagged_to_padded_dense_args {
  size_t struct_size;
  hstu_tensor values, offsets, out;
  double padding;
} hstu_jagged_to_padded_dense_args;
HSTU_API hstu_status hstu_jagged_to_padded_dense(hstu_context* context, const hstu_jagged_to_padded_dense_args* args,
                                                 hstu_stream stream);
HSTU_TYPED_PLAN(jagged_to_padded_dense)

/**
 * The inverse of hstu_jagged_to_padded_dense: row t of sequence b is dense[b, t], 0 from t = max_len on.
 *
 * dense    [batch, max_len, dim] any dtype; strides of batch and row free
 * offsets  [batch + 1] i32 or i64
 * out      [total, dim] dtype of dense; row stride free; rows behind the last sequence are left untouched
 * Source: FBGEMM, dense_to_jagged.
 */
typedef struct hstu_dense_to_jagged_args {
  size_t struct_size;
  hstu_tensor dense, offsets, out;
} hstu_dense_to_jagged_args;
HSTU_API hstu_status hstu_dense_to_jagged(hstu_context* context, const hstu_dense_to_jagged_args* args,
                                          hstu_stream stream);
HSTU_TYPED_PLAN(dense_to_jagged)

/**
 * Drops the oldest history of sequences [contextual rows | history | targets]: the last `keep` history rows stay, and
 * all the others do. One launch, in which every block adds the new lengths up for itself: meant for batches of up to
 * some ten thousand.
 *
 * values              [total] or [total, dim] any dtype; row stride free
 * seq_offsets         [batch + 1] i32 or i64
 * num_targets         absent or [batch] i32 or i64: rows at the end of each sequence that are not history; more than
 *                     its rows are all of them
 * out                 values' rank, dim and dtype; at least as many rows as stay (no more than values has are ever
 *                     needed); rows behind those are left untouched
 * out_offsets         [batch + 1] seq_offsets' dtype: where the sequences of out begin
 * contextual_seq_len  rows at the beginning of each sequence that are not history
 * keep                history rows that stay
 * Source: alibaba/TorchEasyRec, jagged_truncate_history.
 */
typedef struct hstu_jagged_truncate_history_args {
  size_t struct_size;
  hstu_tensor values, seq_offsets, num_targets, out, out_offsets;
  int64_t contextual_seq_len, keep;
} hstu_jagged_truncate_history_args;
HSTU_API hstu_status hstu_jagged_truncate_history(hstu_context* context, const hstu_jagged_truncate_history_args* args,
                                                  hstu_stream stream);
HSTU_TYPED_PLAN(jagged_truncate_history)

/*
 * Sorting in one launch without a workspace, meant for batches and indices. Up to 512 elements are sorted by rank: each
 * one counts how many go before it. Of more elements each block reads all keys and sorts a range of them. The work
 * still grows with the square of n, but a million pairs take less than a millisecond on a large GPU.
 */

/**
 * Sorts pairs by their keys; equal keys keep their order.
 *
 * keys, out_keys      [n] i32 or i64, signed
 * values, out_values  [n] same dtype, any
 * end_bit             only the low so many bits of keys are compared, as unsigned numbers (0: all, signed)
 * descending          0 or 1
 * Source: meta-recsys/generative-recommenders, sort_kv_pairs.
 */
typedef struct hstu_sort_kv_pairs_args {
  size_t struct_size;
  hstu_tensor keys, values, out_keys, out_values;
  int32_t end_bit;
  int32_t descending;
} hstu_sort_kv_pairs_args;
HSTU_API hstu_status hstu_sort_kv_pairs(hstu_context* context, const hstu_sort_kv_pairs_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(sort_kv_pairs)

/**
 * The numbers of the sequences, the longest first; equally long ones keep their order.
 *
 * offsets  [batch + 1] i32 or i64
 * out      [batch] i32 or i64
 * Source: meta-recsys/generative-recommenders, the scheduling of hstu_mha with sort_by_length.
 */
typedef struct hstu_sort_by_length_args {
  size_t struct_size;
  hstu_tensor offsets, out;
} hstu_sort_by_length_args;
HSTU_API hstu_status hstu_sort_by_length(hstu_context* context, const hstu_sort_by_length_args* args,
                                         hstu_stream stream);
HSTU_TYPED_PLAN(sort_by_length)

/*
 * Vectors of sequences, given their lengths [batch] (i32 or i64, not negative) rather than offsets. These calls are one
 * launch each, in which every block adds the lengths up for itself: meant for batches of up to some ten thousand.
 */

/**
 * Prefix sums from 0: out[0] = 0, out[i + 1] = values[0] + ... + values[i].
 *
 * values  [n] i32, i64 or f32; contiguous. f32 is added up in double precision.
 * out     [n + 1] dtype of values, or i64 for i32 values; sums wrap in that type
 * Source: meta-recsys/generative-recommenders, complete_cumsum.
 */
typedef struct hstu_complete_cumsum_args {
  size_t struct_size;
  hstu_tensor values, out;
} hstu_complete_cumsum_args;
HSTU_API hstu_status hstu_complete_cumsum(hstu_context* context, const hstu_complete_cumsum_args* args,
                                          hstu_stream stream);
HSTU_TYPED_PLAN(complete_cumsum)

/**
 * Concatenates two jagged vectors sequence by sequence: left's elements, then right's.
 *
 * lengths_left, lengths_right  [batch] i32 or i64; they add up to the elements of left and of right
 * left, right, out             [total], [total], [sum of both]; same dtype, any
 * Source: meta-recsys/generative-recommenders, concat_1d_jagged_jagged.
 */
typedef struct hstu_concat_1d_jagged_args {
  size_t struct_size;
  hstu_tensor lengths_left, left, lengths_right, right, out;
} hstu_concat_1d_jagged_args;
HSTU_API hstu_status hstu_concat_1d_jagged(hstu_context* context, const hstu_concat_1d_jagged_args* args,
                                           hstu_stream stream);
HSTU_TYPED_PLAN(concat_1d_jagged)

/**
 * The inverse of hstu_concat_1d_jagged.
 *
 * lengths_left, lengths_right  [batch] i32 or i64; they add up to the elements of left and of right
 * values, left, right          [sum of both], [total], [total]; same dtype, any
 * Source: meta-recsys/generative-recommenders, split_1d_jagged_jagged.
 */
typedef struct hstu_split_1d_jagged_args {
  size_t struct_size;
  hstu_tensor lengths_left, lengths_right, values, left, right;
} hstu_split_1d_jagged_args;
HSTU_API hstu_status hstu_split_1d_jagged(hstu_context* context, const hstu_split_1d_jagged_args* args,
                                          hstu_stream stream);
HSTU_TYPED_PLAN(split_1d_jagged)

/**
 * Each sequence once without its first element and once without its last: the answers and the inputs of a model that
 * predicts the next item. Every sequence must have an element.
 *
 * lengths                      [batch] i32 or i64, at least 1 each, adding up to total. "cpu" refuses others; a GPU
 *                              does not look: with an empty sequence the values written are unspecified, but none lies
 *                              outside of the outputs
 * values                       [total] any dtype
 * without_first, without_last  [total - batch] dtype of values
 * Source: meta-recsys/generative-recommenders, jagged_remove_first_or_last_1D.
 */
typedef struct hstu_jagged_remove_first_or_last_1d_args {
  size_t struct_size;
  hstu_tensor lengths, values, without_first, without_last;
} hstu_jagged_remove_first_or_last_1d_args;
HSTU_API hstu_status hstu_jagged_remove_first_or_last_1d(hstu_context* context,
                                                         const hstu_jagged_remove_first_or_last_1d_args* args,
                                                         hstu_stream stream);
HSTU_TYPED_PLAN(jagged_remove_first_or_last_1d)

/**
 * Lays each sequence out in a row of its own: out[b, t] = values[offsets[b] + min(t, n - 1)] for a sequence of n
 * elements, 0 for one without any. Longer sequences are cut.
 *
 * values   [total] any dtype
 * offsets  [batch + 1] i32 or i64
 * out      [batch, max_len] dtype of values; row stride free
 * Source: meta-recsys/generative-recommenders, expand_1d_jagged_to_dense.
 */
typedef struct hstu_expand_1d_jagged_to_dense_args {
  size_t struct_size;
  hstu_tensor values, offsets, out;
} hstu_expand_1d_jagged_to_dense_args;
HSTU_API hstu_status hstu_expand_1d_jagged_to_dense(hstu_context* context,
                                                    const hstu_expand_1d_jagged_to_dense_args* args,
                                                    hstu_stream stream);
HSTU_TYPED_PLAN(expand_1d_jagged_to_dense)

/**
 * Replaces the last rows of each of left's sequences by right's; where right has more rows, by its last ones.
 * hstu_concat_2d_jagged with is_replace does the same from offsets, faster for long rows.
 *
 * lengths_left, lengths_right  [batch] i32 or i64; they add up to the rows of left and of right
 * left, right, out             [total, dim], out as left; same dtype, any; row strides free
 * Source: meta-recsys/generative-recommenders, replace_last_n_with_jagged.
 */
typedef struct hstu_replace_last_n_with_jagged_args {
  size_t struct_size;
  hstu_tensor lengths_left, left, lengths_right, right, out;
} hstu_replace_last_n_with_jagged_args;
HSTU_API hstu_status hstu_replace_last_n_with_jagged(hstu_context* context,
                                                     const hstu_replace_last_n_with_jagged_args* args,
                                                     hstu_stream stream);
HSTU_TYPED_PLAN(replace_last_n_with_jagged)

/**
 * Transposes a matrix of segments: segment i * columns + j of values becomes segment j * rows + i of out.
 *
 * values, out           [total] same dtype, any
 * offsets               [rows * columns + 1] i32 or i64: where segments begin
 * lengths               absent, or [rows * columns] i32 or i64: their elements, which are the differences of offsets
 * out_offsets           absent, or [rows * columns + 1] offsets' dtype, written: where they begin in out
 * out_lengths           absent, or [rows * columns] i32 or i64, lengths' dtype if those are there, written: their
 *                       elements in out's order
 * rows, columns         of the matrix of segments
 * Source: meta-recsys/generative-recommenders, jagged_transpose_1d.
 */
typedef struct hstu_jagged_transpose_1d_args {
  size_t struct_size;
  hstu_tensor values, offsets, lengths, out, out_offsets, out_lengths;
  int64_t rows, columns;
} hstu_jagged_transpose_1d_args;
HSTU_API hstu_status hstu_jagged_transpose_1d(hstu_context* context, const hstu_jagged_transpose_1d_args* args,
                                              hstu_stream stream);
HSTU_TYPED_PLAN(jagged_transpose_1d)

#ifdef __cplusplus
}
#endif
#endif
