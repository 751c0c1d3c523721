// Products of FP8 matrices, sm_80 generation: out = act(a bT + bias + residual) with both operands' scales; f32
// inside, rounded once.
//
// The pipeline is tile/product.cuh's on bytes: tiles of a and b lie in shared memory as they are, and ldmatrix gives
// fragments of four consecutive k a register. Only sm_89 multiplies these (kNative); its sums keep 14 bits, so each
// slice's are promoted to f32. Everywhere else, sm_90 included, whose mma.sync has no FP8 of its own, fragments become
// f16, which holds both formats exactly, and are multiplied as such: of a register's four k the first two count as k
// 2t, 2t + 1 of mma.sync's and the others as 2t + 8, 2t + 9, in a and b alike.
//
// Per-tensor and per-row scales are applied in the epilogue. Scales that change along k (per-group, per-block: every
// 128) are applied to the sums of each slice, of 64 or 128 k, as these are promoted.
//
// What runs, and the file behind each line, in tile/ unless a folder is named; other names are of this file:
//   block      its tile; the first kStages - 1 slices to the ring  raster.cuh, product.cuh
//              prefetch the residual to L2                         result_rows.cuh
//   warp       for each slice of k: load its scales along k        Fp8Product::run, Fp8Scales
//                wait, one __syncthreads                           product.cuh, ProductConsumer::fetch
//                for each step: fragments of the next one          operand.cuh
//                  to f16, mma.sync; kNative: FP8 mma.sync         Fp8AsF16, Fp8AsIs, prim/mma.cuh
//                  copies of a later slice in between              product.cuh, operand.cuh
//                promote: scaled sums added to the accumulators    Fp8Product::add
//              scales of the epilogue, + bias                      Fp8Product::finish
//              for each 16 rows: + residual, activation, rounding  result_rows.cuh, activation.cuh
//                whole rows to out through the staging area        epilogue.cuh
//
// Shared memory  kStages x (a tile | b tile), swizzled | a staging area per warp
// Registers      accumulators kWarpTileM kWarpTileN / 32, twice that where sums are promoted
//
// Config, problem facts
//   A, B                e4m3 or e5m2
//   Element             of out and a residual: bf16, f16 or float; with Fp8, as in addmm_sm80.cuh, of a residual alone
//   Bias                element type of a bias row
//   kScalingA, kScalingB  kPerTensor, kPerRow, kPerGroup, kPerBlock (tile/fp8_row.cuh)
//   kVectorX, kVectorW  bytes an access of a and b: 16, 8, 4, 2 or 1; kVectorZ elements an access of out and a residual
//   kBias, kActivation, kSplitColumns  as in addmm_sm80.cuh; kGatherY is false
//   kTailK              k is not a multiple of kBlockK
// Config, knobs         as in addmm_sm80.cuh, and kNative
#pragma once
#include "fp8/fp8_gemm.h"
#include "prim/fp8.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"
#include "tile/addmm_terms.h"
#include "tile/fp8_row.cuh"
#include "tile/product.cuh"
#include "tile/result_rows.cuh"

namespace hstu {

// A step's fragments as f16.
template <class A, class B, class FragmentsX, class FragmentsW>
class Fp8AsF16 {
 public:
  HSTU_PRIM Fp8AsF16(const FragmentsX& x, const FragmentsW& w) {
    widen<A>(x_, x.word);
    widen<B>(w_, w.word);
  }
  HSTU_PRIM void operator()(float (&acc)[4], int i, int j) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const u32 a[4] = {x_.low[i][2 * half], x_.low[i][2 * half + 1], x_.high[i][2 * half], x_.high[i][2 * half + 1]};
      const int b = j % 2 * 2 + half;
      prim::mma_m16n8k16<f16>(acc, a, w_.low[j / 2][b], w_.high[j / 2][b]);
    }
  }

 private:
  template <int kBlocks>
  struct Wide {
    u32 low[kBlocks][4], high[kBlocks][4];  // of each register's four elements
  };
  template <class Fp8, int kBlocks>
  HSTU_PRIM static void widen(Wide<kBlocks>& to, const u32 (&word)[kBlocks][4]) {
#pragma unroll
    for (int i = 0; i < kBlocks; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        to.low[i][e] = prim::unpack2_fp8<Fp8>(word[i][e]);
        to.high[i][e] = prim::unpack2_fp8<Fp8>(word[i][e] >> 16);
      }
  }

  Wide<static_cast<int>(sizeof(FragmentsX::word) / 16)> x_;
  Wide<static_cast<int>(sizeof(FragmentsW::word) / 16)> w_;
};

