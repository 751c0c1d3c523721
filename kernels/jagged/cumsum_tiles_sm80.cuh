// Prefix sums from 0 of long vectors, sm80: out[0] = 0, out[i + 1] = values[0] + ... + values[i]. One launch that reads
// each value once, or, where tiles of a stage would be more than a board has entries, twice.
//
//   tile ──► stage of a ring ──► sums of its stretches; the tile's posted (jagged/runs/launch_board.cuh) ─┐
//                          what was posted since the block's tile before ──► what lies before it ──┴► sums, written
//
// Work      Blocks stay and take tiles in order as they come. out[i] is what lies before value i, so that both are
//           aligned as one; the last value's lane also writes what follows it. All go in 16 bytes where they can. A
//           sum is posted as soon as its values have come, a ring ahead of the tile's being written: others rarely
//           wait.
// Roles     One warp loads and one looks back; kSummers add up a stage each, round-robin; kWriters write a stretch
// each. Barriers  full[s]: loader → summer, writers.  posted[s]: summer → looker.  ready[s]: looker → writers.
//           empty[s]: writers → loader.  found: looker → loader, summers
// Parts     A tile read twice is tile_parts stages to be summed, then as many to be written.
// Start     The first tile is in flight while the board is found.
// End       Stages without a tile, until each writer has one.
// Limits    Memory: 97 % of a copy for 134,217,728 i32 on an H200; for 33,554,432, 87 %, 5 us of them the start and
//           the end.
// Config    facts: Value, Result (element types), Sum (u32, u64 or double), kRereads (tiles have parts).
//           knobs: kStageBytes, kStages, kSummers, kStretches (of a stage), kWriters, kMinBlocks.
// Tried     docs/experiments/jagged.md
#pragma once
#include "jagged/jagged_lengths.h"
#include "jagged/runs/block_scan.cuh"
#include "jagged/runs/launch_board.cuh"
#include "prim/cp_async.cuh"
#include "prim/mbarrier.cuh"
#include "tile/tma_ring.cuh"

namespace hstu {

namespace cumsum_tiles {

template <class Config>
struct Storage {
  enum : int { kStages = Config::kStages };
  prim::Quad values[kStages][Config::kStageBytes / 16];
  // What lies before the tile; and in it before each stretch.
  typename Config::Sum before[kStages], stretch[kStages][Config::kStretches];
  u64 full[kStages], posted[kStages], ready[kStages], empty[kStages], found;
  u32 tile[kStages], part[kStages];
  u32 first, alone;  // the block's first tile; whether one block does all
  tile::BoardTileScheduler scheduler;
  tile::Board board;
  tile::OwnBoard own;
};

// The warps of a block. Each role is one warp's.
template <class Config>
class Roles {
  using Value = typename Config::Value;
  using Result = typename Config::Result;
  using Sum = typename Config::Sum;
  using State = tile::PipelineState<Config::kStages>;
  enum : int { kStages = Config::kStages, kSummers = Config::kSummers, kStretches = Config::kStretches };
  enum : int { kSets = Config::kWriters / kStretches };  // of writers: one writes a stage
  enum : int {
    kVector = 16 / sizeof(Value),
    kAccessValues = 32 * kVector,
    kValues = Config::kStageBytes / sizeof(Value)
  };
  enum : int { kAccesses = kValues / kAccessValues / kStretches };                       // of a stretch
  enum : int { kAtOnce = kAccesses % 4 == 0 ? 4 : kAccesses % 3 == 0 ? 3 : kAccesses };  // accesses of a writer
  enum : int { kLoader, kLooker, kFirstSummer, kFirstWriter = kFirstSummer + kSummers };
  static_assert(kSets * kStretches == Config::kWriters && kSets % kSummers == 0, "each has its share of all stages");
  static_assert(kSets <= kStages, "a stage for each writer at the end");
  static_assert(!Config::kRereads || kSummers == 1, "one warp adds up the parts of a tile");

  union Values {
    prim::Quad quad;
    Value value[kVector];
  };

  const CumsumTilesParams& p_;
  Storage<Config>& storage_;
  const u32 lane_;

 public:
  enum : int { kThreads = 32 * (kFirstWriter + Config::kWriters) };

  HSTU_PRIM Roles(const CumsumTilesParams& p, unsigned char* smem)
      : p_(p), storage_(*reinterpret_cast<Storage<Config>*>(smem)), lane_(prim::lane_id()) {}

