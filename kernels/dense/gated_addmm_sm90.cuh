// The output stage of an HSTU layer in one product, sm_90: out = residual + [u | attn | g] w, where g = norm(attn) * u
// is made beside the products of u and attn and never touches memory. f32 inside; g and out are rounded.
//
//   producer warps  u, attn slices ──TMA──► ring of kStagesX ──┬─► wgmma u w1, attn w2 ─┐
//                                                              └─► ldmatrix ► g ► wgmma g w3 ─► accumulators ─► out
//                   residual, w1, w2, w3 ─► ring of kStagesW ──┘
//
// Persistent: a block walks output tiles (tile/tma_product.cuh), which two warpgroups halve along m. Of 64 k the
// stream of w has three slices, one for each segment. While those of u and attn are multiplied, each warp reads what it
// needs of u and attn as fragments, and g is in the registers that wgmma takes it from. A tile of kBlockN columns
// recomputes g, so these should be few.
//
// The residual comes first in a tile's stream of w, and the accumulators start from it: so it takes no shared memory of
// its own.
//
// Statistics of attn's rows are read as those of their parts (tile/part_moments.cuh), a head's columns each.
//
// What runs, and the file behind each line, in tile/ unless a folder is named; other names are of this file:
//   producers  for each tile                                                    tma_product.cuh, raster.cuh
//                for each slice: u and attn to the ring of x                    produce_x, wgmma_operand.cuh
//                the residual, then w1, w2, w3 of each slice, to the ring of w  produce_w, tma_ring.cuh
//   consumer   for each tile                                                    consume_gated
//                load moments of its rows; merge them                           Gate, part_moments.cuh
//                accumulators from the residual                                 GatedConsumer::start_from_residual
//                kLead: wait until the first warpgroup is ahead                 LeadBarrier
//                for each slice: issue u w1, then attn w2                       GatedConsumer::run_slice
//                  g = norm(attn) * u in registers meanwhile                    Gate::compute, dense/norm_affine.cuh
//                  issue g w3; release stages whose products are done           multiply_words, wait_and_release
//                rounding; boxes to out by TMA                                  GatedEpilogue, warp_boxes.cuh
//
// Shared memory  kStagesX x (u slice | attn slice) | kStagesW x w slice | boxes of every warp | weight and bias of the
//                norm | barriers
// Registers      producers 40, consumers 232: kBlockM kBlockN / 256 accumulators, kBlockM / 8 words of g
// Barriers       full, empty of each stage; with kLead, how far the first warpgroup is
//
// Config, problem facts
//   Element             bf16 or f16: u, attn, w, residual, out
//   Weight              of the norm's weight and bias: Element or float
//   kDim                columns of u and attn, a multiple of 64
//   kParts              of a row of attn that have moments
//   kHasResidual        [m, n]; may be out
//   kWAlongK            w is column-major
//   kResident, kCluster false and 1 (tile/tma_product.cuh)
// Config, knobs
//   kBlockM, kBlockN    tile: 128 x 256, or 256 x 128; n is a multiple of kBlockN
//   kStagesX, kStagesW  of the rings
//   kBlockK             k of a slice of w: 64, or 32 if w is row-major
//   kGroup              tile rows walked together (tile/raster.cuh)
//   kBoxes              of 16 rows x 64 columns a warp: stores in flight
//   kLead               slices of w by which the first warpgroup begins a tile ahead of the other, so that one's
//                       epilogue runs beside the other's products
//
// On an H200, 98304 rows, k and n 512: 231 us, where norm_mul and addmm take 303. Measured slower: pairs of blocks that
// fetch w together (326), tiles of 256 x 128 (258), rings of 3 and 3 (253). What else was tried:
// docs/experiments/dense.md.
#pragma once
#include "dense/gated_addmm_sm90.h"
#include "dense/norm_affine.cuh"
#include "prim/named_barrier.cuh"
#include "tile/part_moments.cuh"
#include "tile/tma_product.cuh"
#include "tile/warp_boxes.cuh"

