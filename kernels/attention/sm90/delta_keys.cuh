// Where the keys and values of a sequence lie whose queries are its newest rows: in a jagged tensor, or in the pages of
// a cache and, those of targets, with the new rows; and how their blocks are fetched.
#pragma once
#include "attention/attn_split.h"
#include "attention/mask/hstu_mask.cuh"
#include "attention/mask/row_tiles.cuh"
#include "attention/paged_maps.h"
#include "attention/variant/cached_keys.cuh"
#include "tile/jagged_map.cuh"

namespace hstu::attn90 {

template <class Config>
struct JaggedKeys {
  i64 start;  // row of position 0
  int count;

  // Rows of a tile's sequence, and its key blocks one after the other.
  struct Rows {
    i64 start, key_start;
    int rows, length;

    HSTU_PRIM tile::JaggedBox queries() const { return tile::JaggedBox(start, rows); }
    template <class Plan>
    HSTU_PRIM tile::JaggedBox keys(const Plan& plan, int block) const {
      return tile::JaggedBox(key_start, plan.keys_end(block, length));
    }
  };

  JaggedKeys() = default;
  HSTU_PRIM JaggedKeys(const AttnSplitParams& p, int seq, int) {
    const auto* offsets = static_cast<const typename Config::Offset*>(p.seq_offsets);
    start = offsets[seq];
    count = static_cast<int>(offsets[seq + 1] - start);
  }
  HSTU_PRIM variant::NeighbouringKeys layout() const { return {}; }
  // first_q, queries: the sequence's rows of q.
  HSTU_PRIM Rows rows(i64 first_q, int queries) const { return {first_q, start, queries, count}; }
};

// A block of keys: pieces of pages, of which each lane that knows one loads it, or new rows, which the first lane
// loads.
template <class Config>
struct PagedBlock {
  enum : int { kPieces = Config::kBlockN / Config::kPieceRows };
  tile::JaggedBox new_rows;
  int end;  // of the keys to be seen in pages
  bool paged;
  int page_rows;         // slots from one page to the next
  int page, first_lane;  // the lane's page; whose is the first piece

  HSTU_PRIM void load(u32 dst, const PagedMaps* maps, u32 barrier, int column, int key, int head) const {
    const int lane = prim::lane_id();
    if (Config::kHasTargets && !paged) {
      if (lane == 0) new_rows.load(dst, &maps->new_rows, barrier, column, key, head);
      return;
    }
    const int piece = lane - first_lane;
    if (piece < 0 || piece >= kPieces) return;
    const int position = key + piece * Config::kPieceRows, slot = position % Config::kPageSize;
    const int seen = variant::min_int(variant::max_int(end - (position - slot), 0), Config::kPageSize);
    const tile::JaggedBox rows(i64{page_rows} * page, seen);
    rows.load(dst + piece * Config::kPieceRows * 128, &maps->pages, barrier, column, slot, head);
  }
};

template <class Config>
struct PagedKeys : variant::CachedPages<Config> {
  using Pages = variant::CachedPages<Config>;
  int page_rows;  // slots from one page to the next

  // Each lane of a warp has a piece of one of kAtOnce blocks, and looks up its page while the pieces of as many blocks
  // before are fetched. (Where one lane fetches all of them, and is told their pages copy by copy, 64 slots a page are
  // 8 % slower.)
  class Rows {
   public:
    HSTU_PRIM Rows(const PagedKeys& keys, i64 start, int queries)
        : pages_(keys), start_(start), queries_(queries), page_rows_(keys.page_rows), page_(0), next_page_(0) {}

    HSTU_PRIM tile::JaggedBox queries() const { return tile::JaggedBox(start_, queries_); }
    // Of the blocks one after the other.
    template <class Plan>
    HSTU_PRIM PagedBlock<Config> keys(const Plan& plan, int block) {
      const int at = block % kAtOnce;
      if (at == 0) {
        page_ = block == 0 ? look_up(plan, 0) : next_page_;
        next_page_ = look_up(plan, block + kAtOnce);
      }
      // Of the new rows, the last keys, position 0 would be this far before them.
      return {tile::JaggedBox(start_ + queries_ - pages_.count, pages_.count),
              variant::min_int(plan.keys_end(block, pages_.count), pages_.cached),
              !plan.is_upper(block),
              page_rows_,
              page_,
              at * kPieces};
    }

   private:
    enum : int { kPieces = PagedBlock<Config>::kPieces, kAtOnce = 32 / kPieces };

    template <class Plan>
    HSTU_PRIM int look_up(const Plan& plan, int first) const {
      const int lane = prim::lane_id(), block = first + lane / kPieces;
      if (lane >= kAtOnce * kPieces || block >= plan.blocks) return 0;
      return pages_.page_of(plan.key_begin(block) + lane % kPieces * Config::kPieceRows);
    }

    const Pages pages_;
    const i64 start_;
    const int queries_, page_rows_;
    int page_, next_page_;
  };

  // Pieces of a block do not straddle pages.
  struct Layout {
    enum : int { kAlign = Config::kPieceRows };
    enum : bool { kApart = true };
    int cached;
  };

  PagedKeys() = default;
  HSTU_PRIM PagedKeys(const AttnSplitParams& p, int seq, int queries)
      : Pages(p, seq, queries), page_rows(p.page_rows) {}
  HSTU_PRIM Layout layout() const { return {Pages::cached}; }
  HSTU_PRIM Rows rows(i64 first_q, int queries) const { return Rows(*this, first_q, queries); }
};

template <class Config, bool kPaged>
struct DeltaKeysOf {
  using Type = JaggedKeys<Config>;
};
template <class Config>
struct DeltaKeysOf<Config, true> {
  using Type = PagedKeys<Config>;
};
template <class Config>
using DeltaKeys = typename DeltaKeysOf<Config, (Config::kPageSize > 0)>::Type;

}  // namespace hstu::attn90
