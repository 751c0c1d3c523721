// Products of FP8 matrices, sm_90: out = act(a bT + bias + residual) with both operands' scales, on wgmma's FP8
// products.
//
// The pipeline is tile/tma_product.cuh's: a slice has 128 k. The tensor cores add FP8 products up with 14 bits, so the
// sums of each slice are promoted: scaled, where scales change along k, and added to accumulators in f32. With
// kFast they stay in the tensor cores from the first slice to the last.
//
// With kPingPong each warpgroup has tiles, a ring and a producer thread of its own, so that a parity is always the next
// lap's, whatever the other does. Their mainloops are ordered, for one alone keeps the tensor cores busy: the sums of a
// slice are promoted while the next is multiplied (64 x 128, kOverlapsPromotion), or with kFast there is nothing to
// promote (64 x 256). One's epilogue runs beside the other's products. w is resident then, or both rings would fetch
// it.
//
// 256 columns without kFast are multiplied in two passes of a warpgroup over the same rows of a, which stay in the ring
// for both: as many clocks of tensor cores for half of the rows that arrive. H200, 98304 x 512 by 2048: 180 us where 64
// x 128 tiles take 193; products alone 141, with results that are not stored 153, stored to L2 167.
//
// Otherwise both halve each tile along m (cooperative), and one promotes while the other multiplies.
//
// Scales that change along k are loaded to registers one slice ahead, which leaves so few that warps branch to their
// roles early (kDispatchesEarly) where a tile has many slices and more than stores in its epilogue. H200, 65536 x 768
// by 2048, per-block scales, a bias and SiLU: cooperative 217 us, ping-pong 191; 65536 x 1024 by 4096, blocks on both
// sides: 464 and 429. Copied to shared memory with each slice by a warp of their own, as they also were, they cost 5 to
// 19 % where the epilogue is stores alone.
//
// With kPingPong and kFast shared memory is, counted out, as busy as the tensor cores: of the 2,048 clocks that a 64 x
// 256 tile's products of k 512 take, their operands want 1,280, rows arriving 256, boxes written and fetched 512, and
// each column factor that the epilogue reads there 256 more. Hence the bias in registers. H200, 98304 x 512 by 2048
// columns with a bias, SiLU of 512, results in four parts, back to back: 213 to 230 us; spread 190 to 195; and with the
// bias in registers 181 to 185, 201 in the stack where it was 243.
//
// What runs, and the file behind each line, in tile/ unless a folder is named; other names are of this file:
//   producer   for each tile, of the block or of its warpgroup        tma_product.cuh, raster.cuh
//                for each slice of k: acquire a stage                 tma_product.cuh, tma_ring.cuh
//                  a and b, unless it is resident, to the stage       Fp8TmaShape, wgmma_operand.cuh
//   consumer   for each tile; 256 columns overlapped: two passes      Fp8Roles::consume, run_pass
//                load per-row scales, per-column scales, the bias row  Fp8EpilogueSource, bias_row.cuh
//                ping-pong: wait for the other's mainloop             tma_product.cuh, PingPongBarrier
//                for each slice: wait for its stage, sums = a bT      Fp8Consumer::issue
//                  promote: acc += sums * scales; kFast: acc += a bT  Fp8Consumer::promote, run_fast
//                  release the stage; load the next slice's scales    tma_ring.cuh, Fp8ScaleIterator
//                * scales, + bias                                     Fp8EpilogueSource::value
//                + residual, activation, rounding or quantising       result_boxes.cuh, activation.cuh
//                boxes to out by TMA                                  warp_boxes.cuh
//
// Shared memory  w, if resident | kStages x (a slice | b slice) | boxes of every warp | scales and bias of every
//                warpgroup's columns, of resident ones once | residuals' barriers | barriers
// Registers      producer 40, consumers 232: rows kResultColumns / 128 accumulators, and with kFast the bias of columns
//                that are resident, kBlockN / 8; otherwise sums of 64 rows and 128 columns at most, 64, with kPingPong
//                twice
//
// Config, problem facts
//   A, B                e4m3 or e5m2
//   Element             of out and a residual: bf16 or f16; Fp8 as in addmm_sm90.cuh
//   Bias                element type of a bias row
//   kScalingA, kScalingB  kPerTensor, kPerRow, kPerGroup (a only), kPerBlock (tile/fp8_row.cuh)
//   kFast               sums stay in the tensor cores; no scale changes along k
//   kBias, kActivation, kActivatesPart, kSplitColumns  as in addmm_sm90.cuh
//   kSpread             tile/tma_product.cuh; where an activation takes a part of resident columns
// Config, knobs         likewise; kXAlongK and kWAlongK are true
//
// What was tried: docs/experiments/fp8.md.
#pragma once
#include "fp8/fp8_gemm_sm90.h"
#include "tile/activation.cuh"
#include "tile/addmm_terms.h"
#include "tile/bias_row.cuh"
#include "tile/fp8_row.cuh"
#include "tile/result_boxes.cuh"
#include "tile/stored.cuh"
#include "tile/tma_product.cuh"

