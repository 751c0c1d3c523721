// The relative bias of positions and times, sm80: rab[i, j] = position_weights[n - 1 + j - i] + time_weights[bucket(
// t_(i + 1) - t_j)], in f32, rounded once. Bound by the writes of rab, if few instructions make an element.
//
// Work      A block takes some rows of some columns, its warps side by side as far as the row goes and then one below
//           the other. A warp writes 128 bytes of several rows at once: the squarer its piece, the fewer of them the
//           diagonal crosses, where ages of one piece lie in many buckets. A thread makes kStep rows by kVector columns
//           at once and kRows in all, between which lie those of the warp's other rows.
// Near      Times of a block that lie within 2^30 become 32-bit differences to one of them, in shared memory. The ages
//           of a thread's piece lie between two bounds: their bucket is looked up once, and an element takes one
//           comparison with the edge to the next, or none where no piece of the warp has an edge. Only a piece with
//           two edges or more looks up each element. Differences have signs, and buckets on both sides of 0, called
//           steps: an edge is where a step begins.
// Far       Other blocks look up each element by 64-bit differences.
// Buckets   From the approximate logarithm comes a bucket that is right or one too low; the least age of the next one,
//           which the host computes from the definition, decides. Ages are exact differences, rounded to float once.
// Barriers  one __syncthreads: tables and times are in shared memory.
// Config    facts: Element (rab), Table (weights), kVector (elements of an aligned access to rab).
//           knobs: kThreads, kRows (of a piece).
// Sources   meta-recsys/generative-recommenders, research, RelativeBucketedTimeAndPositionBasedBias.
#pragma once
#include "attention/time_buckets.cuh"

namespace hstu {

namespace rel_bias {

enum : int { kStep = 4 };  // rows at once: 8 look up less often, but more of their pieces have edges

struct Step {
  int begin;  // the least difference in it
  float weight;
};

// Ages from `limit` on lie behind the bucket, and have the next one's weight.
struct alignas(16) Bucket {
  float limit, weight, next_weight;
};

template <class Config>
struct Storage {
  enum : int { kMostRows = Config::kRows * Config::kThreads / 8 };
  enum : int { kMostColumns = 128 / sizeof(typename Config::Element) * (Config::kThreads / 32) };
  Bucket bucket[kBuckets];
  Step step[kSteps];
  int time[kMostRows + kMostColumns];  // of rows, whose is the next item's, and behind these of columns
};

// A block's piece of a head's matrix.
struct Area {
  int head, first_row, rows, first_column, columns;  // rows and columns: that exist
  int row_slots;                                     // in the storage, a multiple of 8
};

HSTU_PRIM float weight_of(const Bucket* bucket, float age) {
  constexpr u32 kBytes = sizeof(Bucket);
  const prim::Quad found =
      prim::ld_shared(shifted_bucket(age) * kBytes + (prim::smem_addr(bucket) - kShiftBits * kBytes));
  return __uint_as_float(age < __uint_as_float(found.word[0]) ? found.word[1] : found.word[2]);
}

// `zero`: step 0.
HSTU_PRIM const Step* step_of(const Step* zero, int difference) {
  const int bucket = static_cast<int>(shifted_bucket(fabsf(__int2float_rn(difference))) - kShiftBits);
  const Step* step = zero + (difference < 0 ? ~bucket : bucket);
  return step + (difference >= step[1].begin);
}

// Returns whether the block's times are near each other; only then all of the storage is filled.
template <class Config>
HSTU_PRIM bool fill(const RelBiasParams& p, const i64* times, const Area& area, Storage<Config>& to) {
  using Table = typename Config::Table;
  enum : int { kThreads = Config::kThreads, kParts = (kBuckets + kThreads - 1) / kThreads, kAtOnce = 3 };
  const int rank = static_cast<int>(threadIdx.x), count = area.row_slots + area.columns;
  const auto* weights = static_cast<const Table*>(p.time_weights) + area.head * p.time_weights_head_stride;
  const i64 base = times[area.first_column];
  float weight[kParts], next_weight[kParts];
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    weight[i] = weight_at(weights, min(rank + i * kThreads, p.last_bucket));
    next_weight[i] = weight_at(weights, min(rank + i * kThreads + 1, p.last_bucket));
  }
  bool near = is_inside(base);
#pragma unroll 1
  for (int begin = rank; begin < count; begin += kAtOnce * kThreads) {
    i64 time[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int row = min(begin + i * kThreads, area.rows - 1), column = begin + i * kThreads - area.row_slots;
      time[i] = times[column < 0 ? min(area.first_row + row + 1, p.positions - 1)
                                 : area.first_column + min(column, area.columns - 1)];
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int from_base = difference(time[i], base, near);
      if (begin + i * kThreads < count) to.time[begin + i * kThreads] = from_base;
    }
  }
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    const int bucket = rank + i * kThreads, up = bucket - RelBiasParams::kLeastStep, down = up - 2 * bucket;
    if (bucket < kBuckets) to.bucket[bucket] = {p.limit[bucket], weight[i], next_weight[i]};
    if (up < kSteps) to.step[up] = {p.step_begin[up], weight[i]};
    if (down >= 0) to.step[down] = {p.step_begin[down], weight[i]};
  }
  return __syncthreads_and(near);
}

