// The relative bias of positions and times, sm80: rab[i, j] = position_weights[n - 1 + j - i] + time_weights[bucket(
// t_(i + 1) - t_j)], in f32, rounded once. Bound by the writes of rab, if few instructions make an element.
//
// Work      A thread makes pieces of kRows rows by kVector columns. The weights of positions, which move by one from
//           row to row, stay in registers; so do the columns' times, as 32-bit differences to the first where they fit.
//           Times in order, as they mostly are, have their youngest and oldest at a piece's ends: where these lie in
//           one bucket or in neighbouring ones, an element takes one comparison. Otherwise each finds its bucket.
// Buckets   From the approximate logarithm comes a bucket that is right or one too low; the least age of the next one,
//           which the host computes from the definition, decides. Ages are exact differences, rounded to float once.
// Barriers  one __syncthreads: the tables of buckets are in shared memory.
// Config    facts: Element (rab), Table (weights), kVector (elements of an aligned access to rab).
//           knobs: kThreads, kPieces (of a thread).
// Sources   meta-recsys/generative-recommenders, research, RelativeBucketedTimeAndPositionBasedBias.
#pragma once
#include "params/rel_bias.h"
#include "prim/math.cuh"
#include "tile/row_pack.cuh"

namespace hstu {

namespace rel_bias {

inline constexpr int kRows = 8;  // of a piece
inline constexpr int kBuckets = RelBiasParams::kBuckets;

// limit[k]: ages from there on lie behind bucket k.
struct Tables {
  float limit[kBuckets], weight[kBuckets];
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

// What a thread knows of a piece's columns and rows: times about that of the first column.
template <class Config>
struct Piece {
  static constexpr int kVector = Config::kVector;
  int at[kVector], next[kRows];
  float position[kVector + kRows - 1];  // weights, of the last row and first column first
  bool narrow;                          // the differences fit
  bool ordered;                         // at[] rises or falls

  HSTU_PRIM Piece(const RelBiasParams& p, const i64* times, int head, int row, int column) : narrow(true) {
    const i64 base = times[column];
    bool rises = true, falls = true;
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      at[v] = narrowed(times[column + v], base);
      if (v > 0) rises &= at[v] >= at[v - 1], falls &= at[v] <= at[v - 1];
    }
    ordered = rises || falls;
#pragma unroll
    for (int r = 0; r < kRows; ++r) next[r] = narrowed(times[min(row + r + 1, p.positions - 1)], base);
    const int first = p.positions - kRows + column - row;
#pragma unroll
    for (int m = 0; m < kVector + kRows - 1; ++m)
      position[m] = weight_at<typename Config::Table>(p.position_weights,
                                                      head * p.position_weights_head_stride + max(first + m, 0));
  }

  // The weights of times of row `r`.
  HSTU_PRIM void weigh(const Tables& tables, int r, float (&weight)[kVector]) const {
    float age[kVector];
#pragma unroll
    for (int v = 0; v < kVector; ++v) age[v] = fabsf(__int2float_rn(next[r] - at[v]));
    const bool one_side = ordered && (next[r] >= at[0]) == (next[r] >= at[kVector - 1]);
    const int first = bucket_of(tables, age[0]), last = bucket_of(tables, age[kVector - 1]);
    const int low = min(first, last), high = max(first, last);
    if (one_side && high - low <= 1) {
      const float limit = tables.limit[low], young = tables.weight[low], old = tables.weight[high];
#pragma unroll
      for (int v = 0; v < kVector; ++v) weight[v] = age[v] >= limit ? old : young;
    } else {
#pragma unroll
      for (int v = 0; v < kVector; ++v) weight[v] = tables.weight[bucket_of(tables, age[v])];
    }
  }

 private:
  // Unsigned, as differences may pass 64 bits with a sign.
  HSTU_PRIM int narrowed(i64 time, i64 base) {
    constexpr i64 kMost = i64{1} << 30;  // the difference of two such still fits
    const auto difference = static_cast<i64>(static_cast<u64>(time) - static_cast<u64>(base));
    narrow &= difference > -kMost && difference < kMost;
    return static_cast<int>(difference);
  }
};

// Times too far apart for that, element by element.
template <class Config>
HSTU_PRIM void weigh_wide(const Tables& tables, const i64* times, u64 next, int column,
                          float (&weight)[Config::kVector]) {
#pragma unroll
  for (int v = 0; v < Config::kVector; ++v) {
    const u64 age = next - static_cast<u64>(times[column + v]);
    weight[v] = tables.weight[bucket_of(tables, __ull2float_rn(static_cast<i64>(age) < 0 ? ~age + 1 : age))];
  }
}

template <class Config>
HSTU_PRIM void write_piece(const RelBiasParams& p, const Tables& tables, const i64* times,
                           typename Config::Element* rab, int head, int row, int column) {
  const Piece<Config> piece(p, times, head, row, column);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (row + r >= p.positions) return;
    float sum[Config::kVector];
    if (piece.narrow)
      piece.weigh(tables, r, sum);
    else
      weigh_wide<Config>(tables, times, static_cast<u64>(times[min(row + r + 1, p.positions - 1)]), column, sum);
#pragma unroll
    for (int v = 0; v < Config::kVector; ++v) sum[v] += piece.position[kRows - 1 - r + v];
    tile::RowPack<typename Config::Element, Config::kVector> pack;
    tile::pack(pack, sum);
    tile::store(rab + (row + r) * p.rab_row_stride + column, pack);
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
  const auto* times = reinterpret_cast<const i64*>(p.timestamps) + seq * p.timestamps_row_stride;
  auto* rab = static_cast<typename Config::Element*>(p.rab) + seq * p.rab_batch_stride + head * p.rab_head_stride;
#pragma unroll 1
  for (u32 i = 0; i < Config::kPieces; ++i) {
    const u32 piece = (block * Config::kPieces + i) * Config::kThreads + threadIdx.x;
    if (piece >= p.pieces) return;
    const u32 rows = piece / p.column_groups, group = piece - rows * p.column_groups;
    rel_bias::write_piece<Config>(p, tables, times, rab, head, static_cast<int>(rows) * rel_bias::kRows,
                                  static_cast<int>(group) * Config::kVector);
  }
}

}  // namespace hstu
