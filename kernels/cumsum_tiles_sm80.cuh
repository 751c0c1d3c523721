// Prefix sums from 0 of long vectors, sm80: out[0] = 0, out[i + 1] = values[0] + ... + values[i]. One launch that reads
// each value once, or, where a tile has several parts, twice, the second time mostly from L2.
//
//   tile of values ──► its sum on the launch's board (tile/launch_board.cuh) ──► what lies before, from there ──►
//   sums of the threads' values, written
//
// Work      Blocks stay and take tiles as they come. out[i] is what lies before value i, so that both are aligned as
//           one; the last value's thread also writes what follows it. All go in 16 bytes where they can.
// Limits    Waiting for other blocks' sums: 38 % of a copy for 33,554,432 i32 on an H200.
// Config    facts: Value, Result (element types), Sum (u32, u64 or double), kRereads (a tile is several parts).
//           knobs: kThreads, kAccesses (of 16 bytes of values, a thread), kMinBlocks.
#pragma once
#include "params/jagged_lengths.h"
#include "tile/block_scan.cuh"
#include "tile/launch_board.cuh"
#include "tile/piece.cuh"

namespace hstu {

namespace cumsum_tiles {

template <class Config>
struct Storage {
  using Sum = typename Config::Sum;
  Sum warp_sums[Config::kThreads / 32];
  Sum before;
  u32 tile, alone;  // the next tile; whether one block does all
  tile::Board board;
  tile::OwnBoard own;
};

// A part of a tile: the values of one thread, and their sums.
template <class Config>
class Part {
  using Value = typename Config::Value;
  using Result = typename Config::Result;
  using Sum = typename Config::Sum;
  enum : int { kAccesses = Config::kAccesses, kWarps = Config::kThreads / 32, kVector = 16 / sizeof(Value) };

 public:
  enum : int { kValues = Config::kThreads * kAccesses * kVector };

  HSTU_PRIM void load(const CumsumTilesParams& p, i64 begin) {
    const i64 first = first_of_thread(begin);
    const Value* const values = prim::settled(static_cast<const Value*>(p.values) + first);
    if (begin + kValues <= p.count && reinterpret_cast<u64>(values) % 16 == 0) {
#pragma unroll
      for (int a = 0; a < kAccesses; ++a) data_[a].quad = prim::ld_global(values + at(a));
    } else {
      const i32 left = left_of(p, first);
#pragma unroll
      for (int a = 0; a < kAccesses; ++a) {
#pragma unroll
        for (int v = 0; v < kVector; ++v)
          data_[a].value[v] = at(a) + v < left ? values[at(a) + v] : static_cast<Value>(0);
      }
    }
  }

  // The thread's sum.
  HSTU_PRIM Sum sum() const {
    Sum sum = 0;
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
#pragma unroll
      for (int v = 0; v < kVector; ++v) sum += static_cast<Sum>(data_[a].value[v]);
    }
    return sum;
  }

  // Sums of the block's values before each access of the thread's, and of all; ends behind a barrier, and warp_sums may
  // be written again behind the next.
  HSTU_PRIM Sum scan(Sum* warp_sums) {
    const u32 lane = prim::lane_id(), warp = threadIdx.x / 32;
    Sum of_warp = 0;
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      Sum sum = 0;
#pragma unroll
      for (int v = 0; v < kVector; ++v) sum += static_cast<Sum>(data_[a].value[v]);
      tile::add_before(sum, lane);
      const Sum below = __shfl_up_sync(prim::kFullWarp, sum, 1);
      before_[a] = of_warp + (lane == 0 ? Sum{0} : below);
      of_warp += __shfl_sync(prim::kFullWarp, sum, 31);
    }
    if (lane == 31) warp_sums[warp] = of_warp;
    __syncthreads();
    Sum of_warps = lane < kWarps ? warp_sums[lane] : Sum{0};
    tile::add_before(of_warps, lane);
    const Sum total = __shfl_sync(prim::kFullWarp, of_warps, 31);
    of_warps = __shfl_sync(prim::kFullWarp, of_warps, (warp + 31) % 32);
    if (warp == 0) of_warps = 0;
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) before_[a] += of_warps;
    return total;
  }

  HSTU_PRIM void store(const CumsumTilesParams& p, i64 begin, Sum before_part) const {
    const i64 first = first_of_thread(begin);
    const i32 left = left_of(p, first);
    Result* const out = prim::settled(static_cast<Result*>(p.out) + first);
    const bool in_pieces = begin + kValues <= p.count && reinterpret_cast<u64>(out) % 16 == 0;
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      Sum sum = before_part + before_[a];
      Results results;
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        results.value[v] = static_cast<Result>(sum);
        sum += static_cast<Sum>(data_[a].value[v]);
        if (!in_pieces && at(a) + v < left) out[at(a) + v] = results.value[v];
      }
      if (at(a) + kVector >= left && at(a) < left) out[left] = static_cast<Result>(sum);  // behind the last are zeros
      if (in_pieces) {
#pragma unroll
        for (int q = 0; q < kQuads; ++q) prim::st_global(out + at(a) + q * (kVector / kQuads), results.quad[q]);
      }
    }
  }

 private:
  enum : int { kQuads = sizeof(Result) / sizeof(Value) };
  union Values {
    prim::Quad quad;
    Value value[kVector];
  };
  union Results {
    prim::Quad quad[kQuads];
    Result value[kVector];
  };
  HSTU_PRIM static i64 first_of_thread(i64 begin) {
    return begin + threadIdx.x / 32 * (32 * kAccesses * kVector) + threadIdx.x % 32 * kVector;
  }
  // Values from there on, at most one more than a part has.
  HSTU_PRIM static i32 left_of(const CumsumTilesParams& p, i64 first) {
    return static_cast<i32>(min(p.count - first, i64{kValues} + 1));
  }
  HSTU_PRIM static int at(int access) { return access * (32 * kVector); }  // of the thread

  Values data_[kAccesses];
  Sum before_[kAccesses];
};

}  // namespace cumsum_tiles

