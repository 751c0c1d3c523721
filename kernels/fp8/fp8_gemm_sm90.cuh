// Products of FP8 matrices, sm_90: z = act(a bT + y) with both operands' scales, on wgmma's FP8 products.
//
// The pipeline is tile/tma_product.cuh's: a slice has 128 k. The tensor cores add FP8 products up with 14 bits, so the
// sums of each slice are promoted: scaled, where scales change along k, and added to accumulators in f32. With
// kFast they stay in the tensor cores from the first slice to the last.
//
// With kPingPong each warpgroup has tiles, a ring and a producer thread of its own, so that a parity is always the next
// lap's, whatever the other does. They take turns at the tensor cores, which one alone keeps busy: the sums of a slice
// are promoted while the next is multiplied (64 x 128), or with kFast there is nothing to promote (64 x 256). One's
// epilogue runs beside the other's products. w is resident then, or both rings would fetch it.
//
// 256 columns without kFast are multiplied in two turns of a warpgroup, by the same rows of a, which stay in the ring
// for both: as many clocks of tensor cores for half of the rows that arrive. H200, 98304 x 512 by 2048: 180 us where 64
// x 128 tiles take 193; products alone 141, with results that are not stored 153, stored to L2 167.
//
// Otherwise both halve each tile along m, and one promotes while the other multiplies.
//
// Scales that change along k are fetched to registers one slice ahead, which leaves so few that warps part early where
// a tile has many slices and more than stores to end with. H200, 65536 x 768 by 2048 in blocks, a bias and SiLU:
// without turns 217 us, with turns 191; 65536 x 1024 by 4096, blocks on both sides: 464 and 429. Copied to shared
// memory with each slice by a warp of their own, as they also were, they cost 5 to 19 % where stores are all that ends
// a tile.
//
// With kPingPong and kFast shared memory is, counted out, as busy as the tensor cores: of the 2,048 clocks that a 64 x
// 256 tile's products of k 512 take, their operands want 1,280, rows arriving 256, boxes written and fetched 512, and
// each column factor that the epilogue reads there 256 more. Hence the bias in registers. H200, 98304 x 512 by 2048
// columns with a bias, SiLU of 512, results in four parts, back to back: 213 to 230 us; spread 190 to 195; and with the
// bias in registers 181 to 185, 201 in the stack where it was 243.
//
// Shared memory  w, if resident | kStages x (a slice | b slice) | boxes of every warp | scales and bias of every
//                warpgroup's columns, of resident ones once | residuals' barriers | barriers
// Registers      producer 40, consumers 232: rows kResultColumns / 128 accumulators, and with kFast the bias of columns
//                that are resident, kBlockN / 8; otherwise sums of 64 rows and 128 columns at most, 64, with kPingPong
//                twice
//
// Config, problem facts
//   A, B                e4m3 or e5m2
//   Element             of z and a residual: bf16 or f16; Fp8 as in addmm_sm90.cuh
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
  enum : bool { kScaledColumns = Config::kScalingB == tile::kPerRow, kHasBias = Config::kBias == kRowBias };
  // Where there are registers for the sums of two slices; turns that a tile takes then, for as many columns each.
  enum : bool { kInTurn = Config::kPingPong && !Config::kFast };
  enum : int { kTileTurns = kInTurn && Config::kBlockN == 256 ? 2 : 1, kTurnColumns = Config::kBlockN / kTileTurns };
  enum : int { kAccumulators = (Config::kPingPong ? 2 : 1) * Config::kBlockM * kTurnColumns / 256 };
  // Groups of 16 columns; the registers that are left.
  enum : bool {
    kManyTerms = kAccumulators == 128 && !Config::kFast && kScaledColumns && kHasBias,
    kLongActivation = kAccumulators >= 96 && tile::kLongActivation<Config::kActivation, typename Config::Element>
  };
  // A resident tile's bias stays in registers where no sums of slices want them.
  enum : bool { kHoldsBias = Config::kResident && Config::kFast && kHasBias && sizeof(typename Config::Bias) == 2 };
  enum : bool { kManyHeld = kAccumulators >= 96 && kHoldsBias };
  enum : int { kAtOnce = kAccumulators > 128 ? 1 : kManyTerms || kLongActivation || kManyHeld ? 2 : 4 };
  using Boxes = tile::WarpBoxes<Config::kBoxes>;
  enum : int { kCopies = Config::kResident ? 1 : 2 };  // of scales and bias
  using Scales = tile::BiasRow<float, Config::kBlockN, kAtOnce, kCopies>;
  using Bias = typename tile::EitherBiasRow<kHoldsBias, typename Config::Bias, Config::kBlockN, kAtOnce, kCopies>::Type;
  enum : int { kScalesAt = 8 * Boxes::kBytes };
  enum : int { kBiasAt = kScalesAt + (kScaledColumns ? kCopies * Scales::kBytes : 0) };
  enum : int { kResidualsAt = kBiasAt + (kHasBias ? kCopies * Bias::kBytes : 0) };
  enum : int { kBytes = kResidualsAt + (Config::kBias == kResidual ? 8 * 8 : 0) };
};

