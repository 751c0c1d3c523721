// The counters of tile/tile_counter.cuh, shared by host and device: kernels find them through a pointer in their
// argument struct.
#pragma once

namespace hstu {

struct TileCounter {
  unsigned long long holder;  // (grid number + 1 of its launch, or 0) << 8 | launches of this home in spare places
  unsigned next, left;        // tiles handed out behind the first gridDim.x; blocks that need no more
  unsigned lock, unused;
};
static_assert(sizeof(TileCounter) == 24, "host and device disagree about TileCounter");

enum : unsigned { kTileCounters = 1024, kSpareTileCounters = 128 };  // the spare ones lie behind the others

}  // namespace hstu
