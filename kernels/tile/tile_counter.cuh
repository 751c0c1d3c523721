// Hands out the tiles of one launch to its blocks of threads as they come, so that a block with short tiles takes more
// of them: tile b goes to block b first, those from gridDim.x on are taken from a counter that the launch's blocks
// share.
//
// Counters lie in the module, zero while nobody uses them. A launch knows its own by its grid number, which no other
// grid has while it runs, be it from another stream, another branch of a graph or another graph; but the replays of a
// graph have the same numbers again. So a counter belongs to a launch until each of its blocks has left it, and is then
// zero again. All blocks of a launch must find the same one, in whatever order they start and end:
//   - at home, the place of the grid number, if that was zero or is theirs already: one operation;
//   - else, under the home's lock, in a spare place; the home counts its launches that have one, and none takes a home
//     that is not zero without the lock.
// Nobody waits for a block that may not have started: locks are held for a few instructions by a thread that runs. The
// spare places are as many as grids run at once on a GPU, so one is free.
#pragma once
#include "prim/lanes.cuh"
#include "prim/memory.cuh"

namespace hstu::tile {

struct TileCounter {
  u64 holder;      // (grid number + 1 of its launch, or 0) << 8 | launches of this home in spare places
  u32 next, left;  // tiles handed out behind the first gridDim.x; blocks that need no more
  u32 lock, unused;
};
enum : u32 { kTileCounters = 1024, kSpareTileCounters = 128 };
inline __device__ TileCounter tile_counters[kTileCounters + kSpareTileCounters];

// One thread a block of threads: claim() before the first take(), leave() after the last.
class TileTaker {
 public:
  HSTU_PRIM void claim() {
    const u64 grid = prim::grid_id();
    home_ = &tile_counters[grid % kTileCounters];
    mine_ = (grid + 1) << 8;
    const u64 found = prim::compare_and_swap_acquire(&home_->holder, 0, mine_);
    at_ = found == 0 || is_mine(found) ? home_ : claim_elsewhere();
  }
  HSTU_PRIM u32 take() const { return gridDim.x + atomicAdd(&at_->next, 1u); }
  // Nobody need take a tile below `tile`, which is at least gridDim.x: those not taken yet are empty.
  HSTU_PRIM void pass_over(u32 tile) const { atomicMax(&at_->next, tile - gridDim.x); }
  HSTU_PRIM void leave() const {
    if (atomicAdd(&at_->left, 1u) + 1 < gridDim.x) return;
    atomicExch(&at_->next, 0u);
    atomicExch(&at_->left, 0u);
    __threadfence();
    if (at_ != home_) atomicExch(&at_->holder, 0ull);
    atomicAdd(&home_->holder, at_ == home_ ? 0 - mine_ : ~0ull);
  }

 private:
  HSTU_PRIM bool is_mine(u64 holder) const { return (holder ^ mine_) < 256; }

  HSTU_PRIM TileCounter* claim_elsewhere() const {
    while (atomicCAS(&home_->lock, 0u, 1u) != 0) {}
    __threadfence();
    TileCounter* at = nullptr;
    const u64 found = atomicAdd(&home_->holder, 1ull);  // from now on not zero: only here is it taken
    if (is_mine(found)) {
      at = home_;
      atomicAdd(&home_->holder, ~0ull);
    } else if ((at = spare_of(mine_))) {
      atomicAdd(&home_->holder, ~0ull);
    } else if (found < 256) {
      at = home_;
      atomicAdd(&home_->holder, mine_ - 1);
    } else {
      at = free_spare();
    }
    __threadfence();
    atomicExch(&home_->lock, 0u);
    return at;
  }
  HSTU_PRIM static TileCounter* spare_of(u64 holder) {
#pragma unroll 1
    for (u32 i = kTileCounters; i < kTileCounters + kSpareTileCounters; ++i)
      if (*static_cast<volatile u64*>(&tile_counters[i].holder) == holder) return &tile_counters[i];
    return nullptr;
  }
  HSTU_PRIM TileCounter* free_spare() const {
#pragma unroll 1
    for (u32 i = 0;; ++i) {
      TileCounter* at = &tile_counters[kTileCounters + i % kSpareTileCounters];
      if (atomicCAS(&at->holder, 0ull, mine_) == 0) return at;
    }
  }

  TileCounter *home_ = nullptr, *at_ = nullptr;
  u64 mine_ = 0;
};

}  // namespace hstu::tile