// A step's fragments as they are.
template <class A, class B, class FragmentsX, class FragmentsW>
struct Fp8AsIs {
  HSTU_PRIM Fp8AsIs(const FragmentsX& x, const FragmentsW& w) : x(x), w(w) {}
  HSTU_PRIM void operator()(float (&acc)[4], int i, int j) const {
#if __CUDA_ARCH__ == 890
    prim::mma_m16n8k32<A, B>(acc, x.word[i], w.word[j / 2][j % 2 * 2], w.word[j / 2][j % 2 * 2 + 1]);
#else
    static_assert(sizeof(A) == 0, "only sm_89 has mma.sync for FP8");
#endif
  }
  const FragmentsX& x;
  const FragmentsW& w;
};

template <bool kNative, class A, class B, class FragmentsX, class FragmentsW>
struct Fp8MultiplierOf {
  using type = Fp8AsF16<A, B, FragmentsX, FragmentsW>;
};
template <class A, class B, class FragmentsX, class FragmentsW>
struct Fp8MultiplierOf<true, A, B, FragmentsX, FragmentsW> {
  using type = Fp8AsIs<A, B, FragmentsX, FragmentsW>;
};

template <int kScaling>
constexpr bool kVariesAlongK = kScaling == tile::kPerGroup || kScaling == tile::kPerBlock;

// Everything that follows from a Config.
template <class Config_>
struct Fp8GemmShape {
  using Config = Config_;
  using Params = Fp8GemmParams;
  enum : int { kThreads = Config::kThreads };
  enum : int { kWarpTileM = Config::kBlockM / Config::kWarpsM, kWarpTileN = Config::kBlockN / Config::kWarpsN };
  enum : int { kBlocksM = kWarpTileM / 16, kBlocksN = kWarpTileN / 16 };
  enum : int { kSteps = Config::kBlockK / 32, kTileColumns = Config::kBlockN };
  enum : int { kElementBytes = static_cast<int>(sizeof(typename Config::Element)) };
  enum : bool { kScaledSlices = kVariesAlongK<Config::kScalingA> || kVariesAlongK<Config::kScalingB> };
  enum : bool { kPromotes = kScaledSlices || Config::kNative };
  static_assert(kThreads == 32 * Config::kWarpsM * Config::kWarpsN, "kThreads counts the threads of all warps");
  static_assert(kWarpTileM % 16 == 0 && kWarpTileN % 32 == 0, "a warp's part is 16 rows by 32 columns, or multiples");
  static_assert(kSteps % 2 == 0 && tile::kScaleSpan % Config::kBlockK == 0, "a slice has one scale along k");
  static_assert(kWarpTileM <= tile::kScaleSpan && kWarpTileN <= tile::kScaleSpan, "a warp has one per-block scale");

  using TileX = tile::OperandTile<Config::kBlockM, Config::kBlockK, true, 1>;
  using TileW = tile::OperandTile<Config::kBlockN, Config::kBlockK, true, 1>;
  using LoaderX = tile::OperandLoader<TileX, Config::kBlockK, kThreads, Config::kVectorX, Config::kTailK>;
  using LoaderW = tile::OperandLoader<TileW, Config::kBlockK, kThreads, Config::kVectorW, Config::kTailK>;
  enum : int { kStageBytes = TileX::kBytes + TileW::kBytes };
  using Staged = tile::StagedRows<kWarpTileN, kElementBytes>;
  using FragmentsX = tile::Fragments<TileX, kBlocksM, true>;
  using FragmentsW = tile::Fragments<TileW, kBlocksN, false>;
  using Multiplier =
      typename Fp8MultiplierOf<Config::kNative, typename Config::A, typename Config::B, FragmentsX, FragmentsW>::type;
  enum : int { kSmemBytes = Config::kStages * kStageBytes + kThreads / 32 * Staged::kBytes };

