// The output stage of an HSTU layer in one FP8 product, sm_90: out = residual + [u | attn | g] wT, where g =
// norm(attn) * u is made beside the products. u and attn come in 16 bits and are quantised in registers, with a scale
// for each row: neither they in FP8 nor g ever touch memory. Sums stay in the tensor cores from the first slice to the
// last.
//
//   producer warps  u, attn slices ──TMA──► ring of kStagesX ──► registers ► u, attn, g in FP8 ─┐
//                   w1, w2, w3 ─► ring of kStagesW ─────────────────────────────────────────────┴► wgmma ► accumulators
//                   residual ───► the same ring ───────────────────────────────────────────────────────► out
//
// Persistent: a block walks output tiles (tile/tma_product.cuh), which two warpgroups halve along m. Of kBlockK k the
// stream of w has three slices, one for each segment. A warpgroup computes its words of all three, then multiplies them
// while the other computes its own; slices of 64 k are double-buffered: words of the next beside these products. The
// residual comes last in a tile's stream of w.
//
// Per-row scale: a power of two, so that quantising is exact but for the last rounding, and one for all three
// segments, so that nothing needs scaling between them. It maps a bound on the row's amax to less than 256, of the 448
// that E4M3 reaches; with 18 binades in E4M3 what is far below that loses nothing. The bound is
//   of attn   |mean| + sqrt(kDim) standard deviations, which no value can pass
//   of g      (sqrt(kDim) max |weight| + max |bias|) max |u|
//   of u      four times its amax in the first slice's columns
// When a later slice exceeds the bound after all, the row's accumulators are rescaled, by a power of two again.
//
// The words of wgmma's a have four k that lie side by side, so u and attn are read 8 bytes a lane; in the order of
// fragment_row() rows of a fragment fall into different banks.
//
// Statistics of attn's rows are read as those of their parts (tile/part_moments.cuh), a head's columns each.
//
// What runs, and the file behind each line, in tile/ unless a folder is named; other names are of this file:
//   producers  for each tile: u and attn to the ring of x, half a slice a stage  produce_fp8_x, wgmma_operand.cuh
//                w1, w2, w3 of each slice, then the residual, to the ring of w   produce_fp8_w, tma_ring.cuh
//   consumer   weight and bias of the norm to shared memory                      Fp8Gate::share_affine
//              for each tile: load moments of its rows; merge them               Fp8Gate, part_moments.cuh
//                amax of u in the first slice; the rows' scales                  Fp8Gate::choose_scales
//                for each slice: u, attn, g = norm(attn) * u to FP8              Fp8Gate::compute, prim/fp8.cuh
//                  release its stages of x; issue the three products             GatedFp8Consumer::run_slice
//                  wait for them; release the stages of w                        wait_and_release
//                  amax of the next slice; rescale if it exceeds                 wait_for_next_slice, Fp8Gate::rescale
//                * per-row, per-column scales, + residual, rounding              GatedFp8Epilogue, bias_row.cuh
//                boxes to out by TMA                                             warp_boxes.cuh
//
// Shared memory  kStagesX x (u slice | attn slice) | kStagesW x w slice | boxes of every warp | weight and bias of the
//                norm | w's scales of every warpgroup's columns | barriers
// Registers      producers 40, consumers 232: kBlockN / 2 accumulators, 48 words; shares of 24 and 240 spill more
// Barriers       full, empty of each stage
//
// Config, problem facts
//   Element             bf16 or f16: u, attn, residual, out
//   Weight              of the norm's weight and bias: Element or float
//   Fp8                 of w, and what u, attn and g are quantised to: e4m3
//   kDim                columns of u and attn, a multiple of 128
//   kParts              of a row of attn that have moments
//   kHasResidual        [m, n]; may be out
//   kResident, kCluster false and 1 (tile/tma_product.cuh)
// Config, knobs
//   kBlockM, kBlockN    tile: 128 x 256; n is a multiple of kBlockN
//   kBlockK             k of a slice: 64 or 128
//   kStagesX, kStagesW  of the rings; kStagesX at least 2
//   kGroup              tile rows walked together (tile/raster.cuh)
//   kBoxes              of 16 rows x 64 columns a warp: stores in flight
//
// On an H200, 98304 rows, k and n 512, slices of 128 k, groups of 1: 177 us, where norm_mul and fp8_gemm take 250.
// Measured slower: groups of 8 and 16 (180, 182), rings of 3 and 3 (184), u and attn of the next tile brought to L2
// ahead (192). What else was tried: docs/experiments/fp8.md.
#pragma once
#include "fp8/gated_fp8_gemm_sm90.h"
#include "prim/fp8.cuh"
#include "prim/named_barrier.cuh"
#include "tile/bias_row.cuh"
#include "tile/part_moments.cuh"
#include "tile/tma_product.cuh"
#include "tile/warp_boxes.cuh"

