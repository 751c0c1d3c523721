// The ring of key blocks in shared memory and how the warps of an attention kernel pass its stages on.
#pragma once
#include "attention/sm80/attn_tiles.cuh"
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/mbarrier.cuh"

namespace hstu::tile {

// With two stages a block-wide barrier each block does; with more, barriers in shared memory let warps drift apart:
// full[stage] counts the threads whose copies have landed, empty[stage] the threads that have read the stage. Every
// lane arrives for itself: one for its warp, behind __syncwarp(), would be in order too, but racecheck does not follow
// that.
template <class Config>
struct AttnRing {
  using T = AttnFwdSm80<Config>;
  enum : bool { kBlockWide = Config::kStages == 2 };
  u32 stages, full, empty;  // addresses of the first

  HSTU_PRIM static u32 stage_of(int block) { return static_cast<u32>(block) % Config::kStages; }
  HSTU_PRIM static u32 parity_of(int block) { return static_cast<u32>(block) / Config::kStages % 2; }
  HSTU_PRIM u32 stage(int block) const { return stages + stage_of(block) * T::kStageBytes; }

  HSTU_PRIM void init() const {
#pragma unroll
    for (int stage = 0; stage < Config::kStages; ++stage) {
      prim::mbarrier_init(full + stage * 8, Config::kWarps * 32);
      prim::mbarrier_init(empty + stage * 8, Config::kWarps * 32);
    }
  }
  HSTU_PRIM void invalidate() const {
#pragma unroll
    for (int stage = 0; stage < Config::kStages; ++stage) {
      prim::mbarrier_inval(full + stage * 8);
      prim::mbarrier_inval(empty + stage * 8);
    }
  }

  // Says that this thread's copies for `block` have landed, at most kPending newer groups of copies being under way.
  template <int kPending>
  HSTU_PRIM void announce(int block) const {
    if constexpr (!kBlockWide) {
      prim::cp_async_wait<kPending>();
      arrive(full, block);
    }
  }
  HSTU_PRIM void wait_full(int block) const {
    if constexpr (kBlockWide) {
      prim::cp_async_wait<0>();
      __syncthreads();  // also: all have left the other stage
    } else {
      prim::mbarrier_wait(full + stage_of(block) * 8, parity_of(block));
    }
  }
  HSTU_PRIM void release(int block) const {
    if constexpr (!kBlockWide) arrive(empty, block);
  }
  HSTU_PRIM void wait_empty(int block) const {
    if constexpr (!kBlockWide) prim::mbarrier_wait(empty + stage_of(block) * 8, parity_of(block) ^ 1);
  }

 private:
  HSTU_PRIM static void arrive(u32 barriers, int block) { prim::mbarrier_arrive(barriers + stage_of(block) * 8); }
};

}  // namespace hstu::tile
