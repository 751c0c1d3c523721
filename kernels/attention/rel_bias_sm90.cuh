// The relative bias of positions and times, sm90: what rel_bias_sm80 makes, by the same buckets and steps, through
// shared memory.
//
//   a warp's times, position weights ──registers──► its own place ──► lanes: 8 rows of 16 bytes ──► tile of 32 rows of
//   256 bytes ──TMA──► rab
//
// Work      A block's warps make tiles side by side, kTiles each, one below the other. Blocks are small and follow each
//           other in the order of memory. By blocks that stay, 32 x 2048 x 2048 takes 69 us instead of 67 where they
//           deal tiles, and 85 where they take them from a counter: what is written at the same time lies apart.
// Shape     Rows of 256 bytes are written as fast as memory is set, rows of 128 take 8 % longer. A warp makes pieces of
//           32 rows and 128 bytes all the same: the squarer, the fewer of them have edges.
// Shared    memory would limit it before instructions: lanes read 16 bytes at once, no two in the same banks, and of 8
//           rows the times of columns once and the position weight of each diagonal once.
// Edges     4 rows of a lane have a step, or two of which one comparison an element decides. A lane whose 4 rows have
//           more leaves them to the whole warp, which looks up an element a lane, four such lanes at once.
// Far       Blocks with times that lie farther apart than 2^30 look up each element by 64-bit differences.
// Barriers  one __syncthreads: tables are in shared memory; where times are far, two.
// Config    facts: Element (rab), Table (weights). knobs: kThreads, kTiles, kMinBlocks.
// Tried     docs/experiments/rel_bias.md
#pragma once
#include "attention/time_buckets.cuh"
#include "prim/proxy.cuh"
#include "prim/tma.cuh"

namespace hstu {

namespace rel_bias {

template <class Config>
struct TileShape {
  enum : int { kElementBytes = sizeof(typename Config::Element), kVector = 16 / kElementBytes };
  enum : int { kLaneRows = 8, kStepRows = 4, kAcross = 8, kTileRows = kLaneRows * (32 / kAcross) };
  enum : int { kPieceColumns = kAcross * kVector, kPieces = 2, kColumns = kPieces * kPieceColumns };
  enum : int { kRowBytes = kColumns * kElementBytes, kTileBytes = kTileRows * kRowBytes };
  // Words that a warp has of times, rows before columns, and of position weights, by diagonals from the last row's
  // first on. Where a lane's begin 32 bytes from its neighbour's, every other 16 bytes lie in the words' second half.
  enum : int { kRows = kTileRows * Config::kTiles, kWords = kRows + kColumns, kWordBytes = 4 * kWords };
  enum : int { kTimeWords = kWords < kBuckets ? int{kBuckets} : int{kWords}, kTimeBytes = 4 * kTimeWords };
  enum : bool { kHalves = kVector == 8 };
  enum : int { kTableSteps = kSteps + 2 };  // the last one's neighbours are looked at
};

template <class Config>
struct TileStorage {
  using Shape = TileShape<Config>;
  enum : int { kWarps = Config::kThreads / 32 };
  unsigned char tile[kWarps][Shape::kTileBytes];
  struct Own {
    union {
      int time[Shape::kTimeWords];
      float limit[kBuckets];  // instead, where the block's times are far
    };
    float position_weight[Shape::kWords];
  } own[kWarps];
  int step_begin[Shape::kTableSteps];
  float step_weight[Shape::kTableSteps];
};

// A warp's first tile.
struct WarpPlace {
  int head, seq, row, column;
};

template <class Config>
class TileWriter {
  using Element = typename Config::Element;
  using Table = typename Config::Table;
  using Shape = TileShape<Config>;
  using Storage = TileStorage<Config>;
  enum : int { kVector = Shape::kVector, kStepRows = Shape::kStepRows, kSteps = Shape::kLaneRows / kStepRows };
  enum : int { kAcross = Shape::kAcross, kRows = Shape::kRows, kRowBytes = Shape::kRowBytes };
  enum : int { kDiagonals = kVector + kStepRows - 1, kParts = Shape::kWords / 32, kRowParts = kRows / 32 };
  enum : int { kWeights = (kVector + Shape::kLaneRows + 3) / 4 * 4 };  // of a lane's diagonals, in whole 16 bytes
  enum : int { kStepWeights = 4 * Shape::kTableSteps };                // bytes from a step's begin to its weight
  static_assert(Shape::kWords % 32 == 0 && kRows % 32 == 0, "parts are of rows or of columns");