namespace hstu {

template <class Config_>
struct GatedFp8Shape {
  using Config = Config_;
  using Element = typename Config::Element;
  using Fp8 = typename Config::Fp8;
  using Params = GatedFp8GemmParams;
  enum : int { kWarpgroups = 2, kConsumerWarps = 4 * kWarpgroups };
  enum : int { kRows = 64 };  // of a warpgroup
  enum : int { kTileColumns = Config::kBlockN, kLineBoxes = Config::kBlockN / 64 };
  enum : bool { kSpread = false };  // tile/tma_product.cuh
  enum : int { kBlockK = Config::kBlockK, kSlices = Config::kDim / kBlockK };
  static_assert(Config::kThreads == 128 * (kWarpgroups + 1), "two warpgroups multiply, one more has the producers");
  static_assert(Config::kBlockM == kWarpgroups * kRows, "a warpgroup has 64 rows");
  static_assert(Config::kBlockN % 64 == 0, "a warpgroup's part is pieces of 64 x 64");
  static_assert(kBlockK == 128 || kBlockK == 64, "a slice has 128 k of one segment, or 64");
  static_assert(Config::kDim % 128 == 0, "slices come in pairs");
  enum : bool { kDoubleBuffered = kBlockK == 64 };  // there are registers for the words of two slices

  // 64 columns of 16 bits: a slice, or half of one.
  using HalfX = tile::WgmmaOperand<Element, Config::kBlockM, true>;
  using TileW = tile::WgmmaOperand<Fp8, Config::kBlockN, true, 1, kBlockK>;
  using Wgmma = prim::Wgmma<Config::kBlockN>;
  using Accumulators = float[Config::kBlockN / 2];
  enum : int { kHalves = kBlockK / 64, kHalfWords = 8, kWords = kHalves * kHalfWords };
  using Words = u32[3][kWords];  // of u, attn, g
  using Boxes = tile::WarpBoxes<Config::kBoxes>;
  using RingX = tile::TmaRing<Config::kStagesX, kConsumerWarps>;
  using RingW = tile::TmaRing<Config::kStagesW, kConsumerWarps>;
  static_assert(Config::kStagesX >= kHalves, "a slice is seen as a whole");
  enum : int { kAtOnce = 2 };  // groups of 16 columns of the epilogue
  using Scales = tile::BiasRow<float, Config::kBlockN, kAtOnce>;

  // The residual in the ring: pieces of 64 columns x 128 rows, side by side.
  enum : int { kPieceBytes = 128 * 128 };
  enum : int { kPieces = Config::kHasResidual ? kLineBoxes : 0 };
  enum : int { kStagePieces = TileW::kBytes / kPieceBytes };
  static_assert(kStagePieces >= 1 && kPieces % kStagePieces == 0, "the residual fills whole stages");

  // Weight and bias of the norm: of each 4 columns the weights, then the biases, in f32.
  enum : int { kAffineLine = 32 };

  // Offsets in shared memory.
  enum : int { kStageXBytes = 2 * HalfX::kBytes };
  enum : int { kRingWAt = Config::kStagesX * kStageXBytes };
  enum : int { kBoxesAt = kRingWAt + Config::kStagesW * TileW::kBytes };
  enum : int { kAffineAt = kBoxesAt + kConsumerWarps * Boxes::kBytes };
  enum : int { kGainAt = kAffineAt + Config::kDim / 4 * kAffineLine };
  enum : int { kScalesAt = kGainAt + 16 };
  enum : int { kBarriersXAt = kScalesAt + kWarpgroups * Scales::kBytes };
  enum : int { kBarriersWAt = kBarriersXAt + RingX::kBytes };
  enum : int { kSmemBytes = kBarriersWAt + RingW::kBytes };