namespace hstu {

template <class Config_>
struct GatedAddmmShape {
  using Config = Config_;
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  using Params = GatedAddmmParams;
  enum : int { kWarpgroups = 2, kConsumerWarps = 4 * kWarpgroups };
  enum : int { kRows = Config::kBlockM / kWarpgroups, kFragments = kRows / 64 };  // of a warpgroup
  enum : int { kTileColumns = Config::kBlockN, kLineBoxes = Config::kBlockN / 64 };
  enum : bool { kSpread = false };  // tile/tma_product.cuh
  enum : int { kBlockK = 64, kSlices = Config::kDim / kBlockK };
  static_assert(Config::kThreads == 128 * (kWarpgroups + 1), "two warpgroups multiply, one more has the producers");
  static_assert(kRows % 64 == 0 && Config::kBlockN % 64 == 0, "a warpgroup's part is pieces of 64 x 64");
  static_assert(Config::kDim % kBlockK == 0, "a slice has 64 k of one segment");

  using TileX = tile::WgmmaOperand<Element, Config::kBlockM, true>;
  using TileW = tile::WgmmaOperand<Element, Config::kBlockN, Config::kWAlongK, 1, Config::kBlockK>;
  using Wgmma = prim::Wgmma<Config::kBlockN>;
  using Accumulators = float[kFragments][Config::kBlockN / 2];
  using Words = u32[kFragments][kBlockK / 4];  // of g
  using Boxes = tile::WarpBoxes<Config::kBoxes>;
  using Affine = tile::NormAffine<Weight, Config::kDim>;
  using RingX = tile::TmaRing<Config::kStagesX, kConsumerWarps>;
  using RingW = tile::TmaRing<Config::kStagesW, kConsumerWarps>;
  enum : int { kWSlices = kBlockK / Config::kBlockK };  // of one segment
  static_assert(Config::kLead <= kWSlices * 3 && Config::kLead + kWSlices <= Config::kStagesW,
                "what is ahead is in the ring, behind what the other warpgroup has not released");

  // The residual in the ring: pieces of 64 columns x 128 rows, column after column, then the next rows.
  enum : int { kPieceBytes = 128 * 128 };
  enum : int { kPieces = Config::kHasResidual ? Config::kBlockM / 128 * kLineBoxes : 0 };
  enum : int { kStagePieces = TileW::kBytes / kPieceBytes };
  static_assert(kStagePieces >= 1 && kPieces % kStagePieces == 0, "the residual fills whole stages");

  // Offsets in shared memory.
  enum : int { kStageXBytes = 2 * TileX::kBytes };
  enum : int { kRingWAt = Config::kStagesX * kStageXBytes };
  enum : int { kBoxesAt = kRingWAt + Config::kStagesW * TileW::kBytes };
  enum : int { kAffineAt = kBoxesAt + kConsumerWarps * Boxes::kBytes };
  enum : int { kBarriersXAt = kAffineAt + Affine::kBytes };
  enum : int { kBarriersWAt = kBarriersXAt + RingX::kBytes };
  enum : int { kLeadAt = kBarriersWAt + RingW::kBytes };
  enum : int { kSmemBytes = kLeadAt + (Config::kLead > 0 ? 8 : 0) };

  HSTU_PRIM static RingX ring_x(u32 smem) { return RingX(smem + kBarriersXAt); }
  HSTU_PRIM static RingW ring_w(u32 smem) { return RingW(smem + kBarriersWAt); }
  HSTU_PRIM static u32 stage_x(u32 smem, u32 stage) { return smem + stage * kStageXBytes; }
  HSTU_PRIM static u32 stage_w(u32 smem, u32 stage) { return smem + kRingWAt + stage * TileW::kBytes; }