namespace hstu {

// The epilogue's shared memory, from its beginning.
template <class Config>
struct Fp8Boxes {
  enum : bool { kScaledColumns = Config::kScalingB == tile::kPerRow, kHasBias = (Config::kBias & kRowBias) != 0 };
  // Promotion of a slice's sums overlaps the next slice's products, where registers hold the sums of two; a tile then
  // takes one pass or two, for as many columns each.
  enum : bool { kOverlapsPromotion = Config::kPingPong && !Config::kFast };
  enum : int {
    kTilePasses = kOverlapsPromotion && Config::kBlockN == 256 ? 2 : 1,
    kPassColumns = Config::kBlockN / kTilePasses
  };
  enum : int { kAccumulators = (Config::kPingPong ? 2 : 1) * Config::kBlockM * kPassColumns / 256 };
  // Groups of 16 columns; the registers that are left.
  enum : bool {
    kManyOperands = kAccumulators == 128 && !Config::kFast && kScaledColumns && kHasBias,
    kLongActivation = kAccumulators >= 96 && tile::kLongActivation<Config::kActivation, typename Config::Element>
  };
  // A resident tile's bias stays in registers where no sums of slices want them.
  enum : bool {
    kBiasInRegisters = Config::kResident && Config::kFast && kHasBias && sizeof(typename Config::Bias) == 2
  };
  enum : bool { kManyInRegisters = kAccumulators >= 96 && kBiasInRegisters };
  enum : int { kAtOnce = kAccumulators > 128 ? 1 : kManyOperands || kLongActivation || kManyInRegisters ? 2 : 4 };
  using Boxes = tile::WarpBoxes<Config::kBoxes>;
  enum : int { kCopies = Config::kResident ? 1 : 2 };  // of scales and bias
  using Scales = tile::BiasRow<float, Config::kBlockN, kAtOnce, kCopies>;
  using Bias =
      typename tile::EitherBiasRow<kBiasInRegisters, typename Config::Bias, Config::kBlockN, kAtOnce, kCopies>::Type;
  enum : int { kScalesAt = 8 * Boxes::kBytes };
  enum : int { kBiasAt = kScalesAt + (kScaledColumns ? kCopies * Scales::kBytes : 0) };
  enum : int { kResidualsAt = kBiasAt + (kHasBias ? kCopies * Bias::kBytes : 0) };
  enum : int { kBytes = kResidualsAt + ((Config::kBias & kResidual) != 0 ? 8 * 8 : 0) };
};

template <class Config>
struct Fp8TmaShape : tile::TmaProductShape<Config, typename Config::A, typename Config::B, Fp8Boxes<Config>::kBytes>,
                     Fp8Boxes<Config> {
  using Product = tile::TmaProductShape<Config, typename Config::A, typename Config::B, Fp8Boxes<Config>::kBytes>;
  using Params = Fp8GemmTmaParams<Config::kSplitColumns ? 4 : 1>;
  enum : int { kTileColumns = Config::kBlockN };
  enum : bool { kSpread = Config::kSpread };
  enum : int { kRings = Config::kPingPong ? 2 : 1 };
  // Overlapped promotion of many slices with scales along k leaves few registers for more.
  enum : bool {
    kScalesAlongK = Config::kScalingA >= tile::kPerGroup || Config::kScalingB == tile::kPerBlock,
    kPlainEpilogue = Config::kBias == kNoBias && Config::kActivation == tile::kNoActivation &&
                     sizeof(typename tile::StoredOf<Config>::type) > 1,
    kDispatchesEarly = Fp8Boxes<Config>::kOverlapsPromotion && Config::kSlices > 4 && kScalesAlongK &&
                       (!kPlainEpilogue || Config::kScalingA == tile::kPerBlock)
  };
  using Ring = tile::TmaRing<Config::kStages / kRings, 2 / kRings, Config::kCluster>;
  using Accumulators = float[Product::kFragments][Fp8Boxes<Config>::kPassColumns / 2];
  using Fp8Boxes<Config>::kOverlapsPromotion, Fp8Boxes<Config>::kTilePasses, Fp8Boxes<Config>::kPassColumns;
  enum : int { kResultColumns = kPassColumns };
  enum : int { kPieces = (kPassColumns + 127) / 128, kPieceColumns = kPassColumns / kPieces };
  static_assert(kTilePasses == 1 || Config::kStages / kRings >= Config::kSlices,
                "rows stay for all of a tile's passes");
  static_assert(!kOverlapsPromotion || (Product::kFragments == 1 && kPieces == 1),
                "accumulators and two sums fit the registers");
  static_assert(Config::kPingPong == Config::kResident, "two rings would both fetch w");
  static_assert(Product::kBlockK == tile::kScaleSpan, "a slice has one scale along k");
  static_assert(Config::kScalingB != tile::kPerGroup, "scales that change along k and by column are not covered");
  static_assert(Config::kScalingB != tile::kPerBlock || (Config::kBlockN != 192 && !kSpread),
                "a piece's columns have one scale");

  HSTU_PRIM static Ring ring(u32 smem, u32 which) { return Ring(smem + Product::kBarriersAt + which * Ring::kBytes); }
  HSTU_PRIM static u32 stage(u32 smem, u32 which, u32 stage) {
    return smem + Product::kRingAt + (which * (Config::kStages / kRings) + stage) * Product::kStageBytes;
  }
  HSTU_PRIM static void load_x(u32 to, const Params& p, u32 barrier, i32 row, i32 k) {
    Product::TileX::load(to, &p.a, barrier, row, k, 0);
  }
  HSTU_PRIM static void prefetch_x(const Params& p, i32 row, i32 k) { Product::TileX::prefetch(&p.a, row, k); }
  // From a pass's first column to the next pass's.
  HSTU_PRIM static i32 pass_stride(i64 n) { return kPassColumns / 64 * tile::panel_stride<Fp8TmaShape>(n); }
  HSTU_PRIM static void load_w(u32 to, const Params& p, u32 barrier, i32 column, i32 k, u32 rank) {
    if constexpr (Config::kSpread)
      Product::TileW::load_spread(to, &p.b, barrier, column, tile::panel_stride<Fp8TmaShape>(p.n), k);
    else
      Product::TileW::load(to, &p.b, barrier, column, k, rank);
  }
};

template <class Config>
constexpr int fp8_gemm_sm90_smem_bytes = Fp8TmaShape<Config>::kSmemBytes;

// Which scales change along k; the sums of slices are multiplied by them. With kOverlapsPromotion also by the other
// per-row and per-tensor scales, so that the epilogue has less to do.
template <class Config>
struct Fp8Scaling {
  using Shape = Fp8TmaShape<Config>;
  using Params = typename Shape::Params;
  enum : int { kRows = 2 * Shape::kFragments };  // of a thread: g and g + 8 of each fragment
  enum : bool { kSlicesA = Config::kScalingA == tile::kPerGroup || Config::kScalingA == tile::kPerBlock };
  enum : bool { kSlicesB = Config::kScalingB == tile::kPerBlock };
  enum : bool { kSlices = kSlicesA || kSlicesB, kInSums = kSlices || Shape::kOverlapsPromotion };
  enum : bool {
    kRowsInSums = kSlicesA || Shape::kOverlapsPromotion,
    kColumnsInSums = kSlicesB || Shape::kOverlapsPromotion
  };