  // In flight to shared memory.
  struct Ahead {
    i64 time[kParts];
    float weight[kParts];
  };
  // Of a lane's rows the next items' times, with bounds.
  struct Rows {
    int next[Shape::kLaneRows], least[kSteps], most[kSteps];
  };

  const RelBiasSm90Params& p_;
  Storage& storage_;
  const WarpPlace place_;
  const u32 own_, step_begin_, tile_;

 public:
  HSTU_PRIM TileWriter(const RelBiasSm90Params& p, const WarpPlace& place, Storage& storage)
      : p_(p),
        storage_(storage),
        place_(place),
        own_(prim::opaque(prim::smem_addr(&storage.own[prim::warp_id()]))),
        step_begin_(prim::opaque(prim::smem_addr(storage.step_begin))),
        tile_(prim::opaque(prim::smem_addr(storage.tile[prim::warp_id()]))) {}

  HSTU_PRIM void run() const {
    Ahead ahead;
    load(ahead);
    fill_steps();
    const bool near = __syncthreads_and(settle(ahead));
    if (!near) fill_limits();
    if (place_.column >= p_.bias.positions) return;
#pragma unroll 1
    for (int row = 0; row < kRows && place_.row + row < p_.bias.positions; row += Shape::kTileRows) {
      if (row > 0) prim::bulk_wait_read<0>();
      __syncwarp();
      const Rows rows = rows_from(row);
#pragma unroll 1
      for (int piece = 0; piece < Shape::kPieces; ++piece) {
        if (near)
          write_near(row, piece, rows);
        else
          write_far(row, piece);
      }
      prim::fence_async_shared();
      __syncwarp();
      if (prim::lane_id() == 0) {
        prim::tma_store_4d(&p_.rab, tile_, place_.column, place_.row + row, place_.head, place_.seq);
        prim::bulk_commit();
      }
    }
    prim::bulk_wait_read<0>();
  }

  // The warp's first tile. False: the block has none.
  HSTU_PRIM static bool find(const RelBiasParams& p, WarpPlace& place) {
    const u32 wave = gridDim.x == p.strips ? 0 : blockIdx.x / p.strips, strip = blockIdx.x - wave * p.strips;
    const u32 pair = wave * gridDim.z + blockIdx.z;
    const u32 seq = p.heads == 1 ? pair : pair / static_cast<u32>(p.heads);
    place.seq = static_cast<int>(seq);
    place.head = static_cast<int>(pair - seq * static_cast<u32>(p.heads));
    place.row = static_cast<int>(blockIdx.y) * kRows;
    place.column = static_cast<int>(strip * Storage::kWarps + prim::warp_id()) * Shape::kColumns;
    return pair < p.pairs;
  }

 private:
  HSTU_PRIM const Table* time_weights() const {
    return static_cast<const Table*>(p_.bias.time_weights) + place_.head * p_.bias.time_weights_head_stride;
  }
  HSTU_PRIM void fill_steps() const {
    const Table* const weights = time_weights();
#pragma unroll
    for (int i = 0; i < Shape::kTableSteps; i += Config::kThreads) {
      const int step = static_cast<int>(threadIdx.x) + i, signed_step = step + RelBiasParams::kLeastStep;
      const float weight = weight_at(weights, min(signed_step < 0 ? -signed_step : signed_step, p_.bias.last_bucket));
      if (step >= Shape::kTableSteps) continue;
      storage_.step_begin[step] = p_.bias.step_begin[min(step, rel_bias::kSteps - 1)];
      storage_.step_weight[step] = weight;
    }
  }
  HSTU_PRIM void fill_limits() const {
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < kBuckets; i += Config::kThreads)
      storage_.own[0].limit[i] = p_.bias.limit[i];
    __syncthreads();
  }

