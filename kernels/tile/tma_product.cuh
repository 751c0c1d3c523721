// A matrix product on wgmma, fed by TMA (sm_90): which tiles a block computes, the thread that fetches slices along k
// of both operands, and the warpgroups that multiply them. What becomes of the accumulators is the family's business.
//
//   producer thread ──TMA──► ring of kStages in smem ──► warpgroups 0, 1: wgmma ──► accumulators
//
// The slices of all of a block's tiles are one stream through the ring, so the next tile's arrive during an epilogue.
//   kPingPong   each warpgroup has tiles of its own, and one's epilogue runs beside the other's products: their
//               mainloops are ordered by a barrier. Otherwise both halve each tile along m (cooperative).
//   kResident   a block keeps its columns of w in shared memory, all of k, and only x runs through the ring: a third of
//               the traffic, or less. For short k.
//   kSpread     a tile's columns are panels of 64, evenly apart over the result. For resident columns of which an
//               activation takes some, whole panels: blocks with all of those would end last.
//   kCluster 2  blocks in pairs, on neighbouring tile rows, fetch half of each slice of w for both.
// Sources: PTX ISA "wgmma", "cp.async.bulk.tensor"; ping-pong and cooperative consumers after CUTLASS 3.
#pragma once
#include "prim/cluster.cuh"
#include "prim/warpgroup.cuh"
#include "tile/dependent_launch.cuh"
#include "tile/raster.cuh"
#include "tile/tma_ring.cuh"
#include "tile/wgmma_operand.cuh"

namespace hstu::tile {

// What follows from a Config (kBlockM, kBlockN, kStages, kPingPong, kResident, kSlices, kCluster, kGroup, kXAlongK,
// kWAlongK) and the element types. A family's Shape derives from it and adds, with Params naming its argument struct,
//   kTileColumns                   columns of the result that a tile has
//   load_x(to, p, barrier, row, k), load_w(to, p, barrier, column, k, rank), prefetch_x(p, row, k)
// kEpilogueBytes (a multiple of 16) of shared memory are the family's, from kEpilogueAt.
template <class Config_, class X, class W, int kEpilogueBytes>
struct TmaProductShape {
  using Config = Config_;
  using ElementX = X;
  using ElementW = W;
  enum : int { kWarpgroups = 2, kConsumerWarps = 4 * kWarpgroups };
  enum : int { kRows = Config::kPingPong ? Config::kBlockM : Config::kBlockM / kWarpgroups };  // of a warpgroup
  enum : int { kFragments = kRows / 64 };
  static_assert(Config::kThreads == 128 * (kWarpgroups + 1), "two warpgroups multiply, one more has the producer");
  static_assert(kRows % 64 == 0 && Config::kBlockN % 64 == 0, "a warpgroup's part is pieces of 64 x 64");
  static_assert(!Config::kResident || Config::kCluster == 1, "resident slices are not multicast");

  using TileX = WgmmaOperand<X, Config::kBlockM, Config::kXAlongK>;
  using TileW = WgmmaOperand<W, Config::kBlockN, Config::kWAlongK, Config::kCluster>;
  using Ring = TmaRing<Config::kStages, Config::kPingPong ? 1 : kWarpgroups, Config::kCluster>;
  using Wgmma = prim::Wgmma<Config::kBlockN>;
  using Accumulators = float[kFragments][Config::kBlockN / 2];
  enum : int { kBlockK = TileX::kBlockK };
  enum : int { kRings = 1 };  // each with a producer thread of its own
  // Whether warps branch to their roles first and compute their schedules there: ptxas would spill what lives across
  // the branch where the consumers fill the registers. A Shape that wants it hides this.
  enum : bool { kDispatchesEarly = false };
  // Resident slices complete on barriers of their own; a Shape that hides this loads them with the stages of the ring.
  enum : bool { kSlicesHaveBarriers = Config::kResident };
  enum : bool { kSpread = false };                  // a Shape that has it hides this
  enum : int { kResultColumns = Config::kBlockN };  // of a warpgroup's accumulators at a time; likewise

  // Offsets in shared memory.
  enum : int { kStageBytes = TileX::kBytes + (Config::kResident ? 0 : TileW::kBytes) };
  enum : int { kRingAt = Config::kResident ? Config::kSlices * TileW::kBytes : 0 };
  enum : int { kEpilogueAt = kRingAt + Config::kStages * kStageBytes };
  enum : int { kBarriersAt = kEpilogueAt + kEpilogueBytes };
  enum : int { kPingPongAt = kBarriersAt + Ring::kBytes };
  enum : int { kSlicesAt = kPingPongAt + 8 * kWarpgroups };
  enum : int { kSmemBytes = kSlicesAt + (Config::kResident ? 8 * Config::kSlices : 0) };

