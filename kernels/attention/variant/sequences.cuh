// Where the rows of a sequence lie, for the attention kernels (Config::Sequences): positions count from the sequence's
// first key, and queries are the positions [first_query(), last_query()).
#pragma once
#include "attention/attn_fwd.h"
#include "attention/variant/kv_heads.cuh"
#include "prim/types.cuh"

namespace hstu::variant {

// Jagged tensors in which every row is query, key and value.
template <class Config>
struct JaggedSequences {
  using Element = typename Config::Element;
  i64 row;  // of position 0 in all tensors
  int keys;

  JaggedSequences() = default;
  HSTU_PRIM JaggedSequences(const AttnFwdParams& p, u32 seq) {
    const auto* offsets = static_cast<const typename Config::Offset*>(p.seq_offsets);
    row = offsets[seq];
    keys = static_cast<int>(offsets[seq + 1] - row);
  }
  HSTU_PRIM JaggedSequences(const AttnFwdParams& p, u32 seq, int)
      : JaggedSequences(p, seq) {}  // the same for all heads
  HSTU_PRIM static constexpr int first_query() { return 0; }
  HSTU_PRIM int last_query() const { return keys; }
  HSTU_PRIM int key_count() const { return keys; }

  // The query at `position` as a row of tensors with a value a query (attn_scale).
  HSTU_PRIM i64 query_row(int position) const { return row + position; }

  // Element 0 of a head at a position, which may lie outside the sequence (and then is not to be read).
  HSTU_PRIM const Element* q(const AttnFwdParams& p, int head, int position) const {
    return static_cast<const Element*>(p.q) + (row + position) * p.q_row_stride + head * p.q_head_stride;
  }
  HSTU_PRIM const Element* k(const AttnFwdParams& p, int head, int position) const {
    return static_cast<const Element*>(p.k) + (row + position) * p.k_row_stride +
           kv_head_of<Config>(head) * p.k_head_stride;
  }
  HSTU_PRIM const Element* v(const AttnFwdParams& p, int head, int position) const {
    return static_cast<const Element*>(p.v) + (row + position) * p.v_row_stride +
           kv_head_of<Config>(head) * p.v_head_stride;
  }
  HSTU_PRIM Element* out(const AttnFwdParams& p, int head, int position) const {
    return static_cast<Element*>(p.out) + (row + position) * p.out_row_stride + head * p.out_head_stride;
  }
  HSTU_PRIM float* lse(const AttnFwdParams& p, int head, int position) const {
    return p.lse + (query_row(position) * p.lse_row_stride + head * p.lse_head_stride);
  }
};

// Dense tensors with p.queries queries and p.keys keys in every sequence. Under a causal mask the last query stands at
// the last key, so with more queries than keys the first positions are negative and see nothing.
template <class Config>
struct DenseSequences {
  using Element = typename Config::Element;
  int seq, first, last, keys;

  DenseSequences() = default;
  HSTU_PRIM DenseSequences(const AttnFwdParams& p, u32 sequence)
      : seq(sequence), first(Config::kCausal ? p.keys - p.queries : 0), last(first + p.queries), keys(p.keys) {}
  HSTU_PRIM DenseSequences(const AttnFwdParams& p, u32 sequence, int) : DenseSequences(p, sequence) {}
  HSTU_PRIM int first_query() const { return first; }
  HSTU_PRIM int last_query() const { return last; }
  HSTU_PRIM int key_count() const { return keys; }
  HSTU_PRIM i64 query_row(int position) const { return position - first; }

  HSTU_PRIM const Element* q(const AttnFwdParams& p, int head, int position) const {
    return static_cast<const Element*>(p.q) + seq * p.q_batch_stride + query_row(position) * p.q_row_stride +
           head * p.q_head_stride;
  }
  HSTU_PRIM const Element* k(const AttnFwdParams& p, int head, int position) const {
    return static_cast<const Element*>(p.k) + seq * p.k_batch_stride + position * p.k_row_stride +
           head * p.k_head_stride;
  }
  HSTU_PRIM const Element* v(const AttnFwdParams& p, int head, int position) const {
    return static_cast<const Element*>(p.v) + seq * p.v_batch_stride + position * p.v_row_stride +
           head * p.v_head_stride;
  }
  HSTU_PRIM Element* out(const AttnFwdParams& p, int head, int position) const {
    return static_cast<Element*>(p.out) + seq * p.out_batch_stride + query_row(position) * p.out_row_stride +
           head * p.out_head_stride;
  }
  HSTU_PRIM float* lse(const AttnFwdParams& p, int head, int position) const {
    return p.lse + (seq * p.lse_batch_stride + query_row(position) * p.lse_row_stride + head * p.lse_head_stride);
  }
};

}  // namespace hstu::variant