  HSTU_PRIM static RingX ring_x(u32 smem) { return RingX(smem + kBarriersXAt); }
  HSTU_PRIM static RingW ring_w(u32 smem) { return RingW(smem + kBarriersWAt); }
  HSTU_PRIM static u32 stage_x(u32 smem, u32 stage) { return smem + stage * kStageXBytes; }
  HSTU_PRIM static u32 stage_w(u32 smem, u32 stage) { return smem + kRingWAt + stage * TileW::kBytes; }

  // The row of 16, or of 8, that row `of` of a fragment is. Four rows that half a warp reads 32 bytes of, from the same
  // column on, lie in different banks under the 128-byte swizzle if they are 2 apart.
  HSTU_PRIM static u32 fragment_row(u32 of) { return (of & 8) | (of & 3) << 1 | (of >> 2 & 1); }
};

template <class Config>
constexpr int gated_fp8_gemm_sm90_smem_bytes = GatedFp8Shape<Config>::kSmemBytes;

// One thread: u and attn, half a slice a stage.
template <class Config>
HSTU_PRIM void produce_fp8_x(const GatedFp8GemmParams& p, const tile::TmaSchedule<GatedFp8Shape<Config>>& schedule,
                             u32 smem) {
  using Shape = GatedFp8Shape<Config>;
  using HalfX = typename Shape::HalfX;
  typename Shape::RingX::State write_state;
  for (u32 i = 0; i < schedule.count; ++i) {
    const i32 row = schedule.row(schedule.position(i));
    for (i32 k = 0; k < Config::kDim; k += HalfX::kBlockK) {
      const u32 full = Shape::ring_x(smem).acquire(write_state, Shape::kStageXBytes),
                stage = Shape::stage_x(smem, write_state.stage);
      HalfX::load(stage, &p.u, full, row, k, 0);
      HalfX::load(stage + HalfX::kBytes, &p.attn, full, row, k, 0);
      write_state.advance();
    }
  }
}

// One thread: w's slices in the order of the products, then the residual.
template <class Config>
HSTU_PRIM void produce_fp8_w(const GatedFp8GemmParams& p, const tile::TmaSchedule<GatedFp8Shape<Config>>& schedule,
                             u32 smem) {
  using Shape = GatedFp8Shape<Config>;
  typename Shape::RingW::State write_state;
  for (u32 i = 0; i < schedule.count; ++i) {
    const tile::TilePosition tile = schedule.position(i);
    const i32 row = schedule.row(tile), column = schedule.column(tile);
    for (i32 slice = 0; slice < Shape::kSlices; ++slice)
      for (i32 segment = 0; segment < 3; ++segment) {
        const u32 full = Shape::ring_w(smem).acquire(write_state, Shape::TileW::kBytes);
        Shape::TileW::load(Shape::stage_w(smem, write_state.stage), &p.w, full, column,
                           segment * Config::kDim + slice * Shape::kBlockK, 0);
        write_state.advance();
      }
    for (int piece = 0; piece < Shape::kPieces; piece += Shape::kStagePieces) {
      const u32 full = Shape::ring_w(smem).acquire(write_state, Shape::TileW::kBytes);
#pragma unroll
      for (int j = 0; j < Shape::kStagePieces; ++j)
        prim::tma_load_2d(Shape::stage_w(smem, write_state.stage) + j * Shape::kPieceBytes, &p.residual, full,
                          column + (piece + j) * 64, row);
      write_state.advance();
    }
  }
}

// What a row is multiplied with before it is quantised: a power of two.
class RowMultiplier {
 public:
  RowMultiplier() = default;
  // So that what is at most `bound` becomes less than kMostScaled.
  enum : int { kMostScaled = 256 };
  HSTU_PRIM explicit RowMultiplier(float bound) {
    const u32 bits = (261u << 23) - (max(__float_as_uint(bound), 8u << 23) & 0x7f800000u);
    pair_ = bits | bits >> 16;
  }