  HSTU_PRIM static Ring ring(u32 smem, u32 = 0) { return Ring(smem + kBarriersAt); }
  HSTU_PRIM static u32 stage(u32 smem, u32, u32 stage) { return smem + kRingAt + stage * kStageBytes; }
};

HSTU_PRIM u32 tiles_along(i64 extent, u32 size) {
  return static_cast<u32>((static_cast<u64>(extent) + size - 1) / size);
}
// From each 64 columns of a tile to the next, of n.
template <class Shape>
HSTU_PRIM i32 panel_stride(i64 n) {
  return Shape::kSpread ? static_cast<i32>(64 * tiles_along(n, Shape::kTileColumns)) : 64;
}

// Which tiles this block computes, in order. The grid has no more blocks, or clusters, than tiles; with kResident it is
// a multiple of the tile columns.
template <class Shape>
class TmaSchedule {
 public:
  using Config = typename Shape::Config;

  HSTU_PRIM explicit TmaSchedule(const typename Shape::Params& p)
      : tiles_m_(tiles_along(p.m, Config::kBlockM)),
        tiles_n_(tiles_along(p.n, Shape::kTileColumns)),
        slices(tiles_along(p.k, Shape::kBlockK)),
        rank(Config::kCluster > 1 ? prim::cluster_rank() : 0) {
    if constexpr (Config::kResident) {
      first_ = {blockIdx.x / tiles_n_, blockIdx.x % tiles_n_};
      stride_ = gridDim.x / tiles_n_;
      count = tiles_along(tiles_m_ - first_.m, stride_);
    } else {
      first_ = {blockIdx.x / Config::kCluster, 0};
      stride_ = gridDim.x / Config::kCluster;
      count = tiles_along(tiles_along(tiles_m_, Config::kCluster) * tiles_n_ - first_.m, stride_);
    }
  }

  HSTU_PRIM TilePosition position(u32 i) const {
    const u32 tile = first_.m + i * stride_;
    if constexpr (Config::kResident) return {tile, first_.n};
    const TilePosition at = grouped_raster<Config::kGroup>(tile, tiles_along(tiles_m_, Config::kCluster), tiles_n_);
    return {at.m * Config::kCluster + rank, at.n};
  }
  // With kResident, all of a tile row's blocks want the same rows of x at once: one of them fetches them to L2 ahead.
  HSTU_PRIM bool prefetches(u32 i) const {
    return Config::kResident && i < count && position(i).m % tiles_n_ == first_.n;
  }
  HSTU_PRIM i32 row(TilePosition at) const { return static_cast<i32>(at.m * Config::kBlockM); }
  HSTU_PRIM i32 column(TilePosition at) const {
    return static_cast<i32>(at.n * (Shape::kSpread ? 64 : Shape::kTileColumns));
  }

 private:
  const u32 tiles_m_, tiles_n_;
  TilePosition first_;
  u32 stride_;