  HSTU_PRIM static void begin(LoaderX& x, LoaderW& w, const Params& p, tile::TilePosition at) {
    x.begin(p.a, p.a_row_stride, static_cast<i64>(at.m) * Config::kBlockM, p.m, p.k);
    w.begin(p.b, p.b_row_stride, static_cast<i64>(at.n) * Config::kBlockN, p.n, p.k);
  }
  HSTU_PRIM static void copy_x(LoaderX& x, const Params& p, int pass, u32 tile) { x.copy(pass, tile, p.a_row_stride); }
  HSTU_PRIM static void copy_w(LoaderW& w, const Params& p, int pass, u32 tile) { w.copy(pass, tile, p.b_row_stride); }
};

template <class Config>
constexpr int fp8_gemm_sm80_smem_bytes = Fp8GemmShape<Config>::kSmemBytes;

// The scales of one operand for a lane's kCount rows (of a, or of b), row(i) from the warp's first: one value for all
// where the warp is within one unit.
template <int kScaling, int kCount>
struct Fp8Scales {
  enum : bool { kEachRow = kScaling == tile::kPerRow || kScaling == tile::kPerGroup };
  enum : int { kValues = kEachRow ? kCount : 1 };

  template <class RowOf>
  HSTU_PRIM void load(const float* descale, i64 row_stride, i64 column_stride, i64 first, i64 rows, i64 k_block,
                      const RowOf& row_of) {
    if constexpr (kVariesAlongK<kScaling>) descale += k_block * column_stride;
    if constexpr (kEachRow) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) value[i] = descale[min(first + row_of(i), rows - 1) * row_stride];
    } else {
      value[0] = descale[kScaling == tile::kPerBlock ? min(first, rows - 1) / tile::kScaleSpan * row_stride : 0];
    }
  }
  HSTU_PRIM float operator[](int i) const { return value[kEachRow ? i : 0]; }

  float value[kValues];
};

// Of a lane's accumulators: which row i = 2 block + half, and which column i = 2 j + e.
struct Fp8RowOf {
  HSTU_PRIM int operator()(int i) const { return i * 8 + static_cast<int>(prim::lane_id() / 4); }
};
struct Fp8ColumnOf {
  HSTU_PRIM int operator()(int i) const { return i / 2 * 8 + i % 2 + static_cast<int>(prim::lane_id() % 4) * 2; }
};

// The product of a warp's part: sums of slices with the scales that belong to them.
template <class Config>
struct Fp8Product {
  using Shape = Fp8GemmShape<Config>;
  using ScalesA = Fp8Scales<Config::kScalingA, 2 * Shape::kBlocksM>;
  using ScalesB = Fp8Scales<Config::kScalingB, 4 * Shape::kBlocksN>;
  enum : bool { kHasBias = (Config::kBias & kRowBias) != 0 };

  HSTU_PRIM Fp8Product(const Fp8GemmParams& p, i64 row, i64 column) : p(p), row(row), column(column) {}

  HSTU_PRIM void load_a(i64 k_block) {
    a.load(p.a_descale, p.a_descale_row_stride, p.a_descale_column_stride, row, p.m, k_block, Fp8RowOf{});
  }
  HSTU_PRIM void load_b(i64 k_block) {
    b.load(p.b_descale, p.b_descale_row_stride, p.b_descale_column_stride, column, p.n, k_block, Fp8ColumnOf{});
  }

