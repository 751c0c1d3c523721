// Device side of tile_counter_test.cpp: blocks of threads that take tiles and count who took which.
#pragma once
#include "tile/tile_counter.cuh"

namespace hstu::check {

struct TileParams {
  TileCounter* counters;
  u32* taken;  // [tiles], counted up by who takes it
  u32 tiles;
  u32* arrived;  // [1]: counted up by each block that has a counter
  u32* spare;    // [1]: likewise, when the counter is not the one of its grid number
  u32* gate;     // or null: blocks go on when it is not zero
  u32 work;      // clock ticks a tile
};

HSTU_PRIM bool in_spare_place(const TileCounter* counters) {
  for (u32 i = 0; i < kSpareTileCounters; ++i)
    if (counters[kTileCounters + i].holder == (prim::grid_id() + 1) << 8) return true;
  return false;
}

__global__ void take_tiles(const TileParams p) {
  if (threadIdx.x != 0) return;
  tile::DynamicTileScheduler tiles(p.counters);
  tiles.claim();
  if (in_spare_place(p.counters)) atomicAdd(p.spare, 1u);
  atomicAdd(p.arrived, 1u);
  if (p.gate)
    while (*static_cast<volatile u32*>(p.gate) == 0) {}
  for (u32 tile = blockIdx.x; tile < p.tiles; tile = tiles.next_tile()) {
    atomicAdd(&p.taken[tile], 1u);
    for (const long long begin = clock64(); clock64() - begin < p.work;) {}
  }
  tiles.leave();
}

}  // namespace hstu::check