 public:
  const u32 slices, rank;
  u32 count;
};

// Rows of x to L2, for the tile after next of either warpgroup.
enum : u32 { kPrefetchTiles = 4 };
template <class Shape>
HSTU_PRIM void prefetch_rows(const typename Shape::Params& p, const TmaSchedule<Shape>& schedule, u32 i) {
  if (!schedule.prefetches(i)) return;
  const i32 row = schedule.row(schedule.position(i));
  for (u32 slice = 0; slice < schedule.slices; ++slice)
    Shape::prefetch_x(p, row, static_cast<i32>(slice) * Shape::kBlockK);
}

// One thread a ring: fetches slice after slice of the ring's tiles.
template <class Shape>
HSTU_PRIM void produce(const typename Shape::Params& p, const TmaSchedule<Shape>& schedule, u32 smem, u32 which) {
  using Config = typename Shape::Config;
  const typename Shape::Ring ring = Shape::ring(smem, which);
  typename Shape::Ring::State write_state;
  for (u32 i = which; i < schedule.count; i += Shape::kRings) {
    const TilePosition tile = schedule.position(i);
    const i32 row = schedule.row(tile), column = schedule.column(tile);
    if constexpr (Config::kResident) prefetch_rows(p, schedule, i + kPrefetchTiles);
    for (u32 slice = 0; slice < schedule.slices; ++slice) {
      const i32 k = static_cast<i32>(slice) * Shape::kBlockK;
      if (Config::kResident && i == 0) {
        const u32 landed = smem + Shape::kSlicesAt + 8 * slice;
        prim::mbarrier_arrive_expect_tx(landed, Shape::TileW::kBytes);
        Shape::load_w(smem + slice * Shape::TileW::kBytes, p, landed, column, k, 0);
      }
      const u32 full = ring.acquire(write_state, Shape::kStageBytes);
      const u32 stage = Shape::stage(smem, which, write_state.stage);
      Shape::load_x(stage, p, full, row, k);
      if constexpr (!Config::kResident) Shape::load_w(stage + Shape::TileX::kBytes, p, full, column, k, schedule.rank);
      write_state.advance();
    }
  }
}

// Ping-pong: orders the warpgroups' mainloops. One waits before its products, and arrives at the other's barrier when
// they are issued.
template <class Shape>
class PingPongBarrier {
 public:
  HSTU_PRIM PingPongBarrier(u32 smem, u32 warpgroup) : smem_(smem + Shape::kPingPongAt), warpgroup_(warpgroup) {}
  HSTU_PRIM static void init(u32 smem) {
    prim::mbarrier_init(smem + Shape::kPingPongAt, 1);
    prim::mbarrier_init(smem + Shape::kPingPongAt + 8, 1);
  }

  // The first warpgroup's first mainloop does not wait.
  HSTU_PRIM void wait() {
    if constexpr (Shape::Config::kPingPong) {
      prim::mbarrier_wait(smem_ + 8 * warpgroup_, parity_ ^ (warpgroup_ == 0));
      parity_ ^= 1;
    }
  }
  HSTU_PRIM void arrive() const {
    if constexpr (Shape::Config::kPingPong) {
      if (threadIdx.x % 128 == 0) prim::mbarrier_arrive(smem_ + 8 * (warpgroup_ ^ 1));
    }
  }

 private:
  u32 smem_, warpgroup_, parity_ = 0;
};

// A warpgroup's products: its tiles, or its half of each.
template <class Shape>
class TmaConsumer {
 public:
  using Config = typename Shape::Config;
  using TileX = typename Shape::TileX;
  using TileW = typename Shape::TileW;
  enum : u32 { kTileStep = Config::kPingPong ? Shape::kWarpgroups : 1 };

  HSTU_PRIM TmaConsumer(u32 smem, u32 warpgroup, u32 slices)
      : smem_(smem),
        slices_(slices),
        first_tile(Config::kPingPong ? warpgroup : 0),
        row(Config::kPingPong ? 0 : warpgroup * Shape::kRows),
        ping_pong_(smem, warpgroup) {
    if (first_tile == 1) read_state_.advance(slices);
  }

  // Issues acc = x w of the next tile; shared memory of its last slice is still in use.
  HSTU_PRIM void issue(typename Shape::Accumulators& acc) {
    ping_pong_.wait();
    for (u32 slice = 0; slice < slices_; ++slice) {
      multiply(acc, slice);
      if (slice > 0) {
        prim::wgmma_wait<1>();
        Shape::ring(smem_).release(release_state_);
      }
      release_state_ = read_state_;
      read_state_.advance();
    }
    ping_pong_.arrive();
    if constexpr (Config::kPingPong) read_state_.advance(slices_);
    resident_ = true;
  }
  // Waits for the products.
  HSTU_PRIM void finish(typename Shape::Accumulators& acc) {
    prim::wgmma_wait<0>();
    Shape::ring(smem_).release(release_state_);
#pragma unroll
    for (int f = 0; f < Shape::kFragments; ++f) prim::warpgroup_fence_operand(acc[f]);
  }