  // Of row `at`, and of the block of `column`, in the first slice.
  HSTU_PRIM static const float* of_row(const Params& p, i64 at) {
    const i64 row = min(at, p.m - 1), unit = Config::kScalingA == tile::kPerBlock ? row / tile::kScaleSpan : row;
    return p.a_descale + unit * p.a_descale_row_stride;
  }
  HSTU_PRIM static const float* of_column(const Params& p, i64 column) {
    return p.b_descale + min(column, p.n - 1) / tile::kScaleSpan * p.b_descale_row_stride;
  }
  HSTU_PRIM static i64 row_of(int i) { return i / 2 * 64 + i % 2 * 8 + prim::lane_id() / 4; }
};

// Scales of the sums of a slice.
template <class Config>
struct Fp8SliceScales {
  using Scaling = Fp8Scaling<Config>;
  HSTU_PRIM float of(int index, int piece) const { return row[index] * column[piece]; }
  float row[Scaling::kRows], column[Scaling::Shape::kPieces];
};

// Iterates over them, slice by slice: they are loaded while products of the slices before are in flight.
template <class Config>
class Fp8ScaleIterator {
 public:
  using Scaling = Fp8Scaling<Config>;
  using Shape = typename Scaling::Shape;
  using Params = typename Shape::Params;