  template <bool kCopy>
  HSTU_PRIM void run(u32 first, u32 last, tile::ProductConsumer<Shape>& consumer,
                     tile::ProductProducer<Shape>& producer) {
    for (u32 slice = first; slice < last; ++slice) {
      const i64 k_block = static_cast<i64>(slice) * Config::kBlockK / tile::kScaleSpan;
      if (kVariesAlongK<Config::kScalingA>) load_a(k_block);
      if (kVariesAlongK<Config::kScalingB>) load_b(k_block);
      tile::ProductAccumulators<Shape> sums = {};
      consumer.template run_slice<kCopy>(sums, producer);
      add(sums);
    }
  }

  // acc += sums, scaled.
  HSTU_PRIM void add(const tile::ProductAccumulators<Shape>& sums) {
#pragma unroll
    for (int i = 0; i < Shape::kBlocksM; ++i)
#pragma unroll
      for (int j = 0; j < 2 * Shape::kBlocksN; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          float sum = sums[i][j][e];
          if constexpr (kVariesAlongK<Config::kScalingB>) sum *= b[2 * j + e % 2];
          if constexpr (kVariesAlongK<Config::kScalingA>)
            acc[i][j][e] = __fmaf_rn(sum, a[2 * i + e / 2], acc[i][j][e]);
          else
            acc[i][j][e] += sum;
        }
  }

  // With the scales of the epilogue, and a bias row.
  HSTU_PRIM void finish() {
    if (!kVariesAlongK<Config::kScalingA>) load_a(0);
    if (!kVariesAlongK<Config::kScalingB>) load_b(0);
#pragma unroll
    for (int j = 0; j < 2 * Shape::kBlocksN; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float bias = 0.0f;
        const i64 at = column + Fp8ColumnOf{}(2 * j + e);
        if (kHasBias && at < p.n) bias = prim::to_float(static_cast<const typename Config::Bias*>(p.bias)[at]);
        const float scale_b = kVariesAlongK<Config::kScalingB> ? 1.0f : b[2 * j + e];
#pragma unroll
        for (int i = 0; i < Shape::kBlocksM; ++i)
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            float& value = acc[i][j][2 * half + e];
            if (!kVariesAlongK<Config::kScalingB>) value *= scale_b;
            if (!kVariesAlongK<Config::kScalingA>) value *= a[2 * i + half];
            if (kHasBias) value += bias;
          }
      }
  }

  const Fp8GemmParams& p;
  i64 row, column;
  ScalesA a;
  ScalesB b;
  tile::ProductAccumulators<Shape> acc = {};
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    fp8_gemm_sm80(const __grid_constant__ Fp8GemmParams p) {
  using Shape = Fp8GemmShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage);
  const tile::ProductSchedule<Shape> schedule(p);
  const tile::TilePosition at = schedule.position(blockIdx.x);
  tile::ProductProducer<Shape> producer(p, schedule, at, smem);
  tile::fill_ring(producer, schedule);

  if constexpr ((Config::kBias & kResidual) != 0) tile::prefetch_residual<Shape>(p, at);
  const tile::ProductWarp<Shape> warp;
  tile::ProductConsumer<Shape> consumer(smem, warp);
  consumer.fetch(0);
  Fp8Product<Config> product(p, warp.row(at), warp.column(at));
  if constexpr (Shape::kPromotes) {
    const u32 copied = min(schedule.slices, Config::kStages - 1u);
    product.template run<true>(0, schedule.slices - copied, consumer, producer);
    product.template run<false>(schedule.slices - copied, schedule.slices, consumer, producer);
  } else {
    tile::multiply_tile(product.acc, consumer, producer, schedule);
  }
  product.finish();
  const u32 staging = smem + Config::kStages * Shape::kStageBytes + prim::warp_id() * Shape::Staged::kBytes;
  tile::ResultRows<Shape> results(p, product.row, product.column, staging);
  if (Config::kActivation && results.activates())
    results.template run<Config::kActivation != 0>(product.acc);
  else
    results.template run<false>(product.acc);
  prim::cp_async_wait<0>();
}

}  // namespace hstu