  HSTU_PRIM float value() const { return __uint_as_float(bits()); }
  HSTU_PRIM float inverse() const { return __uint_as_float((254u << 23) - bits()); }
  // Of a pair; a power of two leaves bf16's digits as they are, so that they are multiplied while packed.
  template <class Element>
  HSTU_PRIM void apply(float& lo, float& hi, u32 pair) const;

 private:
  HSTU_PRIM u32 bits() const { return pair_ & 0xffff0000u; }

  u32 pair_;  // of bf16
};
template <>
HSTU_PRIM void RowMultiplier::apply<bf16>(float& lo, float& hi, u32 pair) const {
  const u32 product = prim::mul2_bf16(pair, pair_);
  lo = prim::unpack_lo<bf16>(product);
  hi = prim::unpack_hi<bf16>(product);
}
template <>
HSTU_PRIM void RowMultiplier::apply<f16>(float& lo, float& hi, u32 pair) const {
  lo = prim::unpack_lo<f16>(pair) * value();
  hi = prim::unpack_hi<f16>(pair) * value();
}

// u, attn and g of a warp's rows in FP8, as the words that wgmma takes.
template <class Config>
class Fp8Gate {
 public:
  using Shape = GatedFp8Shape<Config>;
  enum : int { kRows = 2 };  // of a thread: g and g + 8 of the fragment

  HSTU_PRIM Fp8Gate(const GatedFp8GemmParams& p, u32 smem, u32 first_row) : p_(p) {
    const u32 g = prim::lane_id() / 4, t = prim::lane_id() % 4, row = Shape::fragment_row(g);
    line_ = (first_row + row) * 128 + (((t / 2) ^ row) << 4) + t % 2 * 8;
    affine_ = smem + Shape::kAffineAt + t * Shape::kAffineLine;
    gain_ = smem + Shape::kGainAt;
  }

  // By all consumers, before the first tile.
  HSTU_PRIM static void share_affine(const GatedFp8GemmParams& p, u32 smem) {
    for (u32 column = threadIdx.x; column < Config::kDim; column += 32 * Shape::kConsumerWarps) {
      const u32 at = smem + Shape::kAffineAt + column / 4 * Shape::kAffineLine + column % 4 * 4;
      prim::st_shared(at, __float_as_uint(prim::to_float(static_cast<const Weight*>(p.weight)[column])));
      prim::st_shared(at + 16, __float_as_uint(prim::to_float(static_cast<const Weight*>(p.bias)[column])));
    }
    if (threadIdx.x < 32) share_gain(p, smem);
    prim::named_barrier_sync<3, 32 * Shape::kConsumerWarps>();
  }