  HSTU_PRIM explicit Fp8ScaleIterator(const Params& p) : p_(p) {}

  // Before the first slice of a tile's rows from `row` on.
  HSTU_PRIM void start(const Params& p, i32 row, i32 column) {
    if constexpr (Scaling::kRowsInSums)
#pragma unroll
      for (int i = 0; i < Scaling::kRows; ++i) row_[i] = Scaling::of_row(p, row + Scaling::row_of(i));
    if constexpr (kColumns)
#pragma unroll
      for (int i = 0; i < Shape::kPieces; ++i) column_[i] = Scaling::of_column(p, column + i * Shape::kPieceColumns);
  }
  HSTU_PRIM void load(Fp8SliceScales<Config>& to) {
#pragma unroll
    for (int i = 0; i < Scaling::kRows; ++i)
      to.row[i] = Scaling::kRowsInSums ? next<Scaling::kSlicesA>(row_[i], p_.a_descale_column_stride) : 1.0f;
#pragma unroll
    for (int i = 0; i < Shape::kPieces; ++i)
      to.column[i] = kColumns ? next<Scaling::kSlicesB>(column_[i], p_.b_descale_column_stride) : 1.0f;
  }

 private:
  enum : bool { kColumns = Scaling::kColumnsInSums && Config::kScalingB != tile::kPerRow };
  template <bool kMoves>
  HSTU_PRIM static float next(const float*& p, i64 stride) {
    const float scale = *p;
    if constexpr (kMoves) p += stride;
    return scale;
  }

