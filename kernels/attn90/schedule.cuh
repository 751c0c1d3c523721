// The warp that says which tile of query rows comes next (attn90/shape.cuh).
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

// Describes the tiles of this block of threads one after the other, the next one when the loader asks for it: one warp.
// Place: where a tile of the order stands, Place(p, index); it has first_row, the number of its sequence's rows(), and
// describes the tile once there is room, with the plan() made before. The warp looks at as many places at once as it
// has lanes, so that places behind the end of their sequence are passed over together.
template <class Place, class Config, class Tile>
HSTU_PRIM void schedule(const AttnFwdParams& p, TileCounter* counters, Storage<Config, Tile>& storage) {
  using T = Shape<Config>;
  const u32 count = static_cast<u32>(p.batch * p.num_heads) * p.row_blocks;
  const bool leads = prim::lane_id() == 0;
  RingPlace<kTileSlots> place;
  tile::TileTaker tiles(counters);
  bool claimed = false, waits = false;  // waits: until the loader asks for the tile behind the one described last
  u32 wanted_parity = 0;
  const auto await_need = [&] {
    if (!waits) return;
    prim::mbarrier_wait(prim::smem_addr(&storage.tile_wanted), wanted_parity);
    wanted_parity ^= 1;
    waits = false;
  };
#pragma unroll 1
  for (u32 index = blockIdx.x; index < count;) {
    const u32 mine = index + prim::lane_id();
    Place at(p, mine < count ? mine : count - 1);
    const u32 exist = __ballot_sync(prim::kFullWarp, mine < count && at.first_row < at.rows());
    u32 next = 0;
    if (leads) {
      // More than one round for sequences longer than the grid foresaw.
#pragma unroll 1
      for (; at.first_row < at.rows(); at.first_row += p.row_blocks * T::kBlockM) {
        const auto plan = at.plan();
        await_need();
        prim::mbarrier_wait(prim::smem_addr(&storage.tile_empty[place.stage]), place.parity ^ 1);
        at.describe(plan, storage.tile[place.stage]);
        prim::mbarrier_arrive(prim::smem_addr(&storage.tile_full[place.stage]));
        place.advance();
        waits = true;
      }
      if (!claimed) {  // only now, for the first tile needs no counter
        claimed = true;
        tiles.claim();
      }
      await_need();
      if ((exist & 1) == 0 && index >= gridDim.x) tiles.pass_over(index + (exist == 0 ? 32 : __ffs(exist) - 1));
      next = tiles.take();
    }
    index = __shfl_sync(prim::kFullWarp, next, 0);
  }
  if (!leads) return;
  tiles.leave();
  prim::mbarrier_wait(prim::smem_addr(&storage.tile_empty[place.stage]), place.parity ^ 1);
  storage.tile[place.stage].first_row = -1;
  prim::mbarrier_arrive(prim::smem_addr(&storage.tile_full[place.stage]));
}

}  // namespace hstu::attn90