  HSTU_PRIM void load(Ahead& ahead) const {
    const int lane = static_cast<int>(prim::lane_id()), positions = p_.bias.positions;
    const i64* const times = p_.bias.timestamps + place_.seq * p_.bias.timestamps_row_stride;
    const Table* const weights =
        static_cast<const Table*>(p_.bias.position_weights) + place_.head * p_.bias.position_weights_head_stride;
    const int first = positions - kRows + place_.column - place_.row + lane;
    const int row = place_.row + 1 + lane, column = place_.column + lane;
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      ahead.time[i] = times[min(i < kRowParts ? row + 32 * i : column + 32 * (i - kRowParts), positions - 1)];
      ahead.weight[i] = weight_at(weights, min(max(first + 32 * i, 0), 2 * positions - 2));
    }
  }

  // The byte of a word of times or of weights.
  HSTU_PRIM static u32 byte_of(int word) {
    const auto w = static_cast<u32>(word);
    return Shape::kHalves ? (w >> 2 & 1) * (Shape::kWordBytes / 2) + (w >> 3) * 16 + (w & 3) * 4 : 4 * w;
  }
  // The same of what begins with a constant multiple of 4 words behind `words`, a multiple of kVector.
  template <int kBehind>
  HSTU_PRIM static u32 byte_behind(u32 words) {
    return Shape::kHalves ? 2 * words + kBehind / 4 % 2 * (Shape::kWordBytes / 2) + kBehind / 8 * 16
                          : 4 * (words + kBehind);
  }