template <class Config>
constexpr int cumsum_tiles_sm80_smem_bytes = static_cast<int>(sizeof(cumsum_tiles::Storage<Config>));

namespace cumsum_tiles {

// What the blocks do until no tile is left; each thread's.
template <class Config>
class Tiles {
  using Sum = typename Config::Sum;

  const CumsumTilesParams& p_;
  Storage<Config>& storage_;
  tile::BoardTaker taker_;  // of the first thread

 public:
  HSTU_PRIM Tiles(const CumsumTilesParams& p, unsigned char* smem)
      : p_(p),
        storage_(*reinterpret_cast<Storage<Config>*>(smem)),
        taker_(static_cast<LaunchMemory*>(p.tile_counters)) {}

  HSTU_PRIM void run() {
    if (is_first()) {
      storage_.board = tile::Board(storage_.own);
      taker_.claim();
      storage_.tile = taker_.take() - gridDim.x;
    }
    __syncthreads();
    const u32 first = storage_.tile;
    if (first >= p_.tiles) return leave();
    take_tiles(first);
  }

 private:
  HSTU_PRIM static bool is_first() { return threadIdx.x == 0; }
  HSTU_PRIM void leave() {
    if (is_first()) taker_.leave();
  }
  HSTU_PRIM void find_board() {
    if (is_first()) storage_.alone = !taker_.find(storage_.board);
  }
  HSTU_PRIM u32 next(u32 tile) const { return storage_.alone ? tile + 1 : taker_.take() - gridDim.x; }

  // What lies before it, to all threads; ends behind a barrier.
  HSTU_PRIM Sum before(u32 tile, Sum sum) {
    if (threadIdx.x < 32) {
      const Sum before = storage_.board.before(tile, sum);
      if (is_first()) storage_.before = before;
    }
    __syncthreads();
    return storage_.before;
  }

  HSTU_PRIM i64 begin_of(u32 tile, int part) const {
    return (static_cast<i64>(tile) * (Config::kRereads ? p_.tile_parts : 1) + part) * Part<Config>::kValues;
  }

  HSTU_PRIM void take_tiles(u32 first) {
    bool asked = false;
    for (u32 tile = first; tile < p_.tiles; asked = true) {
      Part<Config> part;
      part.load(p_, begin_of(tile, 0));
      if (!asked) find_board();
      const u32 following = is_first() ? next(tile) : 0;
      const Sum sum = Config::kRereads ? sum_of_parts(part, tile) : part.scan(storage_.warp_sums);
      if (storage_.alone && !asked && tile != 0) return leave();
      if (is_first()) {
        storage_.board.post(tile, sum);
        storage_.tile = following;
      }
      Sum before_part = before(tile, sum);
      if (storage_.tile >= p_.tiles) leave();
      if constexpr (Config::kRereads)
        store_parts(tile, before_part);
      else
        part.store(p_, begin_of(tile, 0), before_part);
      tile = storage_.tile;
    }
  }

  // Of a whole tile, whose first part is loaded; ends behind a barrier.
  HSTU_PRIM Sum sum_of_parts(Part<Config>& part, u32 tile) {
    Sum thread_sum = 0, sum = 0;
    for (int i = 1; i < p_.tile_parts; ++i) {
      Part<Config> further;  // on its way while the one before is added up
      further.load(p_, begin_of(tile, i));
      thread_sum += part.sum();
      part = further;
    }
    thread_sum += part.sum();
    tile::sum_before<Config::kThreads>(thread_sum, sum, storage_.warp_sums);
    return sum;
  }
  HSTU_PRIM void store_parts(u32 tile, Sum before_part) {
    for (int i = 0; i < p_.tile_parts; ++i) {
      Part<Config> part;
      part.load(p_, begin_of(tile, i));
      const Sum of_part = part.scan(storage_.warp_sums);
      part.store(p_, begin_of(tile, i), before_part);
      before_part += of_part;
      __syncthreads();
    }
  }
};

}  // namespace cumsum_tiles

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    cumsum_tiles_sm80(const __grid_constant__ CumsumTilesParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  cumsum_tiles::Tiles<Config>(p, smem).run();
}

}  // namespace hstu