  // All panels of a slice at once: the map's dimensions are 64 columns, k, groups of 64 columns; if w is column-major,
  // k, columns, 1.
  HSTU_PRIM static void load_w(u32 to, const Params& p, u32 barrier, i32 column, i32 k) {
    if constexpr (Config::kWAlongK)
      prim::tma_load_3d(to, &p.w, barrier, k, column, 0);
    else
      prim::tma_load_3d(to, &p.w, barrier, 0, k, column / 64);
  }
};

template <class Config>
constexpr int gated_addmm_sm90_smem_bytes = GatedAddmmShape<Config>::kSmemBytes;

// One thread: u and attn, slice by slice.
template <class Config>
HSTU_PRIM void produce_x(const GatedAddmmParams& p, const tile::TmaSchedule<GatedAddmmShape<Config>>& schedule,
                         u32 smem) {
  using Shape = GatedAddmmShape<Config>;
  typename Shape::RingX::State write_state;
  for (u32 i = 0; i < schedule.count; ++i) {
    const i32 row = schedule.row(schedule.position(i));
    for (int slice = 0; slice < Shape::kSlices; ++slice) {
      const u32 full = Shape::ring_x(smem).acquire(write_state, Shape::kStageXBytes),
                stage = Shape::stage_x(smem, write_state.stage);
      Shape::TileX::load(stage, &p.u, full, row, slice * Shape::kBlockK, 0);
      Shape::TileX::load(stage + Shape::TileX::kBytes, &p.attn, full, row, slice * Shape::kBlockK, 0);
      write_state.advance();
    }
  }
}

// One thread: the residual, then w's slices in the order of the products.
template <class Config>
HSTU_PRIM void produce_w(const GatedAddmmParams& p, const tile::TmaSchedule<GatedAddmmShape<Config>>& schedule,
                         u32 smem) {
  using Shape = GatedAddmmShape<Config>;
  constexpr int kPieces = Shape::kStagePieces;
  typename Shape::RingW::State write_state;
  for (u32 i = 0; i < schedule.count; ++i) {
    const tile::TilePosition tile = schedule.position(i);
    const i32 row = schedule.row(tile), column = schedule.column(tile);
    for (int piece = 0; piece < Shape::kPieces; piece += kPieces) {
      const u32 full = Shape::ring_w(smem).acquire(write_state, Shape::TileW::kBytes);
#pragma unroll
      for (int j = 0; j < kPieces; ++j)
        prim::tma_load_2d(Shape::stage_w(smem, write_state.stage) + j * Shape::kPieceBytes, &p.residual, full,
                          column + (piece + j) % Shape::kLineBoxes * 64, row + (piece + j) / Shape::kLineBoxes * 128);
      write_state.advance();
    }
    for (i32 slice = 0; slice < Shape::kSlices; ++slice)
      for (i32 segment = 0; segment < 3; ++segment)
#pragma unroll
        for (i32 part = 0; part < Shape::kWSlices; ++part) {
          const u32 full = Shape::ring_w(smem).acquire(write_state, Shape::TileW::kBytes);
          Shape::load_w(Shape::stage_w(smem, write_state.stage), p, full, column,
                        segment * Config::kDim + slice * Shape::kBlockK + part * Config::kBlockK);
          write_state.advance();
        }
  }
}

// g of a warp's rows, as the words that wgmma takes.
template <class Config>
class Gate {
 public:
  using Shape = GatedAddmmShape<Config>;

  HSTU_PRIM Gate(const GatedAddmmParams& p, u32 smem, u32 line)
      : p_(p), line_(line), affine_(smem + Shape::kAffineAt) {}

  // Before a tile: statistics of the thread's rows, `row` the first.
  HSTU_PRIM void fetch(i64 row) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) moments_.fetch(i, p_.moments, min(row + i / 2 * 64 + i % 2 * 8, p_.m - 1));
  }
  HSTU_PRIM void merge() {
#pragma unroll
    for (int i = 0; i < kRows; ++i) scale_[i] = moments_.merge(i, Config::kDim / Config::kParts, p_.eps);
  }

  // Of slice number `slice`, at `u` and, behind it, attn.
  HSTU_PRIM void compute(typename Shape::Words& words, u32 u, u32 slice) const {
#pragma unroll
    for (int step = 0; step < Shape::TileX::kSteps; ++step) {
      float weight[4], bias[4];
      affine_.read(weight, bias, slice * Shape::TileX::kSteps + step);
#pragma unroll
      for (int f = 0; f < Shape::kFragments; ++f) {
        const u32 at = u + (line_ ^ step << 5) + f * 64 * 128;
        u32 factor[4], attn[4];
        prim::ldmatrix_x4(factor, at);
        prim::ldmatrix_x4(attn, at + Shape::TileX::kBytes);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const tile::RowScale& row = scale_[2 * f + i % 2];
          const float lo = __fmaf_rn(__fmaf_rn(prim::unpack_lo<Element>(attn[i]), row.scale, row.shift),
                                     weight[i / 2 * 2], bias[i / 2 * 2]);
          const float hi = __fmaf_rn(__fmaf_rn(prim::unpack_hi<Element>(attn[i]), row.scale, row.shift),
                                     weight[i / 2 * 2 + 1], bias[i / 2 * 2 + 1]);
          words[f][4 * step + i] =
              prim::pack2<Element>(lo * prim::unpack_lo<Element>(factor[i]), hi * prim::unpack_hi<Element>(factor[i]));
        }
      }
    }
  }

 private:
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  enum : int { kRows = 2 * Shape::kFragments };  // of a thread: g and g + 8 of each fragment

  const GatedAddmmParams& p_;
  const u32 line_;
  const typename Shape::Affine affine_;
  tile::MergedMoments<kRows, Config::kParts> moments_;
  tile::RowScale scale_[kRows];
};