template <class Config>
struct Fp8TmaShape : tile::TmaProductShape<Config, typename Config::A, typename Config::B, Fp8Boxes<Config>::kBytes>,
                     Fp8Boxes<Config> {
  using Product = tile::TmaProductShape<Config, typename Config::A, typename Config::B, Fp8Boxes<Config>::kBytes>;
  using Params = Fp8GemmTmaParams<Config::kSplitColumns ? 4 : 1>;
  enum : int { kTileColumns = Config::kBlockN };
  enum : bool { kSpread = Config::kSpread };
  enum : int { kRings = Config::kPingPong ? 2 : 1 };
  // Turns of many slices with scales along k leave few registers for more.
  enum : bool {
    kScalesAlongK = Config::kScalingA >= tile::kPerGroup || Config::kScalingB == tile::kPerBlock,
    kEndsPlainly = Config::kBias == kNoBias && Config::kActivation == tile::kNoActivation &&
                   sizeof(typename tile::StoredOf<Config>::type) > 1,
    kPartsEarly = Fp8Boxes<Config>::kInTurn && Config::kSlices > 4 && kScalesAlongK &&
                  (!kEndsPlainly || Config::kScalingA == tile::kPerBlock)
  };
  using Ring = tile::TmaRing<Config::kStages / kRings, 2 / kRings, Config::kCluster>;
  using Accumulators = float[Product::kFragments][Fp8Boxes<Config>::kTurnColumns / 2];
  using Fp8Boxes<Config>::kInTurn, Fp8Boxes<Config>::kTileTurns, Fp8Boxes<Config>::kTurnColumns;
  enum : int { kResultColumns = kTurnColumns };
  enum : int { kPieces = (kTurnColumns + 127) / 128, kPieceColumns = kTurnColumns / kPieces };
  static_assert(kTileTurns == 1 || Config::kStages / kRings >= Config::kSlices, "rows stay for all of a tile's turns");
  static_assert(!kInTurn || (Product::kFragments == 1 && kPieces == 1), "accumulators and two sums fit the registers");
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
  // From a turn's first column to the next turn's.
  HSTU_PRIM static i32 turn_stride(i64 n) { return kTurnColumns / 64 * tile::panel_stride<Fp8TmaShape>(n); }
  HSTU_PRIM static void load_w(u32 to, const Params& p, u32 barrier, i32 column, i32 k, u32 rank) {
    if constexpr (Config::kSpread)
      Product::TileW::load_spread(to, &p.b, barrier, column, tile::panel_stride<Fp8TmaShape>(p.n), k);
    else
      Product::TileW::load(to, &p.b, barrier, column, k, rank);
  }
};

template <class Config>
constexpr int fp8_gemm_sm90_smem_bytes = Fp8TmaShape<Config>::kSmemBytes;

