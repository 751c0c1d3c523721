// Where the keys and values of a sequence lie when its queries are only its newest rows: jagged like the sequence
// itself, or a history in pages of a cache with new rows, jagged like the queries, behind it.
//
// Config: Element, Offset; kPageSize (0: jagged), and when paged Page, Target, kHasTargets. A paged history includes
// the new rows that are not targets; of k and v only the targets are read.
#pragma once
#include "prim/types.cuh"

namespace hstu::variant {

template <class Config>
struct CachedKeys;

// The rows of K or V of one head; position p is at the pointer at() returns.
template <class Config>
struct RowsOf {
  using Element = typename Config::Element;
  const Element* rows;  // of position 0; paged: that the position 0 would have among the new rows
  i64 row_stride;
  const Element* cache;
  i64 page_stride, slot_stride;

  // page: what keys.page_of(position) says.
  HSTU_PRIM const Element* at(const CachedKeys<Config>& keys, int position, int page) const {
    if constexpr (Config::kPageSize > 0) {
      if (position < keys.cached) return cache + page * page_stride + position % Config::kPageSize * slot_stride;
    }
    return rows + position * row_stride;
  }
};

// The pages of a sequence.
template <class Config>
struct CachedPages {
  using Page = typename Config::Page;
  const Page* page_ids;  // of the sequence; null: it has one page
  int first_page;
  int count;   // keys of the sequence
  int cached;  // those in pages

  CachedPages() = default;
  // queries: the sequence's rows of q.
  template <class Params>
  HSTU_PRIM CachedPages(const Params& p, int seq, int queries) : page_ids(nullptr), first_page(seq) {
    i64 pages = 1;
    if (p.page_offsets) {
      const auto* offsets = static_cast<const Page*>(p.page_offsets);
      const i64 first = offsets[seq];
      pages = offsets[seq + 1] - first;
      page_ids = static_cast<const Page*>(p.page_ids) + first;
    }
    const auto last = static_cast<i64>(static_cast<const Page*>(p.last_page_lens)[seq]);
    cached = pages > 0 ? static_cast<int>((pages - 1) * Config::kPageSize + last) : 0;
    int targets = 0;
    if constexpr (Config::kHasTargets) {
      const auto given = static_cast<const typename Config::Target*>(p.num_targets)[seq];
      targets = given < queries ? static_cast<int>(given > 0 ? given : 0) : queries;
    }
    count = cached + targets;
  }

  // The page of the cache that holds a position; of those behind the history anything.
  HSTU_PRIM int page_of(int position) const {
    if (position >= cached) return 0;
    return page_ids ? static_cast<int>(page_ids[position / Config::kPageSize]) : first_page;
  }
};

template <class Config>
struct CachedKeys : CachedPages<Config> {
  using Element = typename Config::Element;
  using Pages = CachedPages<Config>;
  using Pages::cached, Pages::count;
  RowsOf<Config> k, v;

  CachedKeys() = default;
  // head: of k and v; first_q, queries: the sequence's rows of q.
  template <class Params>
  HSTU_PRIM CachedKeys(const Params& p, int seq, int head, i64 first_q, int queries) {
    i64 row_of_zero;
    if constexpr (Config::kPageSize > 0) {
      static_cast<Pages&>(*this) = Pages(p, seq, queries);
      row_of_zero = first_q + queries - count;
    } else {
      const auto* offsets = static_cast<const typename Config::Offset*>(p.seq_offsets);
      row_of_zero = offsets[seq];
      count = static_cast<int>(offsets[seq + 1] - row_of_zero);
      cached = 0;
    }
    k.rows = static_cast<const Element*>(p.k) + row_of_zero * p.k_row_stride + head * p.k_head_stride;
    v.rows = static_cast<const Element*>(p.v) + row_of_zero * p.v_row_stride + head * p.v_head_stride;
    k.row_stride = p.k_row_stride, v.row_stride = p.v_row_stride;
    if constexpr (Config::kPageSize > 0) {
      k.cache = static_cast<const Element*>(p.k_cache) + head * p.k_cache_head_stride;
      v.cache = static_cast<const Element*>(p.v_cache) + head * p.v_cache_head_stride;
      k.page_stride = p.k_page_stride, k.slot_stride = p.k_slot_stride;
      v.page_stride = p.v_page_stride, v.slot_stride = p.v_slot_stride;
    }
  }
};

}  // namespace hstu::variant
