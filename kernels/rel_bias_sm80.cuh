// The relative bias of positions and times, sm80: rab[i, j] = position_weights[n - 1 + j - i] + time_weights[bucket(
// t_(i + 1) - t_j)], in f32, rounded once. Bound by the writes of rab, if few instructions make an element.
//
// Work      A block takes a strip of columns, its warps as many rows each, one below the other: so the warps of a block
//           are all near the diagonal, where each element finds its bucket for itself, or none is. A warp writes 128
//           bytes of several rows at once: the squarer its piece, the fewer of them the diagonal crosses. A thread
//           makes kStep rows by kVector columns at once and kRows in all, between which lie those of the warp's other
//           rows. The columns' times stay in registers, as 32-bit differences to the first where they fit. Where the
//           ages of columns and rows lie in two neighbouring buckets, the edge between these is found once and holds
//           until a row's time is too far from there: an element takes one comparison. The loop over rows is rolled:
//           unrolled, its code ran at two thirds of the speed.
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

// What a thread knows of its columns: times about that of the first; and the edge between two buckets that all of them
// lie in, for next items whose times are not far from where it was found. Differences of times are told apart with
// their signs: step s of them has those of bucket |s|, and begins at edge(s).
template <class Config>
class Columns {
  enum : int { kVector = Config::kVector };
  const i64* const times_;  // of the first column, read again where that is rare: registers are short
  int at_[kVector];
  bool near_ = true;             // the differences fit
  u64 from_ = 0;                 // the first time of a next item for which the edge holds,
  u32 span_ = 0;                 // how many of them there are,
  int edge_ = 0;                 // and the last column above the edge when it is `from_`, by its time
  float below_ = 0, above_ = 0;  // weights of the two buckets

  HSTU_PRIM static int step_of(const Tables& tables, int difference) {
    const int bucket = bucket_of(tables, fabsf(__int2float_rn(difference)));
    return difference < 0 ? -bucket : bucket;
  }
  HSTU_PRIM static int edge(const Tables& tables, int step) {
    return step > 0 ? tables.near[step - 1] : 1 - tables.near[-step];
  }
  HSTU_PRIM u64 since(i64 next) const { return static_cast<u64>(next) - from_; }

 public:
  HSTU_PRIM explicit Columns(const i64* first) : times_(first) {
#pragma unroll
    for (int v = 0; v < kVector; ++v) at_[v] = difference(first[v], first[0], near_);
  }

  template <int Count>
  HSTU_PRIM bool has_edge(const i64 (&next)[Count]) const {
    bool all = true;
#pragma unroll
    for (const i64 time : next) all &= since(time) < span_;
    return all;
  }

  // Finds the edge for next items, if they and the columns are not too far apart.
  template <int Count>
  HSTU_PRIM void find_edge(const Tables& tables, const i64 (&next)[Count]) {
    bool all_near = near_;
    const i64 base = times_[0];
    int first_column = at_[0], last_column = at_[0];  // by time
#pragma unroll
    for (int v = 1; v < kVector; ++v) {
      first_column = min(first_column, at_[v]);
      last_column = max(last_column, at_[v]);
    }
    int least = difference(next[0], base, all_near), most = least;
#pragma unroll
    for (int r = 1; r < Count; ++r) {
      const int about_base = difference(next[r], base, all_near);
      least = min(least, about_base);
      most = max(most, about_base);
    }
    span_ = 0;
    if (!all_near) return;
    const int step = step_of(tables, least - last_column);
    if (step_of(tables, most - first_column) - step > 1) return;
    const int begin = edge(tables, step) + last_column, end = edge(tables, step + 2) + first_column;
    from_ = static_cast<u64>(base) + static_cast<u64>(static_cast<i64>(begin));
    span_ = static_cast<u32>(max(end - begin, 0));
    edge_ = begin - edge(tables, step + 1);
    below_ = tables.weight[abs(step)];
    above_ = tables.weight[abs(step + 1)];
  }

  // Adds the weights of times in a row whose next item's time is `next` and has the edge.
  HSTU_PRIM void add_by_edge(float (&sum)[kVector], i64 next) const {
    const int last_above = static_cast<int>(static_cast<u32>(since(next))) + edge_;
#pragma unroll
    for (int v = 0; v < kVector; ++v) sum[v] += at_[v] <= last_above ? above_ : below_;
  }
  // The same, each column's bucket for itself.
  HSTU_PRIM void add_each(float (&sum)[kVector], const Tables& tables, i64 next) const {
    bool all_near = near_;
    const int about_base = difference(next, times_[0], all_near);
    if (all_near) {
#pragma unroll
      for (int v = 0; v < kVector; ++v)
        sum[v] += tables.weight[bucket_of(tables, fabsf(__int2float_rn(about_base - at_[v])))];
    } else {
#pragma unroll 2
      for (int v = 0; v < kVector; ++v) {
        const u64 age = static_cast<u64>(next) - static_cast<u64>(times_[v]);
        sum[v] += tables.weight[bucket_of(tables, __ull2float_rn(static_cast<i64>(age) < 0 ? ~age + 1 : age))];
      }
    }
  }
};