// Which scales change along k; the sums of slices are multiplied by them. With kInTurn also by the others of rows and
// tensors, so that the epilogue has less to do.
template <class Config>
struct Fp8Scaling {
  using Shape = Fp8TmaShape<Config>;
  using Params = typename Shape::Params;
  enum : int { kRows = 2 * Shape::kFragments };  // of a thread: g and g + 8 of each fragment
  enum : bool { kSlicesA = Config::kScalingA == tile::kPerGroup || Config::kScalingA == tile::kPerBlock };
  enum : bool { kSlicesB = Config::kScalingB == tile::kPerBlock };
  enum : bool { kSlices = kSlicesA || kSlicesB, kInSums = kSlices || Shape::kInTurn };
  enum : bool { kRowsInSums = kSlicesA || Shape::kInTurn, kColumnsInSums = kSlicesB || Shape::kInTurn };

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

// Walks through them, slice by slice: they are fetched while slices before are at work.
template <class Config>
class Fp8ScaleWalk {
 public:
  using Scaling = Fp8Scaling<Config>;
  using Shape = typename Scaling::Shape;
  using Params = typename Shape::Params;

  HSTU_PRIM explicit Fp8ScaleWalk(const Params& p) : p_(p) {}

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
  enum : bool { kInTurn = Shape::kInTurn };
  using SliceScales = Fp8SliceScales<Config>;
  static_assert(!Config::kFast || !Scaling::kSlices, "sums with scales along k must be promoted");
  static_assert(Shape::kTileTurns == 1 || !Scaling::kSlices, "all turns have the scales of the first");

  HSTU_PRIM Fp8Consumer(const Params& p, u32 smem, u32 warpgroup, u32 slices)
      : smem_(smem),
        slices_(slices),
        ring_(Config::kPingPong ? warpgroup : 0),
        first_tile(ring_),
        row(Config::kPingPong ? 0 : warpgroup * Shape::kRows),
        turns_(smem, warpgroup),
        walk_(p) {}

  // Ahead of a tile's run(), by as much as there is to do.
  HSTU_PRIM void begin(const Params& p, i32 first_row, i32 column) {
    if constexpr (!Scaling::kInSums) return;
    walk_.start(p, first_row, column);
    walk_.load(scales_);
  }
  // acc = a bT of the next tile, or of its columns of this turn, descaled by what changes along k; with kInTurn by all
  // but columns of their own.
  template <int kTurn>
  HSTU_PRIM void run(Accumulators& acc) {
    turns_.wait();
    if constexpr (Config::kFast)
      run_fast(acc);
    else if constexpr (kInTurn)
      run_in_turn<kTurn>(acc);
    else
      run_promoted(acc);
    resident_ = true;
  }
  // Behind the last tile: the other's, if it has one more, takes turns that wait for ours in between.
  HSTU_PRIM void end(u32 tiles) {
    if (Shape::kTileTurns == 1 || ring_ == 0 || tiles % 2 == 0) return;
    turns_.wait();
    turns_.pass();
  }

 private:
  using TileX = typename Shape::TileX;
  using TileW = typename Shape::TileW;
  enum : int { kSums = Shape::kPieceColumns / 2 };
  using Sums = float[kSums];

  HSTU_PRIM void run_fast(Accumulators& acc) {
    typename Shape::Ring::Place before;
    for (u32 slice = 0; slice < slices_; ++slice) {
      wait(slice);
      prim::wgmma_fence();
#pragma unroll
      for (int f = 0; f < Shape::kFragments; ++f) issue<Config::kBlockN>(acc[f], slice, f, 0, slice > 0);
      prim::wgmma_commit();
      if (slice > 0) {
        prim::wgmma_wait<1>();
        ring().release(before);
      }
      before = at_;
      at_.advance();
    }
    turns_.pass();
    prim::wgmma_wait<0>();
    ring().release(before);
#pragma unroll
    for (int f = 0; f < Shape::kFragments; ++f) prim::wgmma_keep(acc[f]);
  }