  HSTU_PRIM void run() {
    if (threadIdx.x == 32) tile::BoardTileScheduler(memory()).prefetch();
    storage_.own.clear();
    if (threadIdx.x == 0) {
      init_barriers();
      take_first();
    }
    __syncthreads();
    const u32 warp = prim::warp_id();
    if (warp == kLoader)
      load_tiles();
    else if (warp == kLooker)
      look_back();
    else if (warp < kFirstWriter)
      sum_stages(warp - kFirstSummer);
    else
      write_stages(warp - kFirstWriter);
  }

 private:
  HSTU_PRIM u32 full(const State& at) const { return prim::smem_addr(&storage_.full[at.stage]); }
  HSTU_PRIM u32 posted(const State& at) const { return prim::smem_addr(&storage_.posted[at.stage]); }
  HSTU_PRIM u32 ready(const State& at) const { return prim::smem_addr(&storage_.ready[at.stage]); }
  HSTU_PRIM u32 empty(const State& at) const { return prim::smem_addr(&storage_.empty[at.stage]); }
  HSTU_PRIM void arrive(u32 barrier) const {  // a warp, for what its lanes did
    __syncwarp();
    if (lane_ == 0) prim::mbarrier_arrive(barrier);
  }
  HSTU_PRIM bool is_tile(u32 tile) const { return tile < p_.tiles; }
  HSTU_PRIM int parts() const { return Config::kRereads ? p_.tile_parts : 1; }
  // Of a stage; parts from parts() on are those that are written.
  HSTU_PRIM i64 begin_of(u32 tile, int part) const {
    return (static_cast<i64>(tile) * parts() + (part < parts() ? part : part - parts())) * kValues;
  }
  HSTU_PRIM bool is_whole(i64 begin) const { return begin + kValues <= p_.count; }

  HSTU_PRIM void init_barriers() const {
    prim::mbarrier_init(prim::smem_addr(&storage_.found), 1);
#pragma unroll 1
    for (int stage = 0; stage < kStages; ++stage) {
      prim::mbarrier_init(prim::smem_addr(&storage_.full[stage]), 32 + 1);
      prim::mbarrier_init(prim::smem_addr(&storage_.posted[stage]), 1);
      prim::mbarrier_init(prim::smem_addr(&storage_.ready[stage]), 1);
      prim::mbarrier_init(prim::smem_addr(&storage_.empty[stage]), kStretches);
    }
  }
  HSTU_PRIM LaunchMemory* memory() const { return static_cast<LaunchMemory*>(p_.tile_counters); }
  HSTU_PRIM void take_first() const {
    tile::BoardTileScheduler scheduler(memory());
    scheduler.claim();
    storage_.first = scheduler.next_tile() - gridDim.x;
    storage_.scheduler = scheduler;
  }
  HSTU_PRIM void find_board() const {
    tile::Board board(storage_.own);
    storage_.alone = !storage_.scheduler.find(board);
    storage_.board = board;
    prim::mbarrier_arrive(prim::smem_addr(&storage_.found));
  }
  HSTU_PRIM void wait_for_board() const { prim::mbarrier_wait(prim::smem_addr(&storage_.found), 0); }

  // ---- The warp that loads