  const Params& p_;
  const float* row_[Scaling::kRows];
  const float* column_[Shape::kPieces];
};

// A warpgroup's products: its tiles, or its half of each.
template <class Config>
class Fp8Consumer {
 public:
  using Shape = Fp8TmaShape<Config>;
  using Params = typename Shape::Params;
  using Scaling = Fp8Scaling<Config>;
  using Accumulators = typename Shape::Accumulators;
  enum : u32 { kTileStep = Config::kPingPong ? 2 : 1 };
  enum : bool { kOverlapsPromotion = Shape::kOverlapsPromotion };
  using SliceScales = Fp8SliceScales<Config>;
  static_assert(!Config::kFast || !Scaling::kSlices, "sums with scales along k must be promoted");
  static_assert(Shape::kTilePasses == 1 || !Scaling::kSlices, "all passes have the scales of the first");

  HSTU_PRIM Fp8Consumer(const Params& p, u32 smem, u32 warpgroup, u32 slices)
      : smem_(smem),
        slices_(slices),
        ring_(Config::kPingPong ? warpgroup : 0),
        first_tile(ring_),
        row(Config::kPingPong ? 0 : warpgroup * Shape::kRows),
        ping_pong_(smem, warpgroup),
        scale_iterator_(p) {}

  // Ahead of a tile's run(), by as much as there is to do.
  HSTU_PRIM void begin(const Params& p, i32 first_row, i32 column) {
    if constexpr (!Scaling::kInSums) return;
    scale_iterator_.start(p, first_row, column);
    scale_iterator_.load(scales_);
  }
  // acc = a bT of the next tile, or of its columns of this pass, descaled by what changes along k; with
  // kOverlapsPromotion by all but per-column scales.
  template <int kPass>
  HSTU_PRIM void run(Accumulators& acc) {
    ping_pong_.wait();
    if constexpr (Config::kFast)
      run_fast(acc);
    else if constexpr (kOverlapsPromotion)
      run_overlapped<kPass>(acc);
    else
      run_promoted(acc);
    resident_ = true;
  }
  // Behind the last tile: if the other warpgroup has one more, its second pass waits for a mainloop of ours.
  HSTU_PRIM void end(u32 tiles) {
    if (Shape::kTilePasses == 1 || ring_ == 0 || tiles % 2 == 0) return;
    ping_pong_.wait();
    ping_pong_.arrive();
  }

 private:
  using TileX = typename Shape::TileX;
  using TileW = typename Shape::TileW;
  enum : int { kSums = Shape::kPieceColumns / 2 };
  using Sums = float[kSums];

  HSTU_PRIM void run_fast(Accumulators& acc) {
    typename Shape::Ring::State release_state;
    for (u32 slice = 0; slice < slices_; ++slice) {
      wait(slice);
      prim::wgmma_fence();
#pragma unroll
      for (int f = 0; f < Shape::kFragments; ++f) issue<Config::kBlockN>(acc[f], slice, f, 0, slice > 0);
      prim::wgmma_commit();
      if (slice > 0) {
        prim::wgmma_wait<1>();
        ring().release(release_state);
      }
      release_state = read_state_;
      read_state_.advance();
    }
    ping_pong_.arrive();
    prim::wgmma_wait<0>();
    ring().release(release_state);
#pragma unroll
    for (int f = 0; f < Shape::kFragments; ++f) prim::warpgroup_fence_operand(acc[f]);
  }

