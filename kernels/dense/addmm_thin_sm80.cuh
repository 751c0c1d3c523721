// Matrix product with bias, residual and activation, for few rows: out = act(x w + bias + residual), f32 inside,
// rounded once. Such a call takes as long as its chain of waits, so there is one: operands go from global memory
// straight to the registers of the products, all of a warp's loads in flight at once, and the warps of a block split
// a tile's k.
//
//   x, w ──16-byte loads──► fragments ──mma.sync──► a warp's sums ──smem──► added in the order of warps
//                                                                           ──► + bias, residual, act, round ──► out
//
// Within a slice of 32 k the products' k is permuted so that a lane's loads are contiguous: lane (g, t) has k = 8t to
// 8t + 7, of which the h-th product takes 8t + 4h and 8t + 4h + 1 for its 2t, and the two behind them for its 2t + 8.
// Columns of w stored [k, n] are permuted likewise: the lane loads kBlockN / 8 neighbours, one for each product.
//
// What runs, and the file behind each line, in tile/ unless a folder is named; other names are of this file:
//   warp       prefetch its first slices of w to L2                ThinProduct::prefetch
//              wait for the kernels before                         dependent_launch.cuh
//              load kAhead slices of w and x to registers          ThinColumns, ThinRows
//              load bias and residual of the thread's results      ThinEpilogue::fetch
//              for each of its slices: mma.sync                    ThinProduct::run, prim/mma.cuh
//                load the slice that is kAhead further             ThinProduct::load
//              sums to shared memory; __syncthreads                thin_share
//   thread     for each pair of results: add the warps' sums       ThinEpilogue::run
//                + bias, + residual, activation, rounding, to out  activation.cuh
//
// Shared memory  kBlockM x kBlockN sums of every warp
// Registers      kBlockM kBlockN / 32 accumulators, kAhead slices of both operands
// Results are the same from run to run: warp i has slices i, i + warps, ..., and sums are added in the order of i.
//
// Config, problem facts
//   Element             bf16 or f16: x, w, out, a residual; lines of x and w are 16-byte aligned, x lies along k
//   Bias                element type of a bias row
//   kBias               a row, a residual, both or none (tile/addmm_terms.h)
//   kActivation         0 none, or tile/activation.cuh's, on columns below params.act_columns
//   kWAlongK            whether w is contiguous along k
// Config, knobs
//   kBlockM, kBlockN    tile
//   kThreads            32 for every part of k
//   kAhead              slices in flight a warp
#pragma once
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"
#include "tile/activation.cuh"
#include "tile/addmm.h"
#include "tile/addmm_terms.h"
#include "tile/dependent_launch.cuh"

namespace hstu {

// Everything that follows from a Config. A thread finishes pairs of neighbouring columns.
template <class Config_>
struct AddmmThinShape {
  using Config = Config_;
  enum : int { kFragmentsM = Config::kBlockM / 16, kFragmentsN = Config::kBlockN / 8 };
  enum : int { kWarps = Config::kThreads / 32, kSlice = 32 };
  enum : int { kPairs = Config::kBlockM * Config::kBlockN / 2 };
  enum : int { kPairsPerThread = (kPairs + Config::kThreads - 1) / Config::kThreads };
  enum : int { kSumsBytes = Config::kBlockM * Config::kBlockN * 4, kSmemBytes = kWarps * kSumsBytes };
  static_assert(Config::kBlockM % 16 == 0 && (kFragmentsN == 2 || kFragmentsN == 4 || kFragmentsN == 8),
                "a lane loads 4, 8 or 16 bytes of a row of w");
  using Accumulators = float[kFragmentsM][kFragmentsN][4];
};

template <class Config>
constexpr int addmm_thin_sm80_smem_bytes = AddmmThinShape<Config>::kSmemBytes;

// N words of 16-bit elements, in one access.
template <int N>
HSTU_PRIM void thin_load(u32 (&word)[N], const void* from) {
  if constexpr (N == 1) word[0] = prim::ld_global4(from);
  if constexpr (N == 2) {
    const prim::Pair two = prim::ld_global8(from);
    word[0] = two.word[0];
    word[1] = two.word[1];
  }
  if constexpr (N == 4) {
    const prim::Quad four = prim::ld_global_once(from);
#pragma unroll
    for (int i = 0; i < 4; ++i) word[i] = four.word[i];
  }
}

// A lane's part of 32 k of the tile's rows of x: of rows g, g + 8 of each 16 the 8 elements from 8t on.
template <class Config>
struct ThinRows {
  using Shape = AddmmThinShape<Config>;

