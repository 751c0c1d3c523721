// Keys and values that lie row by row at a fixed stride, on their way to the ring of an attention kernel.
#pragma once
#include "attention/attn_fwd.h"
#include "attention/sm80/attn_ring.cuh"
#include "attention/sm80/attn_tiles.cuh"

namespace hstu::tile {

// Config::Keys: starts the copies of a row block's key blocks in the order of its plan; all threads take part.
template <class Config>
struct KeyRows {
  using T = AttnFwdSm80<Config>;
  enum : bool { kLoadsQueries = false };
  typename T::KStream k;
  typename T::VStream v;
  int begin;  // first row of the block to copy that belongs to its range

  // Row: a row block with `sequence`, `head` and `plan`.
  template <class Row>
  HSTU_PRIM KeyRows(const AttnFwdParams& p, const Row& tile)
      : k(tile.sequence.k(p, tile.head, tile.plan.key_begin(0)), p.k_row_stride),
        v(tile.sequence.v(p, tile.head, tile.plan.key_begin(0)), p.v_row_stride),
        begin(tile.plan.range_begin(0) - tile.plan.key_begin(0)) {}

  // Part `part` of `parts` of the next block, number `block`, which the caller may spread. enable: there is such a
  // block.
  HSTU_PRIM void part(const AttnFwdParams& p, const AttnRing<Config>& ring, int block, bool enable, int part,
                      int parts) const {
    constexpr int kK = T::KStream::kUnits, kUnits = kK + T::VStream::kUnits;
    const int first = part * kUnits / parts, last = (part + 1) * kUnits / parts;
    const u32 stage = ring.stage(block);
    k.load(stage, p.k_row_stride, begin, enable, first, last);
    v.load(stage + T::KTile::kBytes, p.v_row_stride, begin, enable, first - kK, last - kK);
    if (last == kUnits && first < last) prim::cp_async_commit();
  }
  // After the last part: on to number `block`.
  template <class Row>
  HSTU_PRIM void move_to(const AttnFwdParams& p, const Row& tile, int block) {
    if (tile.plan.range_starts(block)) {
      const int rows = tile.plan.key_begin(block) - tile.plan.key_begin(block - 1);
      k.move(rows * p.k_row_stride);
      v.move(rows * p.v_row_stride);
      begin = tile.plan.range_begin(block) - tile.plan.key_begin(block);
    } else {
      k.move(-T::kBlockN * p.k_row_stride);
      v.move(-T::kBlockN * p.v_row_stride);
      begin += T::kBlockN;
    }
  }
};

}  // namespace hstu::tile
