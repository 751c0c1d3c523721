// Device side of tile_counter_test.cpp: blocks of threads that take tiles and count who took which.
#pragma once
#include "tile/tile_counter.cuh"

namespace hstu::check {

struct TileParams {
  u32* taken;     // [tiles], counted up by who takes it
  u32 tiles;      // 0: only look
  u32* standing;  // [1]: words of counters that are not zero, when tiles is 0
  u32* arrived;   // [1]: counted up by each block that has a counter
  u32* spare;     // [1]: likewise, when the counter is not the one of its grid number
  u32* gate;      // or null: blocks go on when it is not zero
  u32 work;       // clock ticks a tile
};

HSTU_PRIM u32 words_standing() {
  const auto* words = reinterpret_cast<const u32*>(tile::tile_counters);
  u32 count = 0;
  for (u32 i = threadIdx.x; i < sizeof(tile::tile_counters) / 4; i += blockDim.x) count += words[i] != 0;
  return count;
}

HSTU_PRIM bool in_spare_place() {
  for (u32 i = 0; i < tile::kSpareTileCounters; ++i)
    if (tile::tile_counters[tile::kTileCounters + i].holder == (prim::grid_id() + 1) << 8) return true;
  return false;
}

__global__ void take_tiles(const TileParams p) {
  if (p.tiles == 0) {
    atomicAdd(p.standing, words_standing());
    return;
  }
  if (threadIdx.x != 0) return;
  tile::TileTaker tiles;
  tiles.claim();
  if (in_spare_place()) atomicAdd(p.spare, 1u);
  atomicAdd(p.arrived, 1u);
  if (p.gate)
    while (*static_cast<volatile u32*>(p.gate) == 0) {}
  for (u32 tile = blockIdx.x; tile < p.tiles; tile = tiles.take()) {
    atomicAdd(&p.taken[tile], 1u);
    for (const long long begin = clock64(); clock64() - begin < p.work;) {}
  }
  tiles.leave();
}

}  // namespace hstu::check