  HSTU_PRIM void load(const AddmmParams& p, i64 row, i64 k) {
#pragma unroll
    for (int i = 0; i < 2 * Shape::kFragmentsM; ++i) {
      const bool there = row + 8 * i < p.m && k < p.k;
      const u16* from = static_cast<const u16*>(p.x) + (row + 8 * i) * p.x_row_stride + k;
#pragma unroll
      for (int j = 0; j < 4; ++j) word[i][j] = 0;
      if (there) thin_load(word[i], from);
    }
  }
  // Of the h-th product's 16 rows and 16 k.
  HSTU_PRIM void fragment(u32 (&a)[4], int rows, int h) const {
#pragma unroll
    for (int j = 0; j < 4; ++j) a[j] = word[2 * rows + j % 2][2 * h + j / 2];
  }

  u32 word[2 * Shape::kFragmentsM][4];
};

// A lane's part of 32 k of the tile's columns of w. [k, n]: kFragmentsN neighbouring columns of rows 8t to 8t + 7.
// [n, k]: 8 elements of column g of each 8.
template <class Config>
struct ThinColumns {
  using Shape = AddmmThinShape<Config>;
  enum : int { kLoads = Config::kWAlongK ? Shape::kFragmentsN : 8 };
  enum : int { kWords = Config::kWAlongK ? 4 : Shape::kFragmentsN / 2 };

  HSTU_PRIM static i64 first_column() { return prim::lane_id() / 4 * (Config::kWAlongK ? 1 : Shape::kFragmentsN); }

  // column: the tile's first and first_column().
  HSTU_PRIM void load(const AddmmParams& p, i64 column, i64 k) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
#pragma unroll
      for (int j = 0; j < kWords; ++j) word[i][j] = 0;
      if (const u16* from = place(p, column, k, i)) thin_load(word[i], from);
    }
  }
  // Prefetches what load() reads to L2.
  HSTU_PRIM static void prefetch(const AddmmParams& p, i64 column, i64 k) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      if (const u16* from = place(p, column, k, i)) prim::prefetch_l2(from);
  }
  // Two consecutive k of fragment `column`: the first of four from 4h on, or the second.
  HSTU_PRIM u32 pair(int column, int h, int second) const {
    if constexpr (Config::kWAlongK) return word[column][2 * h + second];
    const int k = 4 * h + 2 * second;
    return __byte_perm(word[k][column / 2], word[k + 1][column / 2], column % 2 ? 0x7632 : 0x5410);
  }

  u32 word[kLoads][kWords];

 private:
  // Of the i-th load; null beyond the matrix.
  HSTU_PRIM static const u16* place(const AddmmParams& p, i64 column, i64 k, int i) {
    const i64 at_column = column + (Config::kWAlongK ? 8 * i : 0), at_k = k + (Config::kWAlongK ? 0 : i);
    if (at_column >= p.n || at_k >= p.k) return nullptr;
    const i64 at = Config::kWAlongK ? at_column * p.w_row_stride + at_k : at_k * p.w_row_stride + at_column;
    return static_cast<const u16*>(p.w) + at;
  }
};

// A warp's sums of its slices.
template <class Config>
class ThinProduct {
 public:
  using Shape = AddmmThinShape<Config>;
  using Accumulators = typename Shape::Accumulators;