// How far the first warpgroup is in its tile, if it leads.
template <class Shape>
class LeadBarrier {
 public:
  enum : int { kSlices = Shape::Config::kLead };
  HSTU_PRIM LeadBarrier(u32 smem, u32 warpgroup) : barrier_(smem + Shape::kLeadAt), leads_(warpgroup == 0) {}
  HSTU_PRIM static void init(u32 smem) {
    if constexpr (kSlices > 0) prim::mbarrier_init(smem + Shape::kLeadAt, 1);
  }
  // Before the first products of a tile.
  HSTU_PRIM void wait() {
    if constexpr (kSlices > 0) {
      if (!leads_) prim::mbarrier_wait(barrier_, parity_);
      parity_ ^= 1;
    }
  }
  // When `issued` slices of it are in flight.
  HSTU_PRIM void arrive(int issued) const {
    if (kSlices > 0 && issued == kSlices && leads_ && threadIdx.x == 0) prim::mbarrier_arrive(barrier_);
  }

 private:
  const u32 barrier_;
  const bool leads_;
  u32 parity_ = 0;
};

// A warpgroup's products: its half of each tile.
template <class Config>
class GatedConsumer {
 public:
  using Shape = GatedAddmmShape<Config>;
  using Accumulators = typename Shape::Accumulators;

  HSTU_PRIM GatedConsumer(const GatedAddmmParams& p, u32 smem, u32 warp)
      : smem_(smem),
        row_(warp / 4 * Shape::kRows),
        line_((row_ + warp % 4 * 16 + prim::lane_id() % 16) * 128 +
              (((prim::lane_id() / 16) ^ (prim::lane_id() % 8)) << 4)),
        gate_(p, smem, line_),
        lead_(smem, warp / 4) {}