  // Before a tile: statistics of the thread's rows, `row` the first.
  HSTU_PRIM void fetch(i64 row) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) moments_.fetch(i, p_.moments, min(row + i * 8, p_.m - 1));
  }
  HSTU_PRIM void merge() {
#pragma unroll
    for (int i = 0; i < kRows; ++i) norm_[i] = moments_.merge(i, Config::kDim / Config::kParts, p_.eps);
  }

  // amax of u's rows in a slice, whose halves are at `u`. Its order does not matter, so a lane reads 16 bytes
  // at once; with odd g the other half of a row first, so that rows next to each other are read from different banks.
  HSTU_PRIM static void row_amax(float (&amax)[kRows], const u32 (&u)[Shape::kHalves]) {
    const u32 thread = prim::thread_id(), row = Shape::fragment_row(thread / 4 % 8);
    const u32 line = (thread / 32 * 16 + row) * 128 + (((thread % 4 + thread / 4 % 2 * 4) ^ row) << 4);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      u32 pair = 0;
#pragma unroll
      for (int part = 0; part < 2 * Shape::kHalves; ++part) {
        const prim::Quad quad = prim::ld_shared(u[part / 2] + (line ^ part % 2 << 6) + i * 8 * 128);
#pragma unroll
        for (const u32 word : quad.word) pair = prim::max_magnitude2<Element>(pair, word);
      }
      pair &= 0x7fff7fffu;
      amax[i] = prim::lane_max<4>(fmaxf(prim::unpack_lo<Element>(pair), prim::unpack_hi<Element>(pair)));
    }
  }

  // The rows' scales, from the first slice.
  HSTU_PRIM void choose_scales(const u32 (&u)[Shape::kHalves]) {
    float amax[kRows];
    row_amax(amax, u);
#pragma unroll
    for (int i = 0; i < kRows; ++i) choose_scale(i, amax[i]);
  }
  // Whether any of the warpgroup's rows needs another scale for a later slice, of such values.
  HSTU_PRIM bool exceeds(const float (&amax)[kRows]) const {
    return any_of_warpgroup(exceeds(0, amax[0]) || exceeds(1, amax[1]));
  }
  // Then the rows' scales anew, and what accumulators are multiplied with.
  HSTU_PRIM void rescale(float (&factor)[kRows], const float (&amax)[kRows]) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const RowMultiplier before = multiplier_[i];
      if (exceeds(i, amax[i])) {
        norm_[i].scale *= before.value();
        choose_scale(i, amax[i]);
      }
      factor[i] = multiplier_[i].value() * before.inverse();
    }
  }
  HSTU_PRIM float descale(int i) const { return multiplier_[i].inverse(); }

  // Of half `half` of slice number `slice`, at `u` and, behind it, attn.
  template <int kHalf>
  HSTU_PRIM void compute(typename Shape::Words& words, u32 u, u32 slice) const {
    const u32 affine = affine_ + (slice * Shape::kHalves + kHalf) * 16 * Shape::kAffineLine;
#pragma unroll
    for (int group = 0; group < 4; ++group) {  // of 16 columns, of which the lane has 4
      const prim::Quad weight = prim::ld_shared(affine + group * 4 * Shape::kAffineLine);
      const prim::Quad bias = prim::ld_shared(affine + group * 4 * Shape::kAffineLine + 16);
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const u32 at = u + (line_ ^ group << 5) + i * 8 * 128;
        float factor[4], attn[4], g[4];
        unpack(factor, prim::ld_shared8(at), i);
        unpack(attn, prim::ld_shared8(at + Shape::HalfX::kBytes), i);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float norm = __fmaf_rn(__fmaf_rn(attn[j], norm_[i].scale, norm_[i].shift),
                                       __uint_as_float(weight.word[j]), __uint_as_float(bias.word[j]));
          g[j] = norm * factor[j];
        }
        const int word = kHalf * Shape::kHalfWords + group * 2 + i;
        words[0][word] = prim::pack4_fp8<Fp8>(factor[0], factor[1], factor[2], factor[3]);
        words[1][word] = prim::pack4_fp8<Fp8>(attn[0], attn[1], attn[2], attn[3]);
        words[2][word] = prim::pack4_fp8<Fp8>(g[0], g[1], g[2], g[3]);
      }
    }
  }

 private:
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  using Fp8 = typename Config::Fp8;

  // By a warp.
  HSTU_PRIM static void share_gain(const GatedFp8GemmParams& p, u32 smem) {
    float weight = 0.0f, bias = 0.0f;
    for (u32 column = prim::lane_id(); column < Config::kDim; column += 32) {
      weight = fmaxf(weight, fabsf(prim::to_float(static_cast<const Weight*>(p.weight)[column])));
      bias = fmaxf(bias, fabsf(prim::to_float(static_cast<const Weight*>(p.bias)[column])));
    }
    const float gain = fmaxf(1.0f, __fmaf_rn(prim::lane_max(weight), kDeviations, prim::lane_max(bias)));
    prim::st_shared(smem + Shape::kGainAt, __float_as_uint(gain));
  }
  // All of it waits for its products, or nobody.
  HSTU_PRIM static bool any_of_warpgroup(bool is) {
    return prim::warp_id() < 4 ? prim::named_barrier_any<4, 128>(is) : prim::named_barrier_any<5, 128>(is);
  }
  HSTU_PRIM float gain() const { return __uint_as_float(prim::ld_shared4(gain_)); }

  HSTU_PRIM void choose_scale(int i, float amax) {
    // Mean and standard deviation from what normalises: the latter a little greater for eps.
    const float attn = (fabsf(norm_[i].shift) + kDeviations) * prim::rcp_approx(norm_[i].scale);
    multiplier_[i] = RowMultiplier(fmaxf(kHeadroom * amax * gain(), attn));
    norm_[i].scale *= multiplier_[i].inverse();
  }
  // Whether u of that magnitude needs another multiplier.
  HSTU_PRIM bool exceeds(int i, float amax) const {
    return amax * gain() * multiplier_[i].value() > RowMultiplier::kMostScaled;
  }
  // Four columns, multiplied.
  HSTU_PRIM void unpack(float (&to)[4], const prim::Pair& from, int i) const {
    multiplier_[i].template apply<Element>(to[0], to[1], from.word[0]);
    multiplier_[i].template apply<Element>(to[2], to[3], from.word[1]);
  }

  enum : int { kHeadroom = 4 };
  // No value is further from the mean of kDim, in standard deviations: a whole number, the root or above it.
  enum : int { kDeviations = Config::kDim <= 256 ? 16 : Config::kDim <= 576 ? 24 : 32 };
  static_assert(Config::kDim <= kDeviations * kDeviations, "the bound holds");

  const GatedFp8GemmParams& p_;
  u32 line_, affine_, gain_;  // gain_: where the largest |g| or |u| is that |u| = 1 can lead to
  tile::MergedMoments<kRows, Config::kParts> moments_;
  tile::RowScale norm_[kRows];  // of multiplied values, once there is a multiplier
  RowMultiplier multiplier_[kRows];
};