  // The sums of one slice are promoted while the next is multiplied; one warpgroup keeps the tensor cores busy alone.
  template <int kPass>
  HSTU_PRIM void run_overlapped(Accumulators& acc) {
    Sums even, odd;
#pragma unroll
    for (float& to : acc[0]) to = 0.0f;
    if constexpr (kPass == 0)
      tile_state_ = read_state_;
    else
      read_state_ = tile_state_;
    auto release_state = read_state_;
    issue_slice<kPass>(even, 0);
    u32 slice = 1;
#pragma unroll
    for (; slice + 1 < Config::kSlices; slice += 2) {
      issue_slice<kPass>(odd, slice);
      finish_slice<1, kPass>(acc[0], even, release_state, true);
      issue_slice<kPass>(even, slice + 1);
      finish_slice<1, kPass>(acc[0], odd, release_state, true);
    }
    if constexpr (Config::kSlices % 2 == 0) {
      issue_slice<kPass>(odd, slice);
      finish_slice<1, kPass>(acc[0], even, release_state, true);
    }
    ping_pong_.arrive();
    if constexpr (Config::kSlices % 2 == 0)
      finish_slice<0, kPass>(acc[0], odd, release_state, false);
    else
      finish_slice<0, kPass>(acc[0], even, release_state, false);
  }
  // Promotes the slice at `before`, behind which kLater have been issued.
  template <int kLater, int kPass>
  HSTU_PRIM void finish_slice(Sums& acc, Sums& sums, typename Shape::Ring::State& release_state, bool more) {
    prim::wgmma_wait<kLater>();
    prim::warpgroup_fence_operand(sums);
    if constexpr (kPass + 1 == Shape::kTilePasses) ring().release(release_state);
    release_state.advance();
    promote(acc, sums, 0, scales_.of(0, 0), scales_.of(1, 0));
    if (Scaling::kSlices && more) scale_iterator_.load(scales_);
    // Else additions sink to where their sums are stored, and those of all slices stay in registers.
    prim::warpgroup_fence_operand(acc);
  }
  template <int kPass>
  HSTU_PRIM void issue_slice(Sums& sums, u32 slice) {
    wait(slice);
    prim::wgmma_fence();
    issue<Shape::kPieceColumns>(sums, slice, 0, kPass, false);
    prim::wgmma_commit();
    read_state_.advance();
  }

  HSTU_PRIM void run_promoted(Accumulators& acc) {
#pragma unroll
    for (int f = 0; f < Shape::kFragments; ++f)
#pragma unroll
      for (float& to : acc[f]) to = 0.0f;
#pragma unroll 1
    for (u32 slice = 0; slice < slices_; ++slice) {
      wait(slice);
      run_slice(acc, slice);
      read_state_.advance();
    }
  }

  // Piece by piece.
  HSTU_PRIM void run_slice(Accumulators& acc, u32 slice) {
    float scale[Scaling::kRows][Shape::kPieces];
#pragma unroll
    for (int f = 0; f < Shape::kFragments; ++f)
#pragma unroll
      for (int piece = 0; piece < Shape::kPieces; ++piece) {
        Sums sums;
        prim::wgmma_fence();
        issue<Shape::kPieceColumns>(sums, slice, f, piece, false);
        prim::wgmma_commit();
        if (Scaling::kSlices && f == 0 && piece == 0) load_scales(scale, slice + 1 < slices_);
        prim::wgmma_wait<0>();
        prim::warpgroup_fence_operand(sums);
        if (f + 1 == Shape::kFragments && piece + 1 == Shape::kPieces) ring().release(read_state_);
        promote(acc[f], sums, piece, scale[2 * f][piece], scale[2 * f + 1][piece]);
        prim::warpgroup_fence_operand(acc[f]);  // else accumulators move: to where the sums were, and back
      }
  }
  // The slice's own; those of the next one are then loaded.
  HSTU_PRIM void load_scales(float (&scale)[Scaling::kRows][Shape::kPieces], bool more) {
#pragma unroll
    for (int i = 0; i < Scaling::kRows; ++i)
#pragma unroll
      for (int piece = 0; piece < Shape::kPieces; ++piece) scale[i][piece] = scales_.of(i, piece);
    if (more) scale_iterator_.load(scales_);
  }

