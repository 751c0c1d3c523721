// The thread that says which tile of query rows comes next (attn90/shape.cuh).
#pragma once
#include "attn90/storage.cuh"
#include "params/attn_fwd.h"
#include "tile/tile_counter.cuh"

namespace hstu::attn90 {

// A place in the order of tiles: `pairs` (sequence, head) pairs of row_blocks tiles each, a section of pairs after the
// other and in it level by level.
struct TileOrder {
  u32 seq;
  int head, level;

  HSTU_PRIM TileOrder(const AttnFwdParams& p, u32 index) {
    const u32 pairs = p.batch * p.num_heads, section_tiles = p.section_pairs * p.row_blocks;
    const u32 section = index / section_tiles, in_section = index - section * section_tiles;
    const u32 first_pair = section * p.section_pairs;
    const u32 section_pairs = pairs - first_pair < p.section_pairs ? pairs - first_pair : p.section_pairs;
    level = in_section / section_pairs;
    const u32 pair = first_pair + (in_section - level * section_pairs);
    seq = pair / p.num_heads;
    head = pair - seq * p.num_heads;
  }
};

// Describes the tiles of this block of threads one after the other, ahead of those who work on them: one thread.
// Place: where a tile of the order stands, Place(p, index); it has first_row, the number of its sequence's rows(), and
// describes the tile once there is room, with the plan() made before.
template <class Place, class Config, class Tile>
HSTU_PRIM void schedule(const AttnFwdParams& p, TileCounter* counters, Storage<Config, Tile>& storage) {
  using T = Shape<Config>;
  const u32 count = static_cast<u32>(p.batch * p.num_heads) * p.row_blocks;
  RingPlace<kTileSlots> place;
  tile::TileTaker tiles(counters);
  bool claimed = false;
  u32 next = 0;
#pragma unroll 1
  for (Place at(p, blockIdx.x);; at = Place(p, next), next = tiles.take()) {
    // More than one round for sequences longer than the grid foresaw.
#pragma unroll 1
    for (; at.first_row < at.rows(); at.first_row += p.row_blocks * T::kBlockM) {
      const auto plan = at.plan();
      prim::mbarrier_wait(prim::smem_addr(&storage.tile_empty[place.stage]), place.parity ^ 1);
      at.describe(plan, storage.tile[place.stage]);
      prim::mbarrier_arrive(prim::smem_addr(&storage.tile_full[place.stage]));
      place.advance();
    }
    if (!claimed) {  // only now, for the first tile needs no counter
      claimed = true;
      tiles.claim();
      next = tiles.take();
    }
    if (next >= count) break;
  }
  tiles.leave();
  prim::mbarrier_wait(prim::smem_addr(&storage.tile_empty[place.stage]), place.parity ^ 1);
  storage.tile[place.stage].first_row = -1;
  prim::mbarrier_arrive(prim::smem_addr(&storage.tile_full[place.stage]));
}

}  // namespace hstu::attn90