  HSTU_PRIM void load_tiles() const {
    const tile::BoardTileScheduler scheduler = storage_.scheduler;
    State place;
    u32 tile = storage_.first, following = 0;
    if (lane_ == 0) following = scheduler.prefetch_tile() - gridDim.x;
    bool copied = is_tile(tile);
    if (copied) copy(place, tile, 0);
    wait_for_board();
    const bool alone = storage_.alone;
    if (alone && tile != 0) tile = p_.tiles;
    while (is_tile(tile)) {
#pragma unroll 1
      for (int part = 0; part < (Config::kRereads ? 2 * parts() : 1); ++part) {
        prim::mbarrier_wait(empty(place), place.parity ^ 1);
        if (!copied) copy(place, tile, part);
        copied = false;
        tell(place, tile, part);
        place.advance();
      }
      tile = alone ? tile + 1 : __shfl_sync(prim::kFullWarp, following, 0);
      if (lane_ == 0 && is_tile(tile)) following = scheduler.prefetch_tile() - gridDim.x;
    }
    State end = place;
#pragma unroll 1
    for (int i = 0; i < kSets; ++i, place.advance()) {
      prim::mbarrier_wait(empty(place), place.parity ^ 1);
      tell(place, p_.tiles, 0);
    }
#pragma unroll 1
    for (int i = 0; i < kSets; ++i, end.advance()) prim::mbarrier_wait(ready(end), end.parity);
    if (lane_ == 0) scheduler.leave();
  }
  HSTU_PRIM void tell(const State& at, u32 tile, int part) const {
    if (lane_ == 0) {
      storage_.tile[at.stage] = tile;
      if (Config::kRereads) storage_.part[at.stage] = part;
      prim::mbarrier_arrive(full(at));
    }
    prim::cp_async_mbarrier_arrive(full(at));
  }
  HSTU_PRIM void copy(const State& at, u32 tile, int part) const {
    const i64 begin = begin_of(tile, part);
    const u32 to = prim::smem_addr(storage_.values[at.stage]);
    const Value* const from = static_cast<const Value*>(p_.values) + begin;
    if (is_whole(begin) && reinterpret_cast<u64>(from) % 16 == 0) {
#pragma unroll 8
      for (int i = 0; i < kValues / kAccessValues; ++i)
        prim::cp_async16_or_zero(to + i * 512 + lane_ * 16, from + i * kAccessValues + lane_ * kVector, true);
    } else {
#pragma unroll 4
      for (int i = static_cast<int>(lane_); i < kValues; i += 32) copy_one(to, from, i, begin + i < p_.count);
    }
  }
  HSTU_PRIM void copy_one(u32 to, const Value* from, int i, bool there) const {
    const Value* const source = there ? from + i : static_cast<const Value*>(p_.values);
    if constexpr (sizeof(Value) == 8)
      prim::cp_async8_zfill(to + i * 8, source, there ? 8 : 0);
    else
      prim::cp_async4_zfill(to + i * 4, source, there ? 4 : 0);
  }

  // ---- The warp that looks back

  HSTU_PRIM void look_back() const {
    if (lane_ == 0) find_board();
    wait_for_board();
    const tile::Board board = storage_.board;
    tile::SumBefore<Sum> sum_before;
    Sum before = 0;
    State place;
    for (int ends = 0; ends < kSets; place.advance()) {
      prim::mbarrier_wait(posted(place), place.parity);  // others are about as far: fewer sums are asked for in vain
      const u32 tile = storage_.tile[place.stage];
      if (!is_tile(tile)) {
        ++ends;
      } else if (!Config::kRereads || storage_.part[place.stage] == p_.tile_parts) {
        before = sum_before.of(board, tile);
      }
      if (lane_ == 0) storage_.before[place.stage] = before;
      arrive(ready(place));
    }
  }

  // ---- Warps that add up stages

  HSTU_PRIM void sum_stages(u32 which) const {
    wait_for_board();
    const tile::Board board = storage_.board;
    Sum of_tile = 0;
    State place;
    place.advance(which);
    for (int ends = 0; ends < kSets / kSummers; place.advance(kSummers)) {
      prim::mbarrier_wait(full(place), place.parity);
      const u32 tile = storage_.tile[place.stage];
      const int part = Config::kRereads ? storage_.part[place.stage] : 0;
      if (part % parts() == 0) of_tile = 0;
      if (is_tile(tile)) {
        sum_stretches(place.stage, of_tile);
        if (part == parts() - 1 && lane_ == 0) board.post(tile, of_tile);
      } else {
        ++ends;
      }
      arrive(posted(place));
    }
  }
  // Adds those of the stage to of_tile.
  HSTU_PRIM void sum_stretches(u32 stage, Sum& of_tile) const {
    const u32 from = prim::smem_addr(&storage_.values[stage][lane_]);
    Sum sum[kStretches];
#pragma unroll
    for (int s = 0; s < kStretches; ++s) {
      sum[s] = 0;
#pragma unroll 8
      for (int a = 0; a < kAccesses; ++a) sum[s] += sum_of(read(from, s * kAccesses + a));
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
#pragma unroll
      for (int s = 0; s < kStretches; ++s) sum[s] += __shfl_xor_sync(prim::kFullWarp, sum[s], offset);
    }
#pragma unroll
    for (int s = 0; s < kStretches; ++s) {
      if (lane_ == 0) storage_.stretch[stage][s] = of_tile;
      of_tile += sum[s];
    }
  }
  HSTU_PRIM static Values read(u32 from, int access) {
    Values values;
    values.quad = prim::ld_shared(from + access * 512);
    return values;
  }
  HSTU_PRIM static Sum sum_of(const Values& values) {
    Sum sum = 0;
#pragma unroll
    for (int v = 0; v < kVector; ++v) sum += static_cast<Sum>(values.value[v]);
    return sum;
  }