template <class Config>
HSTU_PRIM void store_row(typename Config::Element* to, const float (&sum)[Config::kVector]) {
  tile::RowPack<typename Config::Element, Config::kVector> pack;
  tile::pack(pack, sum);
  tile::store(to, pack);
}

// Some rows of a thread's columns, each element's bucket looked up: weight(row, v).
template <class Config, class Weight>
HSTU_PRIM void write_each(const typename Config::Table* position, typename Config::Element* to, i64 stride, int rows,
                          Weight weight) {
#pragma unroll 1
  for (int r = 0; r < rows; ++r, to += stride, --position) {
    float sum[Config::kVector];
#pragma unroll
    for (int v = 0; v < Config::kVector; ++v) sum[v] = weight_at(position, v) + weight(r, v);
    store_row<Config>(to, sum);
  }
}

// kStep rows of whose ages none is below `step`, nor behind the next one. Elements along a diagonal share their sums.
template <class Config, bool kEdge>
HSTU_PRIM void write_rows(const typename Config::Table* position, typename Config::Element* to, i64 stride,
                          const int (&time)[Config::kVector], const int (&next)[kStep], const Step* step) {
  enum : int { kVector = Config::kVector, kDiagonals = kVector + kStep - 1 };
  float below[kDiagonals], above[kDiagonals];  // the last row's first
#pragma unroll
  for (int d = 0; d < kDiagonals; ++d) {
    const float weight = weight_at(position, d - (kStep - 1));
    below[d] = weight + step[0].weight;
    above[d] = weight + step[1].weight;
  }
#pragma unroll
  for (int r = 0; r < kStep; ++r, to += stride) {
    float sum[kVector];
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      const int d = kStep - 1 - r + v;
      sum[v] = kEdge && time[v] <= next[r] - step[1].begin ? above[d] : below[d];
    }
    store_row<Config>(to, sum);
  }
}

// kRows rows of the kVector columns from `column` of the block's area on: kStep from `first` on, and as many every
// `stride` rows. For all lanes of a warp together.
template <class Config>
HSTU_PRIM void write_near(const RelBiasParams& p, const Storage<Config>& storage, const Area& area,
                          typename Config::Element* to, const typename Config::Table* position, int first, int stride,
                          int column) {
  enum : int { kVector = Config::kVector };
  const Step* const zero = storage.step - RelBiasParams::kLeastStep;
  int time[kVector], least_time, most_time;
#pragma unroll
  for (int v = 0; v < kVector; ++v) time[v] = storage.time[area.row_slots + column + v];
  bounds(time, least_time, most_time);
  int left = column < area.columns ? area.rows - first : 0;  // rows from `first` on
  const int* next_time = storage.time + first;
  const i64 stride_elements = stride * p.rab_row_stride;
#pragma unroll 1
  for (int group = 0; group < Config::kRows / kStep; ++group) {
    bool edge = false, edges = true;  // one in the piece; more, or not all of its rows exist
    int next[kStep];
    const Step* step = zero;
    if (left >= kStep) {
      int least, most;
#pragma unroll
      for (int r = 0; r < kStep; ++r) next[r] = next_time[r];
      bounds(next, least, most);
      step = step_of(zero, least - most_time);
      edge = most - least_time >= step[1].begin;
      edges = most - least_time >= step[2].begin;
    }
    edge = __any_sync(prim::kFullWarp, edge);
    if (edges)
      write_each<Config>(position, to, p.rab_row_stride, min(left, int{kStep}), [&](int r, int v) {
        return weight_of(storage.bucket, fabsf(__int2float_rn(next_time[r] - time[v])));
      });
    else if (edge)
      write_rows<Config, true>(position, to, p.rab_row_stride, time, next, step);
    else
      write_rows<Config, false>(position, to, p.rab_row_stride, time, next, step);
    left -= stride;
    next_time += stride;
    position -= stride;
    to += stride_elements;
  }
}