  // The sums of one slice are promoted while the next is multiplied; one warpgroup keeps the tensor cores busy alone.
  template <int kTurn>
  HSTU_PRIM void run_in_turn(Accumulators& acc) {
    Sums even, odd;
#pragma unroll
    for (float& to : acc[0]) to = 0.0f;
    if constexpr (kTurn == 0)
      tile_at_ = at_;
    else
      at_ = tile_at_;
    auto before = at_;
    issue_slice<kTurn>(even, 0);
    u32 slice = 1;
#pragma unroll
    for (; slice + 1 < Config::kSlices; slice += 2) {
      issue_slice<kTurn>(odd, slice);
      finish_slice<1, kTurn>(acc[0], even, before, true);
      issue_slice<kTurn>(even, slice + 1);
      finish_slice<1, kTurn>(acc[0], odd, before, true);
    }
    if constexpr (Config::kSlices % 2 == 0) {
      issue_slice<kTurn>(odd, slice);
      finish_slice<1, kTurn>(acc[0], even, before, true);
    }
    turns_.pass();
    if constexpr (Config::kSlices % 2 == 0)
      finish_slice<0, kTurn>(acc[0], odd, before, false);
    else
      finish_slice<0, kTurn>(acc[0], even, before, false);
  }
  // Promotes the slice at `before`, behind which kLater have been issued.
  template <int kLater, int kTurn>
  HSTU_PRIM void finish_slice(Sums& acc, Sums& sums, typename Shape::Ring::Place& before, bool more) {
    prim::wgmma_wait<kLater>();
    prim::wgmma_keep(sums);
    if constexpr (kTurn + 1 == Shape::kTileTurns) ring().release(before);
    before.advance();
    promote(acc, sums, 0, scales_.of(0, 0), scales_.of(1, 0));
    if (Scaling::kSlices && more) walk_.load(scales_);
    prim::wgmma_keep(acc);  // else additions sink to where their sums are stored, and all slices' stay in registers
  }
  template <int kTurn>
  HSTU_PRIM void issue_slice(Sums& sums, u32 slice) {
    wait(slice);
    prim::wgmma_fence();
    issue<Shape::kPieceColumns>(sums, slice, 0, kTurn, false);
    prim::wgmma_commit();
    at_.advance();
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
      at_.advance();
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
        if (Scaling::kSlices && f == 0 && piece == 0) take_scales(scale, slice + 1 < slices_);
        prim::wgmma_wait<0>();
        prim::wgmma_keep(sums);
        if (f + 1 == Shape::kFragments && piece + 1 == Shape::kPieces) ring().release(at_);
        promote(acc[f], sums, piece, scale[2 * f][piece], scale[2 * f + 1][piece]);
        prim::wgmma_keep(acc[f]);  // else accumulators move: to where the sums were, and back
      }
  }
  // The slice's own, and the next one's on their way.
  HSTU_PRIM void take_scales(float (&scale)[Scaling::kRows][Shape::kPieces], bool more) {
#pragma unroll
    for (int i = 0; i < Scaling::kRows; ++i)
#pragma unroll
      for (int piece = 0; piece < Shape::kPieces; ++piece) scale[i][piece] = scales_.of(i, piece);
    if (more) walk_.load(scales_);
  }

  HSTU_PRIM static void promote(float (&acc)[Shape::kTurnColumns / 2], const Sums& sums, int piece, float scale_low,
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
    ring().wait(at_);
  }

