// A ring of stages in shared memory between TMA, which fills them, and warpgroups that use them (sm_90): a pair of
// mbarriers per stage, full and empty, and a PipelineState for each producer and consumer, which runs on from tile to
// tile.
#pragma once
#include "prim/cluster.cuh"
#include "prim/lanes.cuh"
#include "prim/mbarrier.cuh"

namespace hstu::tile {

// The stage that one side is at, and its phase: parity is that of the lap; wait for full stages with it, for empty ones
// with its opposite, which on the first lap lets through at once. A parity tells a lap from the one before, no more:
// who waits for a full stage must know that it was full the lap before, having used that itself or being ordered behind
// the one who did.
template <int kStages>
struct PipelineState {
  HSTU_PRIM void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
  HSTU_PRIM void advance(u32 count) {
    const u32 to = stage + count;
    parity ^= to / kStages & 1;
    stage = to % kStages;
  }
  u32 stage = 0, parity = 0;
};

// kReleases: warpgroups of a block that release each stage, or warps where they read it themselves. kCluster: blocks
// whose copies write each other's stages, all of which must then be told.
template <int kStages, int kReleases, int kCluster = 1>
class TmaRing {
 public:
  using State = PipelineState<kStages>;
  enum : int { kBytes = 2 * 8 * kStages };

  HSTU_PRIM explicit TmaRing(u32 smem) : smem_(smem) {}

  // By one thread; then mbarrier_fence_init() and a barrier of the block or cluster.
  HSTU_PRIM void init() const {
#pragma unroll
    for (u32 stage = 0; stage < kStages; ++stage) {
      prim::mbarrier_init(full(stage), 1);
      prim::mbarrier_init(empty(stage), kReleases * kCluster);
    }
  }

  // Producer: waits for the stage, then expects the bytes that are copied to it in this block. Of several who fill a
  // stage one expects the bytes of all.
  HSTU_PRIM u32 acquire(const State& state, u32 bytes, bool expects = true) const {
    prim::mbarrier_wait(empty(state.stage), state.parity ^ 1);
    if (expects) prim::mbarrier_arrive_expect_tx(full(state.stage), bytes);
    return full(state.stage);
  }

  // Consumers, whole warpgroups; a release after the wgmma_wait that covers the stage.
  HSTU_PRIM void wait(const State& state) const { prim::mbarrier_wait(full(state.stage), state.parity); }
  HSTU_PRIM void release(const State& state) const {
    const u32 thread = threadIdx.x % 128;
    if constexpr (kCluster == 1) {
      if (thread == 0) prim::mbarrier_arrive(empty(state.stage));
    } else {
      if (thread < kCluster) prim::mbarrier_arrive_cluster(empty(state.stage), thread);
    }
  }
  // By each warp, when it has read the stage and the wgmma_wait has come.
  HSTU_PRIM void release_by_warp(const State& state) const {
    const u32 lane = prim::lane_id();
    if constexpr (kCluster == 1) {
      if (lane == 0) prim::mbarrier_arrive(empty(state.stage));
    } else {
      if (lane < kCluster) prim::mbarrier_arrive_cluster(empty(state.stage), lane);
    }
  }

 private:
  HSTU_PRIM u32 full(u32 stage) const { return smem_ + 8 * stage; }
  HSTU_PRIM u32 empty(u32 stage) const { return smem_ + 8 * (kStages + stage); }

  u32 smem_;
};

}  // namespace hstu::tile