// A warpgroup's products: its half of each tile.
template <class Config>
class GatedFp8Consumer {
 public:
  using Shape = GatedFp8Shape<Config>;
  using Accumulators = typename Shape::Accumulators;

  HSTU_PRIM GatedFp8Consumer(const GatedFp8GemmParams& p, u32 smem, u32 warp)
      : smem_(smem), gate_(p, smem, warp / 4 * Shape::kRows + warp % 4 * 16) {}

  // acc = scaled [u | attn | g] wT of the next tile; `row` is the thread's first.
  HSTU_PRIM void run(Accumulators& acc, i64 row) {
    gate_.fetch(row);
    u32 u[Shape::kHalves];
    wait_for_x(u);
    gate_.merge();
    gate_.choose_scales(u);
    typename Shape::Words even, odd;
#pragma unroll 1
    for (u32 slice = 0;;) {
      run_slice(acc, even, u, slice, slice == 0);
      if constexpr (Shape::kDoubleBuffered) {
        wait_for_next_slice(acc, u);
        run_slice(acc, odd, u, slice + 1, false);
      }
      slice += 1 + Shape::kDoubleBuffered;
      if (slice == Shape::kSlices) break;
      wait_for_next_slice(acc, u);
    }
    wait_and_release(acc);
  }
  // What row i's accumulators are multiplied with.
  HSTU_PRIM float descale(int i) const { return gate_.descale(i); }

  // Then the residual, a stage after the other: returns where it is, and releases it.
  HSTU_PRIM u32 wait_for_residual() const {
    Shape::ring_w(smem_).wait(read_state_w_);
    return Shape::stage_w(smem_, read_state_w_.stage);
  }
  HSTU_PRIM void release_residual() {
    read_state_w_.advance();
    release_w();
  }

 private:
  using TileW = typename Shape::TileW;

  // Where the next slice's halves are.
  HSTU_PRIM void wait_for_x(u32 (&u)[Shape::kHalves]) const {
    typename Shape::RingX::State next = read_state_x_;
#pragma unroll
    for (u32& half : u) {
      Shape::ring_x(smem_).wait(next);
      half = Shape::stage_x(smem_, next.stage);
      next.advance();
    }
  }
  // The same behind another slice, rescaling where it exceeds the bound; slices that share words wait for the products.
  HSTU_PRIM void wait_for_next_slice(Accumulators& acc, u32 (&u)[Shape::kHalves]) {
    wait_for_x(u);
    float amax[2];
    gate_.row_amax(amax, u);
    const bool rescales = gate_.exceeds(amax);
    if constexpr (!Shape::kDoubleBuffered) wait_and_release(acc);
    if (rescales) {
      if constexpr (Shape::kDoubleBuffered) {
        prim::wgmma_wait<0>();
        prim::warpgroup_fence_operand(acc);
      }
      float factor[2];
      gate_.rescale(factor, amax);
      rescale_accumulators(acc, factor);
    }
  }