  // Products of the slice, of 64 rows from 64 f on and kColumns columns of a piece, of all turns' pieces.
  template <int kColumns>
  HSTU_PRIM void issue(float (&d)[kColumns / 2], u32 slice, int f, int piece, bool add) const {
    const u32 stage = Shape::stage(smem_, ring_, at_.stage);
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
  tile::Turns<Shape> turns_;
  typename Shape::Ring::Place at_, tile_at_;  // the next slice; a tile's first
  bool resident_ = false;
  Fp8ScaleWalk<Config> walk_;
  SliceScales scales_;  // of the next slice that is promoted
};

// The columns' scales and bias, and sums with both: the source of tile/result_boxes.cuh.
template <class Config>
class Fp8Rows {
 public:
  using Shape = Fp8TmaShape<Config>;
  using Params = typename Shape::Params;
  using Scaling = Fp8Scaling<Config>;
  using Results = tile::ResultBoxes<Shape>;

  HSTU_PRIM Fp8Rows(const Params& p, u32 smem, u32 warpgroup)
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
    if constexpr (!Shape::kInTurn) {
      const float columns = Scaling::kColumnsInSums || Shape::kScaledColumns ? 1.0f : *Scaling::of_column(p_, column);
#pragma unroll
      for (int i = 0; i < Scaling::kRows; ++i)
        scale_[i] = Scaling::kRowsInSums ? columns : columns * *Scaling::of_row(p_, row + Scaling::row_of(i));
    }
    if constexpr (!Config::kResident) fetch_columns(column);
  }
  // After them.
  HSTU_PRIM void share(const typename Shape::Accumulators& acc, int turn) {
    acc_ = &acc;
    turn_ = turn;
    if constexpr (!Config::kResident) share_columns();
    next(0, 0);
  }

  HSTU_PRIM float value(int fragment, int i, int held) const {
    float x = (*acc_)[fragment][i];
    if constexpr (!Shape::kInTurn) x *= scale_[2 * fragment + (i >> 1 & 1)];
    if constexpr (Shape::kScaledColumns) x *= scales_.value(held, i >> 2 & 1, i & 1);
    if constexpr (Shape::kHasBias) x += bias_.value(held, i >> 2 & 1, i & 1);
    return x;
  }
  HSTU_PRIM void next(int box, int group) {
    if (box == Results::kTileBoxes) return;
    const int in_line = (turn_ * Results::kLineBoxes + box % Results::kLineBoxes) * 4 + group;
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
  int turn_ = 0;
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
    Fp8Rows<Config> rows(p, smem, warp / 4);
    tile::ResultBoxes<Shape> results(p, smem, warp);
    Place at{static_cast<i32>(consumer.row + warp % 4 * 16), consumer.first_tile,
             schedule.position(consumer.first_tile)};
    rows.begin(schedule.column(at.tile));
    if (at.i < schedule.count) {
      consumer.begin(p, schedule.row(at.tile) + at.warp_row, schedule.column(at.tile));
      do {
        take_turn<0>(p, schedule, consumer, rows, results, at);
        if constexpr (Shape::kTileTurns == 2) take_turn<1>(p, schedule, consumer, rows, results, at);
      } while (at.i < schedule.count);
    }
    consumer.end(schedule.count);
    Shape::Boxes::wait_for_all();
  }

 private:
  struct Place {
    const i32 warp_row;  // in a tile
    u32 i;
    tile::TilePosition tile;
  };

  // One of a tile's turns; behind the last, `at` is the next tile.
  template <int kTurn>
  HSTU_PRIM static void take_turn(const Params& p, const Schedule& schedule, Fp8Consumer<Config>& consumer,
                                  Fp8Rows<Config>& rows, tile::ResultBoxes<Shape>& results, Place& at) {
    const i32 row = schedule.row(at.tile) + at.warp_row;
    const i32 column = schedule.column(at.tile) + kTurn * Shape::turn_stride(p.n);
    results.begin(row, column);
    rows.fetch(row, column);
    typename Shape::Accumulators acc;
    consumer.template run<kTurn>(acc);
    if constexpr (kTurn + 1 == Shape::kTileTurns) {
      at.i += consumer.kTileStep;
      if (at.i < schedule.count) {
        at.tile = schedule.position(at.i);
        consumer.begin(p, schedule.row(at.tile) + at.warp_row, schedule.column(at.tile));
      }
    }
    rows.share(acc, kTurn);
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
