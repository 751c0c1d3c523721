// Shared memory of the sm_90 attention kernels: tiles of Q, K, V and O, the barriers between the roles, and the tiles'
// descriptions. Tile: a kernel's description of a tile; schedule.cuh and load.cuh say what it must have.
#pragma once
#include "attention/sm90/shape.cuh"
#include "attention/variant/scale_blocks.cuh"
#include "prim/mbarrier.cuh"
#include "tile/tma_ring.cuh"

namespace hstu::attn90 {

using tile::PipelineState;

// Released by a thread of each warpgroup; where factors of scores lie beside the keys, by the lane of each warp that
// reads them.
template <class Config>
using KeyRing = tile::TmaRing<Config::kStages, (variant::block_scales<Config>(0) ? 4 : 1) * Config::kConsumers>;

// Values that are to be transposed are released by those who do it.
template <class Config>
using ValueRing =
    tile::TmaRing<Config::kStages, Shape<Config>::kTransposesV ? Shape<Config>::kTransposers : Config::kConsumers>;

// How many lanes of a warp write a tile's description. Each hands over what it wrote, and all lanes that read it
// release it; one for all of them behind __syncwarp() would do, but that is a chain which racecheck does not follow.
template <class Tile>
HSTU_PRIM constexpr auto writers(int) -> decltype(Tile::kWriters + 0) {
  return Tile::kWriters;
}
template <class Tile>
HSTU_PRIM constexpr int writers(long) {
  return 1;
}

// Of the tile under way and the next: more would leave other blocks of threads without work at the end.
enum : int { kTileSlots = 2 };

template <class Config, class Tile>
struct Storage {
  alignas(1024) unsigned char tiles[Shape<Config>::kTileBytes];
  u64 tile_full[kTileSlots], tile_empty[kTileSlots], tile_wanted;
  u64 q_full, q_empty;
  u64 k_ring[2 * Config::kStages], v_ring[2 * Config::kStages];
  Tile tile[kTileSlots];
};
// The room behind the tiles; round numbers, so that the host can say the sum. Beyond three intervals a row descriptions
// want more.
enum : int { kExtraBytes = 1024, kRoomyIntervals = 3 };
template <int kIntervals>
constexpr int interval_bytes = kIntervals > kRoomyIntervals ? (kIntervals + 3) / 4 * 1024 : 0;
template <class Config>
constexpr int smem_bytes = Shape<Config>::kTileBytes + kExtraBytes + interval_bytes<intervals<Config>(0)>;

// By one thread; then a barrier of the block.
template <class Config, class Tile>
HSTU_PRIM void init(Storage<Config, Tile>& storage) {
  constexpr int kConsumerWarps = Config::kConsumers * 4;
  for (int i = 0; i < kTileSlots; ++i) {
    prim::mbarrier_init(prim::smem_addr(&storage.tile_full[i]), writers<Tile>(0));
    prim::mbarrier_init(prim::smem_addr(&storage.tile_empty[i]),
                        32 * (kConsumerWarps + Shape<Config>::kTransposers) + 1);
  }
  prim::mbarrier_init(prim::smem_addr(&storage.tile_wanted), 1);
  prim::mbarrier_init(prim::smem_addr(&storage.q_full), 1);
  prim::mbarrier_init(prim::smem_addr(&storage.q_empty), kConsumerWarps);
  KeyRing<Config>(prim::smem_addr(storage.k_ring)).init();
  ValueRing<Config>(prim::smem_addr(storage.v_ring)).init();
  prim::mbarrier_fence_init();
}

}  // namespace hstu::attn90
