// The warp that says which tile of query rows comes next (attention/sm90/shape.cuh).
#pragma once
#include "attention/attn_fwd.h"
#include "attention/section_order.cuh"
#include "attention/sm90/storage.cuh"
#include "tile/tile_counter.cuh"

namespace hstu::attn90 {

// A place in the order of tiles of (sequence, head) pairs. The first whole_pairs pairs are a place each, with all of
// their tiles: keys that one SM reads again and again pass from one half of the L2 cache to the other at most once.
// The others are places of one tile, row_blocks of them a pair, in the order of sections (attention/section_order.cuh).
struct TileOrder {
  u32 seq;
  int head, level;
  bool whole;

  HSTU_PRIM TileOrder(const AttnFwdParams& p, u32 index, bool first_early = false) {
    const u32 whole_pairs = p.whole_pairs;
    whole = index < whole_pairs;
    level = 0;
    u32 pair = index;
    if (!whole) {
      const tile::SectionOrder at(index - whole_pairs, p.batch * p.num_heads - whole_pairs, p.section_pairs,
                                  p.row_blocks, first_early);
      level = at.level;
      pair = whole_pairs + at.pair;
    }
    seq = pair / p.num_heads;
    head = pair - seq * p.num_heads;
  }
  HSTU_PRIM static u32 places(const AttnFwdParams& p) {
    return p.whole_pairs + (static_cast<u32>(p.batch * p.num_heads) - p.whole_pairs) * p.row_blocks;
  }
};

// The description of a tile is complete, as far as the lane wrote it.
template <class Config, class Tile>
HSTU_PRIM void publish_tile(Storage<Config, Tile>& storage, u32 stage) {
  if (prim::lane_id() < writers<Tile>(0)) prim::mbarrier_arrive(prim::smem_addr(&storage.tile_full[stage]));
}

// Describes the tiles of this block of threads one after the other, the next one when the loader asks for it: one warp.
// Place: what stands at a place of the order, Place(p, index), of Place::places(p); if it exists() it has the first_row
// of its first tile and the step to that of the next, if it has_row(), and describes the tile once there is room, with
// the plan() made before; kByWarp: all lanes describe it, plan and all. The warp looks at as many places at once as it
// has lanes, so that places behind the end of their sequence are passed over together.
template <class Place, class Config, class Tile, class Params>
HSTU_PRIM void schedule(const Params& p, TileCounter* counters, Storage<Config, Tile>& storage) {
  const u32 count = Place::places(p);
  const bool leads = prim::lane_id() == 0;
  PipelineState<kTileSlots> place;
  tile::DynamicTileScheduler scheduler(counters);
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
    const u32 exist = __ballot_sync(prim::kFullWarp, mine < count && at.exists());
    // By each lane that writes: one for all of them behind __syncwarp() would do, but racecheck does not follow that.
    const auto await_empty = [&] {
      prim::mbarrier_wait(prim::smem_addr(&storage.tile_empty[place.stage]), place.parity ^ 1);
    };
    u32 next = 0;
    if (leads || Place::kByWarp) {
      if constexpr (Place::kByWarp) at = Place(p, index);  // the first lane's
      bool more = at.exists();
#pragma unroll 1
      while (more) {
        const int next_row = at.first_row + at.step;
        if constexpr (Place::kByWarp) {
          more = at.has_row(next_row);
          if (leads) await_need();
          __syncwarp();
          await_empty();
          at.describe(p, storage.tile[place.stage]);
        } else {
          const auto plan = at.plan();
          more = at.has_row(next_row);
          await_need();
          await_empty();
          at.describe(plan, storage.tile[place.stage]);
        }
        publish_tile(storage, place.stage);
        place.advance();
        waits = true;
        if (!more) break;
        at = Place(p, index);  // made anew, for describing a tile takes the registers
        at.first_row = next_row;
      }
    }
    if (leads) {
      if (!claimed) {  // only now, for the first tile needs no counter
        claimed = true;
        scheduler.claim();
      }
      await_need();
      if ((exist & 1) == 0 && index >= gridDim.x) scheduler.skip_to(index + (exist == 0 ? 32 : __ffs(exist) - 1));
      next = scheduler.next_tile();
    }
    index = __shfl_sync(prim::kFullWarp, next, 0);
  }
  if (leads) {
    scheduler.leave();
    prim::mbarrier_wait(prim::smem_addr(&storage.tile_empty[place.stage]), place.parity ^ 1);
    storage.tile[place.stage].first_row = -1;
  }
  publish_tile(storage, place.stage);
}

// The same of the one place that a cluster of Config::kSplit blocks shares: a tile is described when nothing is left of
// the one before, of which the cluster's blocks read each other's sums.
template <class Place, class Config, class Tile, class Params>
HSTU_PRIM void describe_place(const Params& p, Storage<Config, Tile>& storage) {
  const bool leads = prim::lane_id() == 0;
  if (!leads && !Place::kByWarp) return;
  PipelineState<kTileSlots> place;
#pragma unroll 1
  for (Place at(p, blockIdx.x / Config::kSplit); at.exists(); at.first_row += at.step) {
    if constexpr (Place::kByWarp)
      at.describe(p, storage.tile[place.stage]);
    else
      at.describe(at.plan(), storage.tile[place.stage]);
    publish_tile(storage, place.stage);
    prim::mbarrier_wait(prim::smem_addr(&storage.tile_empty[place.stage]), place.parity);
    if constexpr (Place::kByWarp) __syncwarp();
    place.advance();
  }
  if (leads) storage.tile[place.stage].first_row = -1;
  publish_tile(storage, place.stage);
}

}  // namespace hstu::attn90