  // Whether the warp's times are near each other; only then are they there.
  HSTU_PRIM bool settle(const Ahead& ahead) const {
    const i64 base = __shfl_sync(prim::kFullWarp, ahead.time[kRowParts], 0);
    const u32 to = own_ + byte_of(static_cast<int>(prim::lane_id()));
    bool near = is_inside(base);
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      const u32 at = to + i * (byte_of(32) - byte_of(0));
      prim::st_shared(at, static_cast<u32>(difference(ahead.time[i], base, near)));
      prim::st_shared(at + Shape::kTimeBytes, __float_as_uint(ahead.weight[i]));
    }
    return __all_sync(prim::kFullWarp, near);
  }

  HSTU_PRIM static void load4(int* to, u32 from) {
    const prim::Quad quad = prim::ld_shared(from);
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = static_cast<int>(quad.word[i]);
  }
  HSTU_PRIM static void load4(float* to, u32 from) {
    const prim::Quad quad = prim::ld_shared(from);
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = __uint_as_float(quad.word[i]);
  }
  HSTU_PRIM static float load_float(u32 from) { return __uint_as_float(prim::ld_shared4(from)); }
  HSTU_PRIM static int load_int(u32 from) { return static_cast<int>(prim::ld_shared4(from)); }

  HSTU_PRIM static void put_row(u32 to, const float (&sum)[kVector]) {
    tile::RowPack<Element, kVector> pack;
    tile::pack(pack, sum);
    prim::st_shared(to, prim::Quad{{pack.word[0], pack.word[1], pack.word[2], pack.word[3]}});
  }

  // Where the begin of a difference's step stands, or of the step before.
  HSTU_PRIM u32 step_near(int difference) const {
    const int bucket = static_cast<int>(shifted_bucket(fabsf(__int2float_rn(difference))) - kShiftBits);
    return step_begin_ + 4 * static_cast<u32>((difference < 0 ? ~bucket : bucket) - RelBiasParams::kLeastStep);
  }

  // kStepRows rows of a lane, from their diagonals' weights, the last row's first.
  template <bool kEdge>
  HSTU_PRIM static void write_rows(u32 to, const float* weight, const int (&time)[kVector], const int* next,
                                   float step_weight, int edge, float next_weight) {
    float below[kDiagonals], above[kDiagonals];
#pragma unroll
    for (int d = 0; d < kDiagonals; ++d) {
      below[d] = weight[d] + step_weight;
      above[d] = weight[d] + next_weight;
    }
#pragma unroll
    for (int r = 0; r < kStepRows; ++r) {
      float sum[kVector];
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        const int d = kStepRows - 1 - r + v;
        sum[v] = kEdge && time[v] <= next[r] - edge ? above[d] : below[d];
      }
      put_row(to + r * kRowBytes, sum);
    }
  }

  HSTU_PRIM Rows rows_from(int first_row) const {
    const u32 row = static_cast<u32>(first_row) + prim::lane_id() / kAcross * Shape::kLaneRows;
    Rows rows;
    load4(rows.next, own_ + byte_behind<0>(row));
    load4(rows.next + 4, own_ + byte_behind<4>(row));
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const int* const next = rows.next + s * kStepRows;
      rows.least[s] = min(min(next[0], next[1]), min(next[2], next[3]));
      rows.most[s] = max(max(next[0], next[1]), max(next[2], next[3]));
    }
    return rows;
  }

  HSTU_PRIM void write_near(int first_row, int piece, const Rows& rows) const {
    const u32 lane = prim::lane_id(), across = lane % kAcross, group = lane / kAcross;
    const u32 first_column = static_cast<u32>(piece) * Shape::kPieceColumns;
    const u32 column = first_column + across * kVector, row = static_cast<u32>(first_row) + group * Shape::kLaneRows;
    const u32 to = tile_ + group * (Shape::kLaneRows * kRowBytes) + column * Shape::kElementBytes;
    int time[kVector];
    float weight[kWeights];
    load4(time, own_ + byte_behind<kRows>(column));
    if constexpr (kVector == 8) load4(time + 4, own_ + byte_behind<kRows + 4>(column));
    const u32 diagonal = kRows - Shape::kLaneRows + column - row, weights = own_ + Shape::kTimeBytes;
    load4(weight, weights + byte_behind<0>(diagonal));
    load4(weight + 4, weights + byte_behind<4>(diagonal));
    load4(weight + 8, weights + byte_behind<8>(diagonal));
    if constexpr (kWeights > 12) load4(weight + 12, weights + byte_behind<12>(diagonal));
    int least_time, most_time;
    bounds(time, least_time, most_time);
    u32 step[kSteps];
    int edge_at[kSteps];
    float step_weight[kSteps];
    bool edge[kSteps], edges[kSteps];  // one; more
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const int least = rows.least[s] - most_time, most = rows.most[s] - least_time;  // differences
      step[s] = step_near(least);
      const int begin = load_int(step[s] + 4), second_begin = load_int(step[s] + 8),
                third_begin = load_int(step[s] + 12);
      const u32 of_step = step[s] + kStepWeights;
      const float first = load_float(of_step), second = load_float(of_step + 4);
      const bool behind = least >= begin;
      if (behind) step[s] += 4;
      step_weight[s] = behind ? second : first;
      edge_at[s] = behind ? second_begin : begin;
      edges[s] = most >= (behind ? third_begin : second_begin);
      edge[s] = most >= edge_at[s] && !edges[s];
    }
    u32 left[kSteps];
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      left[s] = __ballot_sync(prim::kFullWarp, edges[s]);
      const u32 of_rows = to + s * kStepRows * kRowBytes;
      const float* const of_weights = weight + Shape::kLaneRows - (s + 1) * kStepRows;
      const int* const of_next = rows.next + s * kStepRows;
      if (__any_sync(prim::kFullWarp, edge[s]))
        write_rows<true>(of_rows, of_weights, time, of_next, step_weight[s], edge_at[s],
                         load_float(step[s] + kStepWeights + 4));
      else
        write_rows<false>(of_rows, of_weights, time, of_next, step_weight[s], 0, 0);
    }
    if ((left[0] | left[1]) == 0) return;
    __syncwarp();
    write_each(static_cast<u32>(first_row), first_column, left);
  }

  // The rows that lanes have left, an element a lane: of kStepRows rows of a lane, those of four lanes at once.
  HSTU_PRIM void write_each(u32 first_row, u32 first_column, const u32 (&left)[kSteps]) const {
    enum : int { kAtOnce = 4 };
    const u32 lane = prim::lane_id();
    const int r = static_cast<int>(lane / 8), v = static_cast<int>(lane % kVector);
    const u32 time_at = own_ + byte_behind<kRows>(first_column) + byte_of(v);
    const u32 weights = own_ + Shape::kTimeBytes + byte_behind<kRows - Shape::kLaneRows>(first_column - first_row);
#pragma unroll 1
    for (int s = 0; s < kSteps; ++s) {
      const int row = s * kStepRows + r;
      const u32 next_at = own_ + byte_behind<0>(first_row) + byte_of(row),
                weight_at = weights + byte_of(Shape::kLaneRows - 1 - row + v);
      const u32 to =
          tile_ + static_cast<u32>(row) * kRowBytes + (first_column + static_cast<u32>(v)) * Shape::kElementBytes;
      u32 lanes = s == 0 ? left[0] : left[1], of = 0;
#pragma unroll 1
      while (lanes != 0) {
        int age[kAtOnce];
        float weight[kAtOnce];
        u32 at[kAtOnce], step[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {  // the last one again where there are no more
          if (lanes != 0) of = 31 - static_cast<u32>(__clz(static_cast<int>(lanes)));
          lanes &= ~(1u << of);
          const u32 across = of % kAcross, group = of / kAcross;
          age[i] = load_int(next_at + byte_behind<0>(group * Shape::kLaneRows)) -
                   load_int(time_at + byte_behind<0>(across * kVector));
          weight[i] = load_float(weight_at + byte_behind<0>(across * kVector - group * Shape::kLaneRows));
          at[i] = to + group * (Shape::kLaneRows * kRowBytes) + across * 16;
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) step[i] = step_near(age[i]);
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) step[i] += age[i] >= load_int(step[i] + 4) ? 4 : 0;
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) put(at[i], weight[i] + load_float(step[i] + kStepWeights));
      }
    }
  }
  HSTU_PRIM static void put(u32 to, float sum) {
    if constexpr (Shape::kElementBytes == 4)
      prim::st_shared(to, __float_as_uint(sum));
    else
      prim::st_shared2(to, prim::pack2<Element>(sum, 0.0f));
  }

  HSTU_PRIM void write_far(int first_row, int piece) const {
    const int lane = static_cast<int>(prim::lane_id()), positions = p_.bias.positions;
    const int column = (piece * kAcross + lane % kAcross) * kVector, row = lane / kAcross * Shape::kLaneRows;
    const i64* const times = p_.bias.timestamps + place_.seq * p_.bias.timestamps_row_stride;
    const Table* const weights = time_weights();
    const u32 limits = prim::smem_addr(storage_.own[0].limit) - 4 * kShiftBits;
#pragma unroll 1
    for (int r = row; r < row + Shape::kLaneRows; ++r) {
      const i64 next = times[min(place_.row + first_row + r + 1, positions - 1)];
      float sum[kVector];
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        const i64 time = times[min(place_.column + column + v, positions - 1)];
        const float age = age_of(next, time);
        const u32 shifted = shifted_bucket(age);
        const int bucket = static_cast<int>(shifted - kShiftBits) + (age >= load_float(limits + 4 * shifted) ? 1 : 0);
        sum[v] = load_float(own_ + Shape::kTimeBytes + byte_of(kRows - 1 + column + v - first_row - r)) +
                 weight_at(weights, min(bucket, p_.bias.last_bucket));
      }
      put_row(tile_ + static_cast<u32>(r * kRowBytes + column * Shape::kElementBytes), sum);
    }
  }
};

}  // namespace rel_bias

template <class Config>
constexpr int rel_bias_sm90_smem_bytes = static_cast<int>(sizeof(rel_bias::TileStorage<Config>));

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    rel_bias_sm90(const __grid_constant__ RelBiasSm90Params p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  using Writer = rel_bias::TileWriter<Config>;
  rel_bias::WarpPlace place;
  if (Writer::find(p.bias, place)) Writer(p, place, *reinterpret_cast<rel_bias::TileStorage<Config>*>(smem)).run();
}

}  // namespace hstu