  HSTU_PRIM ThinProduct(const AddmmParams& p, i64 row, i64 column)
      : p_(p), row_(row + prim::lane_id() / 4), column_(column + ThinColumns<Config>::first_column()) {}

  // Prefetches what begin() loads of w.
  HSTU_PRIM void prefetch(u32 warp) const {
#pragma unroll
    for (int i = 0; i < Config::kAhead; ++i) ThinColumns<Config>::prefetch(p_, column_, first_k(warp) + i * kStep);
  }
  HSTU_PRIM void begin(u32 warp) {
    k_ = first_k(warp);
#pragma unroll
    for (int i = 0; i < Config::kAhead; ++i) load(i, k_ + i * kStep);
  }
  HSTU_PRIM void run(Accumulators& acc) {
#pragma unroll
    for (int i = 0; i < Shape::kFragmentsM; ++i)
#pragma unroll
      for (int j = 0; j < Shape::kFragmentsN; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) acc[i][j][e] = 0.0f;
    // Whole warps go on as long as their first lane, which has the least k.
    for (i64 first = k_ - prim::lane_id() % 4 * 8; first < p_.k; first += Config::kAhead * kStep) {
#pragma unroll
      for (int i = 0; i < Config::kAhead; ++i) {
        multiply(acc, i);
        if (first + Config::kAhead * kStep < p_.k) load(i, k_ + (Config::kAhead + i) * kStep);
      }
      k_ += Config::kAhead * kStep;
    }
  }

 private:
  enum : int { kStep = Shape::kSlice * Shape::kWarps };

  HSTU_PRIM static i64 first_k(u32 warp) { return static_cast<i64>(warp) * Shape::kSlice + prim::lane_id() % 4 * 8; }
  HSTU_PRIM void load(int i, i64 k) {
    w_[i].load(p_, column_, k);
    x_[i].load(p_, row_, k);
  }
  HSTU_PRIM void multiply(Accumulators& acc, int i) const {
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int row = 0; row < Shape::kFragmentsM; ++row) {
        u32 a[4];
        x_[i].fragment(a, row, h);
#pragma unroll
        for (int column = 0; column < Shape::kFragmentsN; ++column)
          prim::mma_m16n8k16<typename Config::Element>(acc[row][column], a, w_[i].pair(column, h, 0),
                                                       w_[i].pair(column, h, 1));
      }
  }

  const AddmmParams& p_;
  const i64 row_, column_;
  i64 k_;
  ThinRows<Config> x_[Config::kAhead];
  ThinColumns<Config> w_[Config::kAhead];
};

// A warp's sums to its part of shared memory, row by row.
template <class Config>
HSTU_PRIM void thin_share(const typename AddmmThinShape<Config>::Accumulators& acc, u32 sums) {
  using Shape = AddmmThinShape<Config>;
  constexpr int kJ = Shape::kFragmentsN;
  const u32 g = prim::lane_id() / 4, t = prim::lane_id() % 4;
#pragma unroll
  for (int i = 0; i < 2 * Shape::kFragmentsM; ++i) {
    const float(&of)[kJ][4] = acc[i / 2];
    const u32 row = sums + (8 * i + g) * Config::kBlockN * 4;
#pragma unroll
    for (int e = 0; e < 2; ++e)
#pragma unroll
      for (int j = 0; j < kJ; j += 2) {
        const u32 lo = __float_as_uint(of[Config::kWAlongK ? j + e : j][2 * (i % 2) + (Config::kWAlongK ? 0 : e)]);
        const u32 hi = __float_as_uint(of[Config::kWAlongK ? j + e : j + 1][2 * (i % 2) + (Config::kWAlongK ? 1 : e)]);
        prim::st_shared(row + (Config::kWAlongK ? 8 * (j + e) + 2 * t : kJ * (2 * t + e) + j) * 4,
                        prim::Pair{{lo, hi}});
      }
  }
}

// The pairs of results that a thread finishes.
template <class Config>
class ThinEpilogue {
 public:
  using Shape = AddmmThinShape<Config>;