  HSTU_PRIM static void promote(float (&acc)[Shape::kPassColumns / 2], const Sums& sums, int piece, float scale_low,
                                float scale_high) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      float& to = acc[piece * kSums + i];
      if constexpr (Scaling::kInSums)
        to = __fmaf_rn(sums[i], i & 2 ? scale_high : scale_low, to);
      else
        to += sums[i];
    }
  }

  HSTU_PRIM typename Shape::Ring ring() const { return Shape::ring(smem_, ring_); }
  HSTU_PRIM void wait(u32 slice) const {
    if (Shape::kSlicesHaveBarriers && !resident_) prim::mbarrier_wait(smem_ + Shape::kSlicesAt + 8 * slice, 0);
    ring().wait(read_state_);
  }

  // Products of the slice, of 64 rows from 64 f on and kColumns columns of a piece, of all passes' pieces.
  template <int kColumns>
  HSTU_PRIM void issue(float (&d)[kColumns / 2], u32 slice, int f, int piece, bool add) const {
    const u32 stage = Shape::stage(smem_, ring_, read_state_.stage);
    const u64 x = TileX::descriptor(stage, static_cast<int>(row) + 64 * f);
    const u64 w = TileW::descriptor(Config::kResident ? smem_ + slice * TileW::kBytes : stage + TileX::kBytes,
                                    piece * Shape::kPieceColumns);
#pragma unroll
    for (int step = 0; step < TileX::kSteps; ++step)
      prim::Wgmma<kColumns>::template ss<typename Config::A, typename Config::B>(
          d, TileX::at_step(x, step), TileW::at_step(w, step), step > 0 || add);
  }

  const u32 smem_, slices_, ring_;

 public:
  const u32 first_tile, row;  // row: the warpgroup's first in a tile

 private:
  tile::PingPongBarrier<Shape> ping_pong_;
  typename Shape::Ring::State read_state_, tile_state_;  // the next slice; a tile's first
  bool resident_ = false;
  Fp8ScaleIterator<Config> scale_iterator_;
  SliceScales scales_;  // of the next slice that is promoted
};

// The columns' scales and bias, and sums with both: the source of tile/result_boxes.cuh.
template <class Config>
class Fp8EpilogueSource {
 public:
  using Shape = Fp8TmaShape<Config>;
  using Params = typename Shape::Params;
  using Scaling = Fp8Scaling<Config>;
  using Results = tile::ResultBoxes<Shape>;

  HSTU_PRIM Fp8EpilogueSource(const Params& p, u32 smem, u32 warpgroup)
      : p_(p),
        scales_(smem + Shape::kEpilogueAt + Shape::kScalesAt, warpgroup),
        bias_(smem + Shape::kEpilogueAt + Shape::kBiasAt, warpgroup) {}

  // Before the first tile: columns that stay.
  HSTU_PRIM void begin(i32 column) {
    if constexpr (!Config::kResident) return;
    fetch_columns(column);
    share_columns();
  }
  // Before a tile's products.
  HSTU_PRIM void fetch(i32 row, i32 column) {
    if constexpr (!Shape::kOverlapsPromotion) {
      const float columns = Scaling::kColumnsInSums || Shape::kScaledColumns ? 1.0f : *Scaling::of_column(p_, column);
#pragma unroll
      for (int i = 0; i < Scaling::kRows; ++i)
        scale_[i] = Scaling::kRowsInSums ? columns : columns * *Scaling::of_row(p_, row + Scaling::row_of(i));
    }
    if constexpr (!Config::kResident) fetch_columns(column);
  }
  // After them.
  HSTU_PRIM void share(const typename Shape::Accumulators& acc, int pass) {
    acc_ = &acc;
    pass_ = pass;
    if constexpr (!Config::kResident) share_columns();
    next(0, 0);
  }

  HSTU_PRIM float value(int fragment, int i, int held) const {
    float x = (*acc_)[fragment][i];
    if constexpr (!Shape::kOverlapsPromotion) x *= scale_[2 * fragment + (i >> 1 & 1)];
    if constexpr (Shape::kScaledColumns) x *= scales_.value(held, i >> 2 & 1, i & 1);
    if constexpr (Shape::kHasBias) x += bias_.value(held, i >> 2 & 1, i & 1);
    return x;
  }
  HSTU_PRIM void next(int box, int group) {
    if (box == Results::kTileBoxes) return;
    const int in_line = (pass_ * Results::kLineBoxes + box % Results::kLineBoxes) * 4 + group;
    if constexpr (Shape::kScaledColumns) scales_.read(in_line);
    if constexpr (Shape::kHasBias) bias_.read(in_line);
  }

