/**
 * Position and time embeddings of jagged tensors: rows of small tables added to the rows of all sequences.
 * What all operators have in common stands in hstujit.h. Numbers that fall outside a table count as its first or last
 * row; rows behind the last sequence are not written.
 */
#ifndef HSTUJIT_POSITION_H
#define HSTUJIT_POSITION_H

#include <hstujit/base.h>
#include <hstujit/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Adds an embedding of each row's position in its sequence: out = alpha * x + position_embeddings[min(i, h)] for row i
 * of a sequence of n rows, where h = min(n - targets, positions - 1), at least 0: history counts from 0, targets share
 * the number behind it.
 *
 * x, out               [total, dim] f32 or 16-bit, same dtype; row stride free; out may be x itself
 * position_embeddings  [positions, dim] f32 or 16-bit; row stride free; at least one row unless total is 0
 * seq_offsets          [batch + 1] i32 or i64
 * num_targets          absent or [batch] i32 or i64: how many of the last rows are targets; more than there are mean
 *                      all
 * alpha                factor of x; 0 means 1; HSTU_EXACT_ZERO: 0
 * interleave_targets   1: each target has a second row, its action, so 2 num_targets rows are targets
 * Source: alibaba/TorchEasyRec, add_positional_embeddings.
 */
typedef struct hstu_add_positional_embeddings_args {
  size_t struct_size;
  hstu_tensor x, position_embeddings, seq_offsets, num_targets, out;
  float alpha;
  int32_t interleave_targets;
} hstu_add_positional_embeddings_args;
HSTU_API hstu_status hstu_add_positional_embeddings(hstu_context* context,
                                                    const hstu_add_positional_embeddings_args* args,
                                                    hstu_stream stream);
HSTU_TYPED_PLAN(add_positional_embeddings)

/** How an age becomes a bucket, truncated to whole numbers; age is at least 1e-6 seconds. */
typedef enum hstu_time_bucket_fn {
  HSTU_TIME_BUCKET_SQRT = 0, /* sqrt(age / increments) */
  HSTU_TIME_BUCKET_LOG = 1   /* ln(age / increments) */
} hstu_time_bucket_fn;

/**
 * Adds embeddings of each row's position, counted back from the newest row of history, and of its age:
 * out = alpha * x + position_embeddings[p] + timestamp_embeddings[t], in f32, rounded once. Row i of a sequence with h
 * rows before its targets, C = max_contextual_seq_len:
 *
 *   p = i < C ? i : h - min(i, h) + C        targets get C, the newest row of history C + 1
 *   t = bucket(query time - timestamps[i])
 *
 * x, out                  [total, dim] f32 or 16-bit, same dtype; row stride free; out may be x itself
 * position_embeddings     [positions, dim], timestamp_embeddings [buckets, dim]: f32 or 16-bit, both the same; row
 *                         strides free; at least one row each unless total is 0
 * seq_offsets             [batch + 1] i32 or i64
 * timestamps              [total] i64, seconds, any; differences are taken before they become floats, and are exact
 * num_targets             absent or [batch] i32 or i64: how many of the last rows are targets; more than there are mean
 *                         all
 * query_time              absent or [batch] i64, seconds; absent: the time of each sequence's last row
 * alpha                   factor of x; 0 means 1; HSTU_EXACT_ZERO: 0
 * time_bucket_increments  seconds, positive; 0 means 60
 * time_bucket_fn          SQRT or LOG
 * max_contextual_seq_len  rows at the beginning of each sequence whose positions count from 0
 * interleave_targets      1: each target has a second row, its action, so 2 num_targets rows are targets
 * Source: meta-recsys/generative-recommenders, add_timestamp_positional_embeddings; the bucket is limited by the rows
 * of its table, as in the Triton kernel there (the PyTorch form takes the embedding's width).
 */
typedef struct hstu_add_timestamp_positional_embeddings_args {
  size_t struct_size;
  hstu_tensor x, position_embeddings, timestamp_embeddings;
  hstu_tensor seq_offsets, timestamps, num_targets, query_time;
  hstu_tensor out;
  float alpha, time_bucket_increments;
  hstu_time_bucket_fn time_bucket_fn;
  int32_t interleave_targets;
  int64_t max_contextual_seq_len;
} hstu_add_timestamp_positional_embeddings_args;
HSTU_API hstu_status hstu_add_timestamp_positional_embeddings(hstu_context* context,
                                                              const hstu_add_timestamp_positional_embeddings_args* args,
                                                              hstu_stream stream);
HSTU_TYPED_PLAN(add_timestamp_positional_embeddings)

#ifdef __cplusplus
}
#endif
#endif