  HSTU_PRIM ThinEpilogue(const AddmmParams& p, i64 row, i64 column) : p_(p), row_(row), column_(column) {}

  // What will be added to the sums.
  HSTU_PRIM void fetch() {
#pragma unroll
    for (int i = 0; i < Shape::kPairsPerThread; ++i)
#pragma unroll
      for (int e = 0; e < 2; ++e) added_[i][e] = has(i) ? fetch(row(i), column(i) + e) : 0.0f;
  }

  HSTU_PRIM void run(u32 smem) const {
#pragma unroll
    for (int i = 0; i < Shape::kPairsPerThread; ++i) {
      if (!has(i)) continue;
      float lo = 0.0f, hi = 0.0f;
#pragma unroll
      for (int warp = 0; warp < Shape::kWarps; ++warp) {
        const prim::Pair part = prim::ld_shared8(smem + warp * Shape::kSumsBytes + pair(i) * 8);
        lo += __uint_as_float(part.word[0]);
        hi += __uint_as_float(part.word[1]);
      }
      const u32 word =
          prim::pack2<Element>(activate(lo + added_[i][0], column(i)), activate(hi + added_[i][1], column(i) + 1));
      if (row(i) < p_.m && column(i) < p_.n)
        prim::st_global4(static_cast<Element*>(p_.out[0]) + row(i) * p_.out_row_stride[0] + column(i), word);
    }
  }

 private:
  using Element = typename Config::Element;
  enum : u32 { kLinePairs = Config::kBlockN / 2 };
  enum : bool { kHasRow = (Config::kBias & kRowBias) != 0, kHasResidual = (Config::kBias & kResidual) != 0 };

  HSTU_PRIM static u32 pair(int i) { return i * Config::kThreads + threadIdx.x; }
  HSTU_PRIM static bool has(int i) { return Shape::kPairs % Config::kThreads == 0 || pair(i) < Shape::kPairs; }
  HSTU_PRIM i64 row(int i) const { return row_ + pair(i) / kLinePairs; }
  HSTU_PRIM i64 column(int i) const { return column_ + 2 * (pair(i) % kLinePairs); }

  HSTU_PRIM float fetch(i64 row, i64 column) const {
    float bias = 0.0f, residual = 0.0f;
    if constexpr (kHasRow)
      if (column < p_.n)
        bias = prim::to_float(static_cast<const typename Config::Bias*>(p_.bias)[column * p_.bias_stride]);
    if constexpr (kHasResidual)
      if (row < p_.m && column < p_.n)
        residual = prim::to_float(static_cast<const Element*>(
            p_.residual)[row * p_.residual_row_stride + column * p_.residual_column_stride]);
    return kHasRow && kHasResidual ? bias + residual : kHasRow ? bias : residual;
  }
  HSTU_PRIM float activate(float x, i64 column) const {
    if constexpr (Config::kActivation == 0) return x;
    return column < p_.act_columns ? tile::activate<Config::kActivation, Element>(x) : x;
  }

  const AddmmParams& p_;
  const i64 row_, column_;
  float added_[Shape::kPairsPerThread][2];
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    addmm_thin_sm80(const __grid_constant__ AddmmParams p) {
  using Shape = AddmmThinShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage), warp = prim::warp_id();
  const i64 row = static_cast<i64>(blockIdx.y) * Config::kBlockM,
            column = static_cast<i64>(blockIdx.x) * Config::kBlockN;
  ThinProduct<Config> product(p, row, column);
  if constexpr (tile::kStartsEarly) product.prefetch(warp);
  tile::wait_for_kernels_before();
  product.begin(warp);
  ThinEpilogue<Config> epilogue(p, row, column);
  epilogue.fetch();
  typename Shape::Accumulators acc;
  product.run(acc);
  thin_share<Config>(acc, smem + warp * Shape::kSumsBytes);
  __syncthreads();
  epilogue.run(smem);
}

}  // namespace hstu