  // ---- Warps that write

  HSTU_PRIM void write_stages(u32 which) const {
    State place;
    place.advance(which / kStretches);
    for (;; place.advance(kSets)) {
      prim::mbarrier_wait(full(place), place.parity);  // for its values
      prim::mbarrier_wait(ready(place), place.parity);
      const u32 tile = storage_.tile[place.stage];
      if (!is_tile(tile)) return;
      const int part = Config::kRereads ? storage_.part[place.stage] : 0;
      if (Config::kRereads && part < parts())
        arrive(empty(place));
      else
        write(place, which % kStretches, begin_of(tile, part));
    }
  }
  HSTU_PRIM void write(const State& place, u32 stretch, i64 begin) const {
    const u32 first_access = stretch * kAccesses;
    const u32 from = prim::smem_addr(&storage_.values[place.stage][first_access * 32 + lane_]);
    const bool whole = is_whole(begin);
    Sum before = storage_.before[place.stage] + storage_.stretch[place.stage][stretch];
    i64 first = begin + first_access * kAccessValues + lane_ * kVector;
#pragma unroll 1
    for (int access = 0; access < kAccesses; access += kAtOnce, first += kAtOnce * kAccessValues) {
      Values values[kAtOnce];
      Sum upto[kAtOnce], sum[kAtOnce];
#pragma unroll
      for (int a = 0; a < kAtOnce; ++a) values[a] = read(from, access + a);
      if (access + kAtOnce == kAccesses) arrive(empty(place));
#pragma unroll
      for (int a = 0; a < kAtOnce; ++a) upto[a] = sum[a] = sum_of(values[a]);
      tile::add_before(upto, lane_);
#pragma unroll
      for (int a = 0; a < kAtOnce; ++a) {
        write_access(first + a * kAccessValues, values[a], before + without(upto[a], sum[a]), whole);
        before += __shfl_sync(prim::kFullWarp, upto[a], 31);
      }
    }
  }
  // Of the lanes before; a lane's own may be infinite.
  HSTU_PRIM u32 without(u32 upto, u32 own) const { return upto - own; }
  HSTU_PRIM u64 without(u64 upto, u64 own) const { return upto - own; }
  HSTU_PRIM double without(double upto, double) const {
    const double below = __shfl_up_sync(prim::kFullWarp, upto, 1);
    return lane_ == 0 ? 0 : below;
  }
  // The sums from `sum` on; first: the lane's.
  HSTU_PRIM void write_access(i64 first, const Values& values, Sum sum, bool whole) const {
    enum : int { kQuads = sizeof(Result) / sizeof(Value) };
    union {
      prim::Quad quad[kQuads];
      Result value[kVector];
    } results;
    Result* const out = static_cast<Result*>(p_.out) + first;
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      results.value[v] = static_cast<Result>(sum);
      sum += static_cast<Sum>(values.value[v]);
    }
    if (whole && reinterpret_cast<u64>(out) % 16 == 0) {
#pragma unroll
      for (int q = 0; q < kQuads; ++q) prim::st_global(out + q * (kVector / kQuads), results.quad[q]);
    } else {
      const i64 left = p_.count + 1 - first;  // of results
#pragma unroll
      for (int v = 0; v < kVector; ++v)
        if (v < left) out[v] = results.value[v];
    }
    if (whole && first + kVector == p_.count) out[kVector] = static_cast<Result>(sum);
  }
};

}  // namespace cumsum_tiles

template <class Config>
constexpr int cumsum_tiles_sm80_smem_bytes = static_cast<int>(sizeof(cumsum_tiles::Storage<Config>));

template <class Config>
__global__ void __launch_bounds__(cumsum_tiles::Roles<Config>::kThreads, Config::kMinBlocks)
    cumsum_tiles_sm80(const __grid_constant__ CumsumTilesParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  cumsum_tiles::Roles<Config>(p, smem).run();
}

}  // namespace hstu
