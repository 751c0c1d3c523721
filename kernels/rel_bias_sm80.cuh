// The relative bias of positions and times, sm80: rab[i, j] = position_weights[n - 1 + j - i] + time_weights[bucket(
// t_(i + 1) - t_j)], in f32, rounded once. Bound by the writes of rab, if few instructions make an element.
//
// Work      A thread makes pieces of kRows rows by kVector columns, a few rows at once. The weights of positions move
//           by one from row to row and stay in registers; so do the columns' times, as 32-bit differences to the first
//           where they fit. Times in order, as they mostly are, have their youngest and oldest at a row's ends: where
//           these lie in one bucket or in neighbouring ones, an element takes one comparison. Otherwise each finds its
//           bucket. The loop over rows is rolled: unrolled, its code ran at two thirds of the speed.
// Buckets   From the approximate logarithm comes a bucket that is right or one too low; the least age of the next one,
//           which the host computes from the definition, decides. Ages are exact differences, rounded to float once.
// Barriers  one __syncthreads: the tables of buckets are in shared memory.
// Config    facts: Element (rab), Table (weights), kVector (elements of an aligned access to rab).
//           knobs: kThreads, kRows (of a piece).
// Sources   meta-recsys/generative-recommenders, research, RelativeBucketedTimeAndPositionBasedBias.
#pragma once
#include "params/rel_bias.h"
#include "prim/math.cuh"
#include "tile/row_pack.cuh"

namespace hstu {

namespace rel_bias {

enum : int { kStep = 4 };  // rows at once
enum : int { kBuckets = RelBiasParams::kBuckets, kNearBuckets = RelBiasParams::kNearBuckets };

// limit[k], near[k]: ages from there on lie behind bucket k.
struct Tables {
  float limit[kBuckets], weight[kBuckets];
  int near[kNearBuckets];
};

template <class Table>
HSTU_PRIM float weight_at(const void* table, i64 index) {
  tile::RowPack<Table, 1> pack;
  float weight[1];
  tile::load(pack, static_cast<const Table*>(table) + index);
  tile::unpack(weight, pack);
  return weight[0];
}

template <class Config>
HSTU_PRIM void fill_tables(const RelBiasParams& p, int head, Tables& tables) {
  for (int k = static_cast<int>(threadIdx.x); k < kBuckets; k += Config::kThreads) {
    tables.limit[k] = k + 1 < kBuckets ? p.least_age[k + 1] : __uint_as_float(0x7f800000u);
    tables.weight[k] =
        weight_at<typename Config::Table>(p.time_weights, head * p.time_weights_head_stride + min(k, p.last_bucket));
    if (k < kNearBuckets) tables.near[k] = k + 1 < kNearBuckets ? p.least_near[k + 1] : RelBiasParams::kNear;
  }
}

// age: at least 0. A little less than ln(2) / 0.301 buckets a doubling, so that rounding never leads too high; the sum
// with 2^23, rounded down, has the bucket as its low bits.
HSTU_PRIM int bucket_of(const Tables& tables, float age) {
  constexpr float kBucketsPerDoubling = 2.302812f, kShift = 8388608.0f;
  const float shifted = __fmaf_rz(prim::lg2_approx(fmaxf(age, 1.0f)), kBucketsPerDoubling, kShift);
  const int bucket = __float_as_int(shifted) - 0x4b000000;
  return bucket + (age >= tables.limit[bucket]);
}

// The difference of times, if it is so small that those of two such are nearer than kNear; unsigned inside, as it may
// pass 64 bits with a sign.
HSTU_PRIM int difference(i64 time, i64 base, bool& near) {
  constexpr i64 kMost = RelBiasParams::kNear / 2;
  const auto exact = static_cast<i64>(static_cast<u64>(time) - static_cast<u64>(base));
  near &= exact > -kMost && exact < kMost;
  return static_cast<int>(exact);
}

// What a thread knows of its columns: times about that of the first.
template <class Config>
struct Columns {
  enum : int { kVector = Config::kVector };
  const i64* times;  // of the first column
  i64 base;
  int at[kVector];
  bool near, ordered;  // the differences fit; they rise or fall

  HSTU_PRIM explicit Columns(const i64* first) : times(first), base(*first), near(true) {
    bool rises = true, falls = true;
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      at[v] = difference(first[v], base, near);
      if (v > 0) rises &= at[v] >= at[v - 1], falls &= at[v] <= at[v - 1];
    }
    ordered = rises || falls;
  }