  // acc = residual + [u | attn | g] w of the next tile; `row` is the thread's first.
  HSTU_PRIM void run(Accumulators& acc, i64 row) {
    gate_.fetch(row);
    if constexpr (Config::kHasResidual) start_from_residual(acc);
    gate_.merge();
    lead_.wait();
#pragma unroll 1
    for (u32 slice = 0; slice < Shape::kSlices; ++slice) run_slice(acc, slice);
    prim::wgmma_wait<0>();
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) release_w();
#pragma unroll
    for (int f = 0; f < Shape::kFragments; ++f) prim::warpgroup_fence_operand(acc[f]);
  }

 private:
  using Element = typename Config::Element;
  using TileX = typename Shape::TileX;
  using TileW = typename Shape::TileW;
  // Slices of w in flight while the next is awaited: 64 k, as long as it takes to compute g.
  enum : int { kInFlight = Shape::kWSlices };
  // At a tile's beginning the residual's last stages, not released yet, stand for the products in flight.
  enum : bool { kNoneBefore = !Config::kHasResidual };
  static_assert(kNoneBefore || Shape::kPieces >= kInFlight * Shape::kStagePieces, "the residual has so many stages");

  HSTU_PRIM void start_from_residual(Accumulators& acc) {
    constexpr int kEach = Shape::kStagePieces;
#pragma unroll
    for (int piece = 0; piece < Shape::kPieces; ++piece) {
      if (piece % kEach == 0) Shape::ring_w(smem_).wait(read_state_w_);
      const u32 rows = piece / Shape::kLineBoxes * 128;
      if (row_ >= rows && row_ < rows + 128) {
        const u32 at = Shape::stage_w(smem_, read_state_w_.stage) + piece % kEach * Shape::kPieceBytes - rows * 128;
#pragma unroll
        for (int f = 0; f < Shape::kFragments; ++f) read_piece(acc[f], piece % Shape::kLineBoxes, at + f * 64 * 128);
      }
      if (piece % kEach == kEach - 1) {
        read_state_w_.advance();
        if (piece < Shape::kPieces - kInFlight * kEach) release_w();
      }
    }
#pragma unroll
    for (int f = 0; f < Shape::kFragments; ++f) prim::warpgroup_fence_operand(acc[f]);
  }
  HSTU_PRIM void read_piece(float (&acc)[Config::kBlockN / 2], int box, u32 at) const {
#pragma unroll
    for (int group = 0; group < 4; ++group) {
      u32 word[4];
      prim::ldmatrix_x4(word, at + (line_ ^ group << 5));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        acc[32 * box + 8 * group + 2 * i] = prim::unpack_lo<Element>(word[i]);
        acc[32 * box + 8 * group + 2 * i + 1] = prim::unpack_hi<Element>(word[i]);
      }
    }
  }

  HSTU_PRIM void run_slice(Accumulators& acc, u32 slice) {
    const bool first = slice == 0;
    Shape::ring_x(smem_).wait(read_state_x_);
    const u32 u = Shape::stage_x(smem_, read_state_x_.stage), attn = u + TileX::kBytes;
    multiply<0>(acc, u, first);
    wait_and_release(kNoneBefore && first);
    multiply<1>(acc, attn, first);
    typename Shape::Words g;
    gate_.compute(g, u, slice);
    wait_and_release();
    multiply_words(acc, g, first);
    wait_and_release();
    Shape::ring_x(smem_).release_by_warp(read_state_x_);
    read_state_x_.advance();
  }

  // The segment's slices of w, of which the last one stays in flight.
  template <int kSegment>
  HSTU_PRIM void multiply(Accumulators& acc, u32 x_slice, bool first) {
    const u64 x = TileX::descriptor(x_slice, static_cast<int>(row_));
#pragma unroll
    for (int part = 0; part < Shape::kWSlices; ++part) {
      if (part > 0) wait_and_release(kNoneBefore && first && kSegment == 0);
      const u64 w = next_w();
#pragma unroll
      for (int step = 0; step < TileW::kSteps; ++step)
#pragma unroll
        for (int f = 0; f < Shape::kFragments; ++f)
          Shape::Wgmma::template ss<Element, Element, TileX::kMajor, TileW::kMajor>(
              acc[f], prim::advance_descriptor(TileX::at_step(x, part * TileW::kSteps + step), f * 64 * 128),
              TileW::at_step(w, step), Config::kHasResidual || kSegment > 0 || part > 0 || step > 0 || !first);
      prim::wgmma_commit();
      if (first) lead_.arrive(kSegment * Shape::kWSlices + part + 1);
    }
  }
  HSTU_PRIM void multiply_words(Accumulators& acc, const typename Shape::Words& g, bool first) {
#pragma unroll
    for (int part = 0; part < Shape::kWSlices; ++part) {
      if (part > 0) wait_and_release();
      const u64 w = next_w();
#pragma unroll
      for (int step = 0; step < TileW::kSteps; ++step)
#pragma unroll
        for (int f = 0; f < Shape::kFragments; ++f) {
          const u32* word = g[f] + 4 * (part * TileW::kSteps + step);
          Shape::Wgmma::template rs<Element, Element, TileW::kMajor>(acc[f], word[0], word[1], word[2], word[3],
                                                                     TileW::at_step(w, step), 1);
        }
      prim::wgmma_commit();
      if (first) lead_.arrive(2 * Shape::kWSlices + part + 1);
    }
  }

  HSTU_PRIM u64 next_w() {
    Shape::ring_w(smem_).wait(read_state_w_);
    const u64 w = TileW::descriptor(Shape::stage_w(smem_, read_state_w_.stage), 0);
    read_state_w_.advance();
    prim::wgmma_fence();
    return w;
  }
  // Waits until kInFlight slices are left in flight. Without a residual there are no more at a tile's beginning
  // (`none`).
  HSTU_PRIM void wait_and_release(bool none = false) {
    if (none) return;
    prim::wgmma_wait<kInFlight>();
    release_w();
  }
  HSTU_PRIM void release_w() {
    Shape::ring_w(smem_).release_by_warp(release_state_w_);
    release_state_w_.advance();
  }

  const u32 smem_, row_, line_;  // row_: the warpgroup's first in a tile; line_: what the lane reads of 16 rows x 16 k
  Gate<Config> gate_;
  LeadBarrier<Shape> lead_;
  typename Shape::RingX::State read_state_x_;
  typename Shape::RingW::State read_state_w_, release_state_w_;  // release_state_w_: of the oldest stage in use
};