 private:
  HSTU_PRIM void multiply(typename Shape::Accumulators& acc, u32 slice) const {
    if (Shape::kSlicesHaveBarriers && !resident_) prim::mbarrier_wait(smem_ + Shape::kSlicesAt + 8 * slice, 0);
    Shape::ring(smem_).wait(read_state_);
    const u32 stage = smem_ + Shape::kRingAt + read_state_.stage * Shape::kStageBytes;
    const u64 x = TileX::descriptor(stage, row);
    const u64 w = TileW::descriptor(Config::kResident ? smem_ + slice * TileW::kBytes : stage + TileX::kBytes, 0);
    prim::wgmma_fence();
#pragma unroll
    for (int step = 0; step < TileX::kSteps; ++step)
#pragma unroll
      for (int f = 0; f < Shape::kFragments; ++f)
        Shape::Wgmma::template ss<typename Shape::ElementX, typename Shape::ElementW, TileX::kMajor, TileW::kMajor>(
            acc[f], prim::advance_descriptor(TileX::at_step(x, step), f * 64 * 128), TileW::at_step(w, step),
            step > 0 || slice > 0);
    prim::wgmma_commit();
  }

  const u32 smem_, slices_;

 public:
  const u32 first_tile, row;  // row: the warpgroup's first in a tile

 private:
  PingPongBarrier<Shape> ping_pong_;
  typename Shape::Ring::State read_state_, release_state_;
  bool resident_ = false;
};

// By one thread; a barrier of the block or cluster follows.
template <class Shape>
HSTU_PRIM void init_product(u32 smem) {
  for (u32 ring = 0; ring < Shape::kRings; ++ring) Shape::ring(smem, ring).init();
  PingPongBarrier<Shape>::init(smem);
  if constexpr (Shape::kSlicesHaveBarriers)
    for (u32 slice = 0; slice < Shape::Config::kSlices; ++slice)
      prim::mbarrier_init(smem + Shape::kSlicesAt + 8 * slice, 1);
  prim::mbarrier_fence_init();
}

// All of the cluster's blocks; of one, __syncthreads().
template <int kCluster>
HSTU_PRIM void cluster_barrier() {
  if constexpr (kCluster > 1)
    prim::cluster_sync();
  else
    __syncthreads();
}

// The producers of the rings, an elected thread of a warp each; then the branch of warps to their roles.
template <class Roles>
HSTU_PRIM void run_producer(const typename Roles::Shape::Params& p, const TmaSchedule<typename Roles::Shape>& schedule,
                            u32 smem, u32 warp) {
  using Shape = typename Roles::Shape;
  const u32 ring = warp - Shape::kConsumerWarps;
  if (ring < Shape::kRings && prim::elect_one()) produce<Shape>(p, schedule, smem, ring);
}
template <class Roles>
HSTU_PRIM void dispatch_roles(const typename Roles::Shape::Params& p, u32 smem, u32 warp) {
  using Shape = typename Roles::Shape;
  const TmaSchedule<Shape> schedule(p);
  if (warp >= Shape::kConsumerWarps) {
    prim::warpgroup_reg_dealloc<40>();
    run_producer<Roles>(p, schedule, smem, warp);
  } else {
    prim::warpgroup_reg_alloc<232>();
    Roles::consume(p, schedule, smem, warp);
  }
}
// The same, with the schedule computed in each role.
template <class Roles>
HSTU_PRIM void dispatch_roles_early(const typename Roles::Shape::Params& p, u32 smem) {
  using Shape = typename Roles::Shape;
  if (threadIdx.x >= 32 * Shape::kConsumerWarps) {
    prim::warpgroup_reg_dealloc<40>();
    const TmaSchedule<Shape> schedule(p);
    run_producer<Roles>(p, schedule, smem, prim::warp_id());
  } else {
    prim::warpgroup_reg_alloc<232>();
    const TmaSchedule<Shape> schedule(p);
    Roles::consume(p, schedule, smem, prim::warp_id());
  }
}

// The body of a kernel. Roles names its Shape, and has init(smem), for barriers of its own, and consume(p, schedule,
// smem, warp), for the warps of the warpgroups that multiply.
template <class Roles>
HSTU_PRIM void run_roles(const typename Roles::Shape::Params& p, u32 smem) {
  using Shape = typename Roles::Shape;
  constexpr int kCluster = Shape::Config::kCluster;
  const u32 warp = Shape::kDispatchesEarly ? 0 : prim::warp_id();
  if (threadIdx.x == 0) {
    Roles::init(smem);
    init_product<Shape>(smem);
  }
  cluster_barrier<kCluster>();
  wait_for_kernels_before();
  if constexpr (Shape::kDispatchesEarly)
    dispatch_roles_early<Roles>(p, smem);
  else
    dispatch_roles<Roles>(p, smem, warp);
  // No block leaves while the other may still write to it or arrive at its barriers.
  __syncwarp();
  if constexpr (kCluster > 1) prim::cluster_sync();
}

}  // namespace hstu::tile