  // The weights of times in a row whose next item's time is `next` about the base.
  HSTU_PRIM void weigh_near(const Tables& tables, int next, float (&weight)[kVector]) const {
    const int first = next - at[0], last = next - at[kVector - 1];
    const int first_bucket = bucket_of(tables, fabsf(__int2float_rn(first)));
    const int last_bucket = bucket_of(tables, fabsf(__int2float_rn(last)));
    const int low = min(first_bucket, last_bucket), high = max(first_bucket, last_bucket);
    if (ordered && (first ^ last) >= 0 && high - low <= 1) {
      // Ages from the limit on are old: of columns before the next item, those up to an edge; of later ones the others.
      const int limit = tables.near[low], edge = first >= 0 ? next - limit : next + limit - 1;
      const float young = tables.weight[low], old = tables.weight[high];
      const float up_to_edge = first >= 0 ? old : young, beyond = first >= 0 ? young : old;
#pragma unroll
      for (int v = 0; v < kVector; ++v) weight[v] = at[v] <= edge ? up_to_edge : beyond;
    } else {
#pragma unroll
      for (int v = 0; v < kVector; ++v)
        weight[v] = tables.weight[bucket_of(tables, fabsf(__int2float_rn(next - at[v])))];
    }
  }
  // The same for times too far apart.
  HSTU_PRIM void weigh_far(const Tables& tables, i64 next, float (&weight)[kVector]) const {
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      const u64 age = static_cast<u64>(next) - static_cast<u64>(times[v]);
      weight[v] = tables.weight[bucket_of(tables, __ull2float_rn(static_cast<i64>(age) < 0 ? ~age + 1 : age))];
    }
  }
  HSTU_PRIM void weigh(const Tables& tables, i64 next, float (&weight)[kVector]) const {
    bool all_near = near;
    const int about_base = difference(next, base, all_near);
    if (all_near)
      weigh_near(tables, about_base, weight);
    else
      weigh_far(tables, next, weight);
  }
};

// Rows [first, first + kRows) of the columns from `column`.
template <class Config>
HSTU_PRIM void write_piece(const RelBiasParams& p, const Tables& tables, const i64* times,
                           typename Config::Element* rab, int head, int first, int column) {
  using Table = typename Config::Table;
  constexpr int kVector = Config::kVector;
  const Columns<Config> columns(times + column);
  const i64 table = head * p.position_weights_head_stride;
  float position[kVector + kStep];               // weights, the last row's first; behind them the rows' before
  int index = p.positions - 1 + column - first;  // of the next row's first weight
#pragma unroll
  for (int v = 1; v < kVector; ++v) position[v - 1] = weight_at<Table>(p.position_weights, table + index + v);
#pragma unroll 1
  for (int row = first; row < min(first + Config::kRows, p.positions); row += kStep, index -= kStep) {
#pragma unroll
    for (int v = kVector - 2; v >= 0; --v) position[v + kStep] = position[v];
    i64 next[kStep];
#pragma unroll
    for (int r = 0; r < kStep; ++r) {
      position[kStep - 1 - r] = weight_at<Table>(p.position_weights, table + max(index - r, 0));
      next[r] = times[min(row + r + 1, p.positions - 1)];
    }
#pragma unroll
    for (int r = 0; r < kStep; ++r) {
      float sum[kVector];
      columns.weigh(tables, next[r], sum);
#pragma unroll
      for (int v = 0; v < kVector; ++v) sum[v] += position[kStep - 1 - r + v];
      tile::RowPack<typename Config::Element, kVector> pack;
      tile::pack(pack, sum);
      if (row + r < p.positions) tile::store(rab + (row + r) * p.rab_row_stride + column, pack);
    }
  }
}

}  // namespace rel_bias

template <class Config>
constexpr int rel_bias_sm80_smem_bytes = static_cast<int>(sizeof(rel_bias::Tables));

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    rel_bias_sm80(const __grid_constant__ RelBiasParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  auto& tables = *reinterpret_cast<rel_bias::Tables*>(smem);
  const u32 pair = blockIdx.x / p.blocks_per_pair, block = blockIdx.x - pair * p.blocks_per_pair;
  const int seq = static_cast<int>(pair / p.heads), head = static_cast<int>(pair - seq * p.heads);
  rel_bias::fill_tables<Config>(p, head, tables);
  __syncthreads();
  const i64* times = p.timestamps + seq * p.timestamps_row_stride;
  auto* rab = static_cast<typename Config::Element*>(p.rab) + seq * p.rab_batch_stride + head * p.rab_head_stride;
  const u32 piece = block * Config::kThreads + threadIdx.x;
  if (piece >= p.pieces) return;
  const u32 rows = piece / p.column_groups, group = piece - rows * p.column_groups;
  rel_bias::write_piece<Config>(p, tables, times, rab, head, static_cast<int>(rows) * Config::kRows,
                                static_cast<int>(group) * Config::kVector);
}

}  // namespace hstu