  // Computes the words of the slice at `u`, beside the products of the slice before if it has words of its own, and
  // issues its products.
  HSTU_PRIM void run_slice(Accumulators& acc, typename Shape::Words& words, const u32 (&u)[Shape::kHalves], u32 slice,
                           bool first) {
    gate_.template compute<0>(words, u[0], slice);
    release_x();
    if constexpr (Shape::kHalves > 1) {
      gate_.template compute<1>(words, u[1], slice);
      release_x();
    }
#pragma unroll
    for (int segment = 0; segment < 3; ++segment) {
      multiply(acc, words[segment], !first || segment > 0);
      if constexpr (Shape::kDoubleBuffered) {
        prim::wgmma_wait<3>();
        if (!first) release_w();
      }
    }
  }

  HSTU_PRIM void multiply(Accumulators& acc, const u32 (&words)[Shape::kWords], bool add) {
    Shape::ring_w(smem_).wait(read_state_w_);
    const u64 w = TileW::descriptor(Shape::stage_w(smem_, read_state_w_.stage), 0);
    read_state_w_.advance();
    prim::wgmma_fence();
#pragma unroll
    for (int step = 0; step < TileW::kSteps; ++step)
      Shape::Wgmma::template rs<typename Config::Fp8, typename Config::Fp8>(acc, words[4 * step], words[4 * step + 1],
                                                                            words[4 * step + 2], words[4 * step + 3],
                                                                            TileW::at_step(w, step), add || step > 0);
    prim::wgmma_commit();
  }

  // Waits for the slice's products.
  HSTU_PRIM void wait_and_release(Accumulators& acc) {
    prim::wgmma_wait<2>();
    release_w();
    prim::wgmma_wait<1>();
    release_w();
    prim::wgmma_wait<0>();
    release_w();
    prim::warpgroup_fence_operand(acc);
  }
  HSTU_PRIM static void rescale_accumulators(Accumulators& acc, const float (&factor)[2]) {
#pragma unroll
    for (int i = 0; i < Config::kBlockN / 2; ++i) acc[i] *= factor[i >> 1 & 1];
  }
  HSTU_PRIM void release_w() {
    Shape::ring_w(smem_).release_by_warp(release_state_w_);
    release_state_w_.advance();
  }
  HSTU_PRIM void release_x() {
    __syncwarp();
    Shape::ring_x(smem_).release_by_warp(read_state_x_);
    read_state_x_.advance();
  }

  const u32 smem_;
  Fp8Gate<Config> gate_;
  typename Shape::RingX::State read_state_x_;
  typename Shape::RingW::State read_state_w_, release_state_w_;  // release_state_w_: of the oldest stage in use
};

// out from a warp's accumulators; see tile/warp_boxes.cuh.
template <class Config>
class GatedFp8Epilogue {
 public:
  using Shape = GatedFp8Shape<Config>;
  using Consumer = GatedFp8Consumer<Config>;

  HSTU_PRIM GatedFp8Epilogue(const GatedFp8GemmParams& p, u32 smem, u32 warp)
      : p_(p), scales_(smem + Shape::kScalesAt, warp / 4) {}

  // After the tile's products. What it needs is computed and loaded here, from L1: no register could hold it.
  HSTU_PRIM void begin(const typename Shape::Accumulators& acc, Consumer& consumer, i32 column) {
    scales_.fetch(p_.w_descale, p_.w_descale_stride, column, p_.n);
    const u32 thread = prim::thread_id(), row = Shape::fragment_row(thread % 16);
    line_ = (thread / 32 * 16 + row) * 128 + (((thread / 16 % 2) ^ (row & 7)) << 4);
    acc_ = &acc;
    consumer_ = &consumer;
    descale_[0] = consumer.descale(0);
    descale_[1] = consumer.descale(1);
    scales_.share();
    scales_.read(0);
    if constexpr (Config::kHasResidual) residual_ = consumer.wait_for_residual() + line_;
  }

