// A dynamic tile scheduler: schedules the tiles of one launch to its blocks of threads as they come, so that a
// block with short tiles has more of them: tile b goes to block b first, those from gridDim.x on are taken from a
// counter that the launch's blocks share.
//
// Counters lie in memory that the host's context has for all kernels, zero while nobody uses them; as variables they
// would cost every module a quarter of a millisecond to load. A launch knows its own by its grid number, which no other
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
#include "tile/tile_counter.h"

namespace hstu::tile {

// One thread a block of threads: claim() before the first next_tile(), leave() after the last. Little is live between
// them, for that thread shares its registers with much else.
class DynamicTileScheduler {
 public:
  HSTU_PRIM explicit DynamicTileScheduler(TileCounter* counters) : counters_(counters) {}

  HSTU_PRIM void claim() {
    const u64 mine = holder();
    TileCounter* const home = home_of(mine);
    const u64 found = prim::compare_and_swap_acquire(&home->holder, 0, mine);
    at_ = found == 0 || are_one(found, mine) ? home : claim_elsewhere(home, mine);
  }
  HSTU_PRIM u32 next_tile() const { return gridDim.x + atomicAdd(&at_->next, 1u); }
  // The same for a tile that is needed later: the thread goes on until it uses the result.
  HSTU_PRIM u32 prefetch_tile() const { return gridDim.x + prefetch_index(); }
  // As prefetch_tile(), counted from gridDim.x on.
  HSTU_PRIM u32 prefetch_index() const { return prim::fetch_increment(&at_->next); }
  // Nobody need take a tile below `tile`, which is at least gridDim.x: those not taken yet are empty.
  HSTU_PRIM void skip_to(u32 tile) const { atomicMax(&at_->next, tile - gridDim.x); }
  HSTU_PRIM void leave() const {
    leave([] {});
  }
  // last(): what the launch's last thread does before the counter is another launch's.
  template <class Last>
  HSTU_PRIM void leave(const Last& last) const {
    if (atomicAdd(&at_->left, 1u) + 1 < gridDim.x) return;
    last();
    give_back();
  }

 protected:
  // By the launch's last thread.
  HSTU_PRIM void give_back() const {
    prim::exchange(&at_->next, 0u);
    prim::exchange(&at_->left, 0u);
    __threadfence();
    const u64 mine = holder();
    TileCounter* const home = home_of(mine);
    if (at_ != home) prim::exchange(&at_->holder, 0ull);
    atomicAdd(&home->holder, at_ == home ? 0 - mine : ~0ull);
  }

 private:
  HSTU_PRIM static u64 holder() { return (prim::grid_id() + 1) << 8; }
  HSTU_PRIM static bool are_one(u64 a, u64 b) { return (a ^ b) < 256; }
  HSTU_PRIM TileCounter* home_of(u64 mine) const { return &counters_[(mine >> 8) % kTileCounters]; }

  HSTU_PRIM TileCounter* claim_elsewhere(TileCounter* home, u64 mine) const {
    while (prim::compare_and_swap_acquire(&home->lock, 0u, 1u) != 0) {}
    __threadfence();
    TileCounter* at = nullptr;
    const u64 found = atomicAdd(&home->holder, 1ull);  // from now on not zero: only here is it taken
    if (are_one(found, mine)) {
      at = home;
      atomicAdd(&home->holder, ~0ull);
    } else if ((at = spare_of(mine))) {
      atomicAdd(&home->holder, ~0ull);
    } else if (found < 256) {
      at = home;
      atomicAdd(&home->holder, mine - 1);
    } else {
      at = free_spare(mine);
    }
    __threadfence();
    prim::exchange(&home->lock, 0u);
    return at;
  }
  HSTU_PRIM TileCounter* spare_of(u64 mine) const {
#pragma unroll 1
    for (u32 i = kTileCounters; i < kTileCounters + kSpareTileCounters; ++i)
      if (*static_cast<volatile u64*>(&counters_[i].holder) == mine) return &counters_[i];
    return nullptr;
  }
  HSTU_PRIM TileCounter* free_spare(u64 mine) const {
#pragma unroll 1
    for (u32 i = 0;; ++i) {
      TileCounter* at = &counters_[kTileCounters + i % kSpareTileCounters];
      if (prim::compare_and_swap_acquire(&at->holder, 0ull, mine) == 0) return at;
    }
  }

  TileCounter* counters_;

 protected:
  TileCounter* at_ = nullptr;
};

}  // namespace hstu::tile