template <class Config>
HSTU_PRIM void store_row(typename Config::Element* to, const float (&sum)[Config::kVector]) {
  tile::RowPack<typename Config::Element, Config::kVector> pack;
  tile::pack(pack, sum);
  tile::store(to, pack);
}

// kRows rows of the columns from `column`: kStep from `first` on, and as many every `stride` rows.
template <class Config>
HSTU_PRIM void write_piece(const RelBiasParams& p, const Tables& tables, const i64* times,
                           typename Config::Element* rab, int head, int first, int stride, int column) {
  using Table = typename Config::Table;
  constexpr int kVector = Config::kVector;
  Columns<Config> columns(times + column);
  const i64 table = head * p.position_weights_head_stride;
#pragma unroll 1
  for (int turn = 0; turn < Config::kRows / kStep; ++turn) {
    const int row = first + turn * stride, index = p.positions - 1 + column - row;  // of the row's first weight
    if (row >= p.positions) break;
    auto* to = rab + row * p.rab_row_stride + column;
    bool by_edge = false;
    i64 next[kStep];
    float position[kVector + kStep - 1];  // weights, the last row's first
    if (row + kStep <= p.positions) {
#pragma unroll
      for (int v = 0; v < kVector + kStep - 1; ++v)
        position[v] = weight_at<Table>(p.position_weights, table + index - (kStep - 1) + v);
#pragma unroll
      for (int r = 0; r < kStep; ++r) next[r] = times[min(row + r + 1, p.positions - 1)];
      by_edge = columns.has_edge(next);
      if (!by_edge) {
        columns.find_edge(tables, next);
        by_edge = columns.has_edge(next);
      }
    }
    if (by_edge) {
#pragma unroll
      for (int r = 0; r < kStep; ++r, to += p.rab_row_stride) {
        float sum[kVector];
#pragma unroll
        for (int v = 0; v < kVector; ++v) sum[v] = position[kStep - 1 - r + v];
        columns.add_by_edge(sum, next[r]);
        store_row<Config>(to, sum);
      }
    } else {
#pragma unroll 1
      for (int r = 0; r < min(kStep, p.positions - row); ++r, to += p.rab_row_stride) {
        float sum[kVector];
#pragma unroll
        for (int v = 0; v < kVector; ++v) sum[v] = weight_at<Table>(p.position_weights, table + index - r + v);
        columns.add_each(sum, tables, times[min(row + r + 1, p.positions - 1)]);
        store_row<Config>(to, sum);
      }
    }
  }
}

}  // namespace rel_bias

// Compiled for sm_80, the registers of more blocks do not suffice by a few bytes.
#if __CUDA_ARCH__ >= 900
template <class Config>
constexpr int rel_bias_min_blocks = Config::kMinBlocks;
#else
template <class Config>
constexpr int rel_bias_min_blocks = 1;
#endif

template <class Config>
constexpr int rel_bias_sm80_smem_bytes = static_cast<int>(sizeof(rel_bias::Tables));

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, rel_bias_min_blocks<Config>)
    rel_bias_sm80(const __grid_constant__ RelBiasParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  auto& tables = *reinterpret_cast<rel_bias::Tables*>(smem);
  const u32 pair = blockIdx.x / p.blocks_per_pair, block = blockIdx.x - pair * p.blocks_per_pair;
  const int seq = static_cast<int>(pair / p.heads), head = static_cast<int>(pair - seq * p.heads);
  rel_bias::fill_tables<Config>(p, head, tables);
  __syncthreads();
  const i64* times = p.timestamps + seq * p.timestamps_row_stride;
  auto* rab = static_cast<typename Config::Element*>(p.rab) + seq * p.rab_batch_stride + head * p.rab_head_stride;
  const u32 row_block = block / p.strips, strip = block - row_block * p.strips, lane_bits = p.lane_bits;
  const u32 lane = threadIdx.x % 32, groups = 32u >> lane_bits;
  const u32 column = (strip << lane_bits) + (lane & ((1u << lane_bits) - 1));
  const i64 first = (i64{row_block} * (Config::kThreads / 32) + threadIdx.x / 32) * (Config::kRows * groups) +
                    (lane >> lane_bits) * rel_bias::kStep;
  if (column < p.column_groups && first < p.positions)
    rel_bias::write_piece<Config>(p, tables, times, rab, head, static_cast<int>(first),
                                  static_cast<int>(groups) * rel_bias::kStep,
                                  static_cast<int>(column) * Config::kVector);
}

}  // namespace hstu