  HSTU_PRIM void make(u32 (&word)[4], int held, int box, int group) const {
    u32 residual[4];
    if constexpr (Config::kHasResidual)
      prim::ldmatrix_x4(residual, (residual_ ^ group << 5) + box % Shape::kStagePieces * Shape::kPieceBytes);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float value[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float scaled = (*acc_)[32 * box + 8 * group + 2 * i + e] * descale_[i % 2];
        const float column = scales_.value(held, i / 2, e);
        if constexpr (Config::kHasResidual)
          value[e] = __fmaf_rn(scaled, column,
                               e == 0 ? prim::unpack_lo<Element>(residual[i]) : prim::unpack_hi<Element>(residual[i]));
        else
          value[e] = scaled * column;
      }
      word[i] = prim::pack2<Element>(value[0], value[1]);
    }
  }
  HSTU_PRIM void next(int box, int group) {
    if (box < Shape::kLineBoxes) scales_.read(box * 4 + group);
    if constexpr (Config::kHasResidual) {
      if (group > 0 || box % Shape::kStagePieces > 0) return;
      consumer_->release_residual();
      if (box < Shape::kLineBoxes) residual_ = consumer_->wait_for_residual() + line_;
    }
  }

 private:
  using Element = typename Config::Element;

  const GatedFp8GemmParams& p_;
  typename Shape::Scales scales_;
  u32 line_, residual_;  // line_: what the lane reads of a piece
  float descale_[2];
  const typename Shape::Accumulators* acc_;
  Consumer* consumer_;
};

// A warpgroup that multiplies.
template <class Config>
HSTU_PRIM void consume_gated_fp8(const GatedFp8GemmParams& p, const tile::TmaSchedule<GatedFp8Shape<Config>>& schedule,
                                 u32 smem, u32 warp) {
  using Shape = GatedFp8Shape<Config>;
  Fp8Gate<Config>::share_affine(p, smem);
  GatedFp8Consumer<Config> consumer(p, smem, warp);
  GatedFp8Epilogue<Config> epilogue(p, smem, warp);
  for (u32 i = 0; i < schedule.count; ++i) {
    const tile::TilePosition tile = schedule.position(i);
    const i32 column = schedule.column(tile);
    const i32 row = schedule.row(tile) + static_cast<i32>(warp * 16);
    typename Shape::Accumulators acc;
    consumer.run(acc, row + static_cast<i32>(Shape::fragment_row(prim::lane_id() / 4)));
    epilogue.begin(acc, consumer, column);
    // Read anew, so that nothing of the boxes is in registers beside the products.
    const u32 thread = prim::thread_id();
    const typename Shape::Boxes boxes(smem + Shape::kBoxesAt + thread / 32 * Shape::Boxes::kBytes,
                                      Shape::fragment_row(thread % 16));
    tile::write_boxes<Shape::kLineBoxes, Shape::kLineBoxes, Shape::kAtOnce>(boxes, &p.out, column, row, epilogue);
  }
  Shape::Boxes::wait_for_all();
}

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    gated_fp8_gemm_sm90(const __grid_constant__ GatedFp8GemmParams p) {
  using Shape = GatedFp8Shape<Config>;
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage), warp = prim::warp_id();
  if (threadIdx.x == 0) {
    Shape::ring_x(smem).init();
    Shape::ring_w(smem).init();
    prim::mbarrier_fence_init();
  }
  __syncthreads();
  tile::wait_for_kernels_before();

  const tile::TmaSchedule<Shape> schedule(p);
  if (warp >= Shape::kConsumerWarps) {
    prim::warpgroup_reg_dealloc<40>();
    if (warp == Shape::kConsumerWarps && prim::elect_one()) produce_fp8_x<Config>(p, schedule, smem);
    if (warp == Shape::kConsumerWarps + 1 && prim::elect_one()) produce_fp8_w<Config>(p, schedule, smem);
  } else {
    prim::warpgroup_reg_alloc<232>();
    consume_gated_fp8<Config>(p, schedule, smem, warp);
  }
}

}  // namespace hstu
