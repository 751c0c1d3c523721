// Where the rows of a sequence lie, for the attention kernels (Config::Sequences): positions count from the sequence's
// first key, and queries are the positions [first_query(), last_query()).
#pragma once
#include "params/attn_fwd.h"
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
  HSTU_PRIM static constexpr int first_query() { return 0; }
  HSTU_PRIM int last_query() const { return keys; }

  // The query at `position` as a row of tensors with a value a query (attn_scale).
  HSTU_PRIM i64 query_row(int position) const { return row + position; }

  // Element 0 of a head at a position, which may lie outside the sequence (and then is not to be read).
  HSTU_PRIM const Element* q(const AttnFwdParams& p, int head, int position) const {
    return static_cast<const Element*>(p.q) + (row + position) * p.q_row_stride + head * p.q_head_stride;
  }
  HSTU_PRIM const Element* k(const AttnFwdParams& p, int head, int position) const {
    return static_cast<const Element*>(p.k) + (row + position) * p.k_row_stride + head * p.k_head_stride;
  }
  HSTU_PRIM const Element* v(const AttnFwdParams& p, int head, int position) const {
    return static_cast<const Element*>(p.v) + (row + position) * p.v_row_stride + head * p.v_head_stride;
  }
  HSTU_PRIM Element* out(const AttnFwdParams& p, int head, int position) const {
    return static_cast<Element*>(p.out) + (row + position) * p.out_row_stride + head * p.out_head_stride;
  }
};

}  // namespace hstu::variant