 private:
  HSTU_PRIM void fetch_columns(i32 column) {
    const i64 panel_stride = tile::panel_stride<Shape>(p_.n);
    if constexpr (Shape::kScaledColumns)
      scales_.fetch(p_.b_descale, p_.b_descale_row_stride, column, p_.n, panel_stride);
    if constexpr (Shape::kHasBias) bias_.fetch(p_.bias, 1, column, p_.n, panel_stride);
  }
  HSTU_PRIM void share_columns() {
    if constexpr (Shape::kScaledColumns) scales_.share();
    if constexpr (Shape::kHasBias) bias_.share();
  }

  const Params& p_;
  typename Shape::Scales scales_;
  typename Shape::Bias bias_;
  float scale_[Scaling::kRows];
  const typename Shape::Accumulators* acc_;
  int pass_ = 0;
};

template <class Config>
struct Fp8Roles {
  using Shape = Fp8TmaShape<Config>;
  using Params = typename Shape::Params;
  using Schedule = tile::TmaSchedule<Shape>;

  HSTU_PRIM static void init(u32 smem) { tile::ResultBoxes<Shape>::init(smem); }

  // A warpgroup that multiplies.
  HSTU_PRIM static void consume(const Params& p, const Schedule& schedule, u32 smem, u32 warp) {
    Fp8Consumer<Config> consumer(p, smem, warp / 4, schedule.slices);
    Fp8EpilogueSource<Config> rows(p, smem, warp / 4);
    tile::ResultBoxes<Shape> results(p, smem, warp);
    WorkTile work{static_cast<i32>(consumer.row + warp % 4 * 16), consumer.first_tile,
                  schedule.position(consumer.first_tile)};
    rows.begin(schedule.column(work.tile));
    if (work.i < schedule.count) {
      consumer.begin(p, schedule.row(work.tile) + work.warp_row, schedule.column(work.tile));
      do {
        run_pass<0>(p, schedule, consumer, rows, results, work);
        if constexpr (Shape::kTilePasses == 2) run_pass<1>(p, schedule, consumer, rows, results, work);
      } while (work.i < schedule.count);
    }
    consumer.end(schedule.count);
    Shape::Boxes::wait_for_all();
  }

 private:
  struct WorkTile {
    const i32 warp_row;  // in a tile
    u32 i;
    tile::TilePosition tile;
  };

  // One pass over a tile; behind the last, `work` is the next tile.
  template <int kPass>
  HSTU_PRIM static void run_pass(const Params& p, const Schedule& schedule, Fp8Consumer<Config>& consumer,
                                 Fp8EpilogueSource<Config>& rows, tile::ResultBoxes<Shape>& results, WorkTile& work) {
    const i32 row = schedule.row(work.tile) + work.warp_row;
    const i32 column = schedule.column(work.tile) + kPass * Shape::pass_stride(p.n);
    results.begin(row, column);
    rows.fetch(row, column);
    typename Shape::Accumulators acc;
    consumer.template run<kPass>(acc);
    if constexpr (kPass + 1 == Shape::kTilePasses) {
      work.i += consumer.kTileStep;
      if (work.i < schedule.count) {
        work.tile = schedule.position(work.i);
        consumer.begin(p, schedule.row(work.tile) + work.warp_row, schedule.column(work.tile));
      }
    }
    rows.share(acc, kPass);
    results.run(rows);
  }
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    fp8_gemm_sm90(const __grid_constant__ typename Fp8TmaShape<Config>::Params p) {
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  tile::run_roles<Fp8Roles<Config>>(p, prim::smem_addr(smem_storage));
}

}  // namespace hstu