// The same of times far from each other, up to row `end`.
template <class Config>
HSTU_PRIM void write_far(const RelBiasParams& p, const Bucket* bucket, const i64* times, typename Config::Element* to,
                         const typename Config::Table* position, int row, int end, int stride, int column) {
#pragma unroll 1
  for (int group = 0; group < Config::kRows / kStep; ++group) {
    write_each<Config>(position, to, p.rab_row_stride, min(end - row, int{kStep}), [&](int r, int v) {
      const i64 next = times[min(row + r + 1, p.positions - 1)];
      return weight_of(bucket, age_of(next, times[column + v]));
    });
    row += stride;
    position -= stride;
    to += stride * p.rab_row_stride;
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
constexpr int rel_bias_sm80_smem_bytes = static_cast<int>(sizeof(rel_bias::Storage<Config>));

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, rel_bias_min_blocks<Config>)
    rel_bias_sm80(const __grid_constant__ RelBiasParams p) {
  using namespace rel_bias;
  extern __shared__ __align__(1024) unsigned char smem[];
  auto& storage = *reinterpret_cast<Storage<Config>*>(smem);
  const int lane = static_cast<int>(threadIdx.x % 32), lanes = 1 << p.lane_bits, groups = 32 >> p.lane_bits;
  const int warp = static_cast<int>(threadIdx.x / 32), across = 1 << p.warp_bits,
            down = Config::kThreads / 32 >> p.warp_bits;
  const u32 wave = gridDim.x == p.strips ? 0 : blockIdx.x / p.strips, strip = blockIdx.x - wave * p.strips;
  const u32 pair = wave * gridDim.z + blockIdx.z;
  if (pair >= p.pairs) return;
  const int seq = static_cast<int>(p.heads == 1 ? pair : pair / static_cast<u32>(p.heads));
  Area area;
  area.head = static_cast<int>(pair) - seq * p.heads;
  const int block_rows = Config::kRows * groups * down;
  area.first_row = static_cast<int>(blockIdx.y) * block_rows;
  area.rows = min(block_rows, p.positions - area.first_row);
  area.row_slots = (area.rows + 7) & ~7;
  area.first_column = static_cast<int>(strip) * across * lanes * Config::kVector;
  area.columns = min(across * lanes * Config::kVector, p.positions - area.first_column);
  const i64* times = p.timestamps + seq * p.timestamps_row_stride;
  const int column = ((warp & (across - 1)) * lanes + (lane & (lanes - 1))) * Config::kVector;
  const int stride = groups * kStep;
  const int first = (warp >> p.warp_bits) * Config::kRows * groups + (lane >> p.lane_bits) * kStep;
  const int row = area.first_row + first, first_column = area.first_column + column;
  auto* to = static_cast<typename Config::Element*>(p.rab) + seq * p.rab_batch_stride + area.head * p.rab_head_stride +
             row * p.rab_row_stride + first_column;
  const auto* position = static_cast<const typename Config::Table*>(p.position_weights) +
                         area.head * p.position_weights_head_stride + (p.positions - 1 + first_column - row);
  if (fill<Config>(p, times, area, storage))
    write_near<Config>(p, storage, area, to, position, first, stride, column);
  else if (column < area.columns)
    write_far<Config>(p, storage.bucket, times, to, position, row, area.first_row + area.rows, stride, first_column);
}

}  // namespace hstu
