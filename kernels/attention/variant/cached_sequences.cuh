// Sequences whose queries are their newest rows and whose keys lie in a cache (attention/variant/cached_keys.cuh), with
// the members of attention/variant/sequences.cuh, for one head.
#pragma once
#include "attention/attn_split.h"
#include "attention/variant/cached_keys.cuh"

namespace hstu::variant {

template <class Config>
struct CachedSequences {
  using Element = typename Config::Element;
  CachedKeys<Config> cached;
  i64 row_of_zero;  // the row of q that position 0 would have
  int queries;

  CachedSequences() = default;
  HSTU_PRIM CachedSequences(const AttnSplitParams& p, int seq, int head) {
    i64 first_q = static_cast<i64>(seq) * p.delta;
    queries = p.delta;
    if constexpr (Config::kJaggedQ) {
      const auto* offsets = static_cast<const typename Config::QOffset*>(p.q_offsets);
      first_q = offsets[seq];
      queries = static_cast<int>(offsets[seq + 1] - first_q);
    }
    cached = CachedKeys<Config>(p, seq, head / p.heads_per_kv, first_q, queries);
    row_of_zero = first_q + queries - cached.count;
  }
  HSTU_PRIM int first_query() const { return cached.count - queries; }
  HSTU_PRIM int last_query() const { return cached.count; }
  HSTU_PRIM int key_count() const { return cached.count; }
  HSTU_PRIM i64 query_row(int position) const { return row_of_zero + position; }

  HSTU_PRIM const Element* q(const AttnSplitParams& p, int head, int position) const {
    return static_cast<const Element*>(p.q) + query_row(position) * p.q_row_stride + head * p.q_head_stride;
  }
  HSTU_PRIM const Element* k(const AttnSplitParams&, int, int position) const {
    return cached.k.at(cached, position, cached.page_of(position));
  }
  HSTU_PRIM const Element* v(const AttnSplitParams&, int, int position) const {
    return cached.v.at(cached, position, cached.page_of(position));
  }
  HSTU_PRIM Element* out(const AttnSplitParams& p, int head, int position) const {
    return static_cast<Element*>(p.out) + query_row(position) * p.out_row_stride + head * p.out_head_stride;
  }
};

}  // namespace hstu::variant