// out from a warp's accumulators; see tile/warp_boxes.cuh.
template <class Config>
class GatedEpilogue {
 public:
  using Shape = GatedAddmmShape<Config>;

  HSTU_PRIM explicit GatedEpilogue(const typename Shape::Accumulators& acc) : acc_(acc) {}
  HSTU_PRIM void make(u32 (&word)[4], int, int box, int group) const {
    const int f = box / Shape::kLineBoxes, first = 32 * (box % Shape::kLineBoxes) + 8 * group;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      word[i] = prim::pack2<typename Config::Element>(acc_[f][first + 2 * i], acc_[f][first + 2 * i + 1]);
  }
  HSTU_PRIM static void next(int, int) {}

 private:
  const typename Shape::Accumulators& acc_;
};

// A warpgroup that multiplies.
template <class Config>
HSTU_PRIM void consume_gated(const GatedAddmmParams& p, const tile::TmaSchedule<GatedAddmmShape<Config>>& schedule,
                             u32 smem, u32 warp) {
  using Shape = GatedAddmmShape<Config>;
  constexpr int kThreads = 32 * Shape::kConsumerWarps;
  Shape::Affine::template share<kThreads>(smem + Shape::kAffineAt, p.weight, p.bias);
  prim::named_barrier_sync<1, kThreads>();
  GatedConsumer<Config> consumer(p, smem, warp);
  const typename Shape::Boxes boxes(smem + Shape::kBoxesAt + warp * Shape::Boxes::kBytes);
  for (u32 i = 0; i < schedule.count; ++i) {
    const tile::TilePosition tile = schedule.position(i);
    const i32 column = schedule.column(tile);
    const i32 row = schedule.row(tile) + static_cast<i32>(warp / 4 * Shape::kRows + warp % 4 * 16);
    const i64 thread_row = row + static_cast<i32>(prim::lane_id() / 4);
    typename Shape::Accumulators acc;
    consumer.run(acc, thread_row);
    const GatedEpilogue<Config> epilogue(acc);
    tile::write_boxes<Shape::kFragments * Shape::kLineBoxes, Shape::kLineBoxes, 2>(boxes, &p.out, column, row,
                                                                                   epilogue);
  }
  boxes.wait_for_all();
}

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    gated_addmm_sm90(const __grid_constant__ GatedAddmmParams p) {
  using Shape = GatedAddmmShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage), warp = prim::warp_id();
  if (threadIdx.x == 0) {
    Shape::ring_x(smem).init();
    Shape::ring_w(smem).init();
    LeadBarrier<Shape>::init(smem);
    prim::mbarrier_fence_init();
  }
  __syncthreads();
  tile::wait_for_kernels_before();

  const tile::TmaSchedule<Shape> schedule(p);
  if (warp >= Shape::kConsumerWarps) {
    prim::warpgroup_reg_dealloc<40>();
    if (warp == Shape::kConsumerWarps && prim::elect_one()) produce_x<Config>(p, schedule, smem);
    if (warp == Shape::kConsumerWarps + 1 && prim::elect_one()) produce_w<Config>(p, schedule, smem);
  } else {
    prim::warpgroup_reg_alloc<232>();
    consume_gated<Config>(p, schedule, smem, warp);
  }
}

}  // namespace hstu
