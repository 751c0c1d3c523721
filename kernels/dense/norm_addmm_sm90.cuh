// Layer norm and the projection behind it in one kernel, sm_90: out = act(layer_norm(x) w + bias), where normed rows
// are only ever on the chip. f32 inside; normed rows and out are rounded.
//
//   producer warps  x's rows ──TMA──► row buffer ── norm ──► registers: 64 rows a warpgroup
//                   w's slices ─────► ring of kStages ──► wgmma ──► accumulators ──► act, round ──► boxes ──TMA──► out
//
// Persistent: a block takes 128 rows, two warpgroups with 64 each, and walks the columns of w with them, 64 at a time:
// x is normed once, but for rows that two blocks share, and no pass over memory is made for it. w comes from L2 again
// for each 128 rows. A warpgroup has accumulators for two tiles, and finishes one while the next one's products run.
//
// What runs, and the file behind each line, in tile/ unless a folder is named; other names are of this file:
//   producers  for each 128 rows: x to the row buffer, 64 rows each    produce_rows, RowBuffer
//              for each tile: all slices of w to the ring              produce_w, tma_ring.cuh, wgmma_operand.cuh
//   consumer   weight and bias of the norm, bias row to shared memory  dense/norm_affine.cuh, BiasColumns
//              for each tile of its range                              consume_normed, TileRange
//                of new rows: mean and rstd in the row buffer          NormedRows, part_moments.cuh
//                  norm them in place; load them as fragments          NormedRows
//                  release the row buffer                              RowBuffer::release
//                issue normed rows w over all slices                   NormConsumer::issue
//                epilogue of the tile before, beside these products    NormEpilogue, result_boxes.cuh
//                wait for the products; release the stages             NormConsumer::finish
//              boxes to out by TMA                                     warp_boxes.cuh
//
// Shared memory  64 rows of x, of one warpgroup after the other | kStages x kStageSlices w slices | boxes of every
//                warp | weight and bias of the norm | the other bias, all of it | barriers
// Registers      producers 24, consumers 240: kDim / 4 words of normed rows, an operand of all their
//                products, and 2 x 32 accumulators
// Barriers       full, empty of each stage; full of each warpgroup's rows; empty of their buffer
//
// Config, problem facts
//   Element             bf16 or f16: x, w, out
//   Weight              of the norm's weight and bias: Element or float
//   Bias                element type of a bias row
//   kBias               kNoBias, kRowBias ([n])
//   kActivation         0 none, 1 SiLU, on columns below params.act_columns
//   kActivatesPart      of the columns of some tile
//   kSplitColumns       out is several matrices, each with a part of the columns, whole boxes
//   kDim                columns of x, a multiple of 64, at most 512
//   kColumns            of w
//   kWAlongK            w is column-major
// Config, knobs
//   kBlockM, kBlockN    128, 64
//   kStageSlices        slices of 64 k that share a barrier
//   kStages             of the ring; all slices of a tile are in it at once
//   kBoxes              1 of 16 rows x 64 columns a warp, which is its part of a tile
//
// On an H200, 98304 x 512 by 2048: 315 us, where layer_norm and addmm take 340; behind the output stage in a long
// sequence, where power is what limits, 635 and 665. Measured slower: tiles of 128 columns, one at a time (335), or
// ping-pong (327), pairs of blocks that fetch w together (625), a row buffer for each warpgroup (390), a barrier for
// every slice of w (328). What else was tried: docs/experiments/dense.md.
#pragma once
#include "dense/norm_addmm_sm90.h"
#include "dense/norm_affine.cuh"
#include "prim/named_barrier.cuh"
#include "tile/part_moments.cuh"
#include "tile/result_boxes.cuh"

namespace hstu {

template <class Config_>
struct NormAddmmShape {
  using Config = Config_;
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  using Params = NormAddmmParams<Config::kSplitColumns ? 4 : 1>;
  enum : int { kWarpgroups = 2, kConsumerWarps = 4 * kWarpgroups, kRows = 64, kFragments = 1 };  // of a warpgroup
  enum : int { kTileColumns = Config::kBlockN, kResultColumns = kTileColumns };
  enum : int { kTiles = (Config::kColumns + kTileColumns - 1) / kTileColumns };
  enum : int { kBlockK = 64, kSlices = Config::kDim / kBlockK, kTileStages = kSlices / Config::kStageSlices };
  enum : bool { kSpread = false };  // tile/tma_product.cuh
  static_assert(Config::kThreads == 128 * (kWarpgroups + 1), "two warpgroups multiply, one more has the producers");
  static_assert(Config::kBlockM == kWarpgroups * kRows, "a warpgroup has 64 rows, as many as registers hold");
  static_assert(Config::kDim % kBlockK == 0 && Config::kDim <= 512, "rows are whole slices, in registers");
  static_assert(kSlices % Config::kStageSlices == 0 && kTileStages <= Config::kStages, "a tile's w is in the ring");

  using TileW = tile::WgmmaOperand<Element, Config::kBlockN, Config::kWAlongK>;
  using Wgmma = prim::Wgmma<Config::kBlockN>;
  using Words = u32[kSlices * 16];  // of the normed rows
  using Accumulators = float[kFragments][Config::kBlockN / 2];
  using Ring = tile::TmaRing<Config::kStages, kWarpgroups>;
  using Affine = tile::NormAffine<Weight, Config::kDim>;
  using Boxes = tile::WarpBoxes<Config::kBoxes>;
  enum : int { kAtOnce = 2 };  // groups of 16 columns; the registers that are left

  // Offsets in shared memory. Rows lie as pieces of 64 columns.
  enum : int { kPieceBytes = kRows * 128, kRowBytes = kSlices * kPieceBytes };
  enum : int { kStageBytes = Config::kStageSlices * TileW::kBytes };
  enum : int { kRingAt = kRowBytes };
  enum : int { kEpilogueAt = kRingAt + Config::kStages * kStageBytes };
  enum : int { kAffineAt = kEpilogueAt + kConsumerWarps * Boxes::kBytes };
  enum : int { kBiasAt = kAffineAt + Affine::kBytes };
  enum : int { kRingBarriersAt = kBiasAt + (Config::kBias == kRowBias ? kTiles * kTileColumns * 4 : 0) };
  enum : int { kRowBarriersAt = kRingBarriersAt + Ring::kBytes };
  enum : int { kSmemBytes = kRowBarriersAt + 8 * (kWarpgroups + 1) };
  enum : int { kResidualsAt = 0 };  // there are none: tile/result_boxes.cuh

  HSTU_PRIM static Ring ring(u32 smem) { return Ring(smem + kRingBarriersAt); }
  HSTU_PRIM static u32 stage(u32 smem, u32 stage) { return smem + kRingAt + stage * kStageBytes; }
};

template <class Config>
constexpr int norm_addmm_sm90_smem_bytes = NormAddmmShape<Config>::kSmemBytes;

// What a block makes: tiles [first, end) of all that there are, those of 128 rows one behind another. It begins and
// ends anywhere in a row of tiles, so that all blocks have as much to do.
template <class Config>
class TileRange {
 public:
  enum : u32 { kTiles = NormAddmmShape<Config>::kTiles };

  HSTU_PRIM explicit TileRange(i64 rows) {
    const u64 all = static_cast<u64>(tile::tiles_along(rows, Config::kBlockM)) * kTiles;
    first = static_cast<u32>(all * blockIdx.x / gridDim.x);
    end = static_cast<u32>(all * (blockIdx.x + 1) / gridDim.x);
  }
  // Of a tile: the first row, the first column, and whether those before it have other rows.
  HSTU_PRIM static i32 row(u32 tile) { return static_cast<i32>(tile / kTiles * Config::kBlockM); }
  HSTU_PRIM static i32 column(u32 tile) { return static_cast<i32>(tile % kTiles * Config::kBlockN); }
  HSTU_PRIM bool begins_rows(u32 tile) const { return tile == first || tile % kTiles == 0; }

  u32 first, end;
};

// The buffer between the rows' producer and the warpgroups, which use it one after the other.
template <class Shape>
class RowBuffer {
 public:
  HSTU_PRIM explicit RowBuffer(u32 smem) : smem_(smem) {}
  HSTU_PRIM void init() const {
    for (u32 i = 0; i < Shape::kWarpgroups; ++i) prim::mbarrier_init(full(i), 1);
    prim::mbarrier_init(empty(), Shape::kConsumerWarps / Shape::kWarpgroups);
  }
  // By the producer: the warpgroup's rows of the block's `i`-th, from `row` on.
  HSTU_PRIM void load(const typename Shape::Params& p, u32 i, u32 warpgroup, i32 row) const {
    const u32 use = i * Shape::kWarpgroups + warpgroup;
    prim::mbarrier_wait(empty(), (use & 1) ^ 1);
    prim::mbarrier_arrive_expect_tx(full(warpgroup), Shape::kRowBytes);
#pragma unroll
    for (int slice = 0; slice < Shape::kSlices; ++slice)
      prim::tma_load_2d(smem_ + slice * Shape::kPieceBytes, &p.x, full(warpgroup), slice * Shape::kBlockK, row);
  }
  HSTU_PRIM static void prefetch(const typename Shape::Params& p, i32 row) {
#pragma unroll
    for (int slice = 0; slice < Shape::kSlices; ++slice) prim::tma_prefetch_2d(&p.x, slice * Shape::kBlockK, row);
  }
  // By a warp: where its lane reads the first 16 columns of the warp's 16 rows.
  HSTU_PRIM u32 wait(u32 i, u32 warp) const {
    const u32 lane = prim::lane_id();
    prim::mbarrier_wait(full(warp / 4), i & 1);
    return smem_ + (warp % 4 * 16 + lane % 16) * 128 + ((lane / 16 ^ lane % 8) << 4);
  }
  // When the warp has loaded them. It has written to them, too, and the next ones come by TMA.
  HSTU_PRIM void release() const {
    prim::fence_async_shared();
    __syncwarp();
    if (prim::lane_id() == 0) prim::mbarrier_arrive(empty());
  }

 private:
  HSTU_PRIM u32 full(u32 warpgroup) const { return smem_ + Shape::kRowBarriersAt + 8 * warpgroup; }
  HSTU_PRIM u32 empty() const { return full(Shape::kWarpgroups); }

  const u32 smem_;
};

// One thread: x's rows. The second warpgroup's come when the first one has read its own, from L2 then.
template <class Config>
HSTU_PRIM void produce_rows(const typename NormAddmmShape<Config>::Params& p, u32 smem) {
  using Shape = NormAddmmShape<Config>;
  const TileRange<Config> range(p.m);
  const RowBuffer<Shape> buffer(smem);
  u32 i = 0;
  for (u32 tile = range.first; tile < range.end; ++tile) {
    if (!range.begins_rows(tile)) continue;
    const i32 row = range.row(tile);
    buffer.load(p, i, 0, row);
    buffer.prefetch(p, row + Shape::kRows);
    buffer.load(p, i, 1, row + Shape::kRows);
    ++i;
  }
}

// One thread: w's slices, all of them for each 128 rows.
template <class Config>
HSTU_PRIM void produce_w(const typename NormAddmmShape<Config>::Params& p, u32 smem) {
  using Shape = NormAddmmShape<Config>;
  using TileW = typename Shape::TileW;
  const TileRange<Config> range(p.m);
  typename Shape::Ring::State write_state;
  for (u32 tile = range.first; tile < range.end; ++tile)
    for (i32 slice = 0; slice < Shape::kSlices; slice += Config::kStageSlices) {
      const u32 full = Shape::ring(smem).acquire(write_state, Shape::kStageBytes),
                stage = Shape::stage(smem, write_state.stage);
#pragma unroll
      for (i32 j = 0; j < Config::kStageSlices; ++j)
        TileW::load(stage + j * TileW::kBytes, &p.w, full, range.column(tile), (slice + j) * Shape::kBlockK, 0);
      write_state.advance();
    }
}

// A warp's 16 rows, normed in place, then loaded as fragments: a quad of lanes shares rows g (even words) and g + 8
// (odd ones). In registers alone the compiler would unpack more of a row at once than there is room for.
template <class Shape>
class NormedRows {
 public:
  using Element = typename Shape::Element;

  HSTU_PRIM NormedRows(u32 smem, float eps) : affine_(smem + Shape::kAffineAt), eps_(eps) {}

  // line: where the lane reads the first 16 columns.
  HSTU_PRIM void make(typename Shape::Words& words, u32 line) const {
    norm(line);
    __syncwarp();
#pragma unroll
    for (int step = 0; step < 4 * Shape::kSlices; ++step) {
      u32 word[4];
      prim::ldmatrix_x4(word, place(line, step / 4, step % 4));
#pragma unroll
      for (int i = 0; i < 4; ++i) words[4 * step + i] = word[i];
    }
  }

 private:
  HSTU_PRIM static u32 place(u32 line, int slice, int step) { return (line ^ step << 5) + slice * Shape::kPieceBytes; }

  HSTU_PRIM void norm(u32 line) const {
    float mean[2], rstd[2];
    read_statistics(mean, rstd, line);
#pragma unroll 1
    for (int slice = 0; slice < Shape::kSlices; ++slice) {
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        float weight[4], bias[4];
        affine_.read(weight, bias, 4 * slice + step);
        u32 word[4];
        prim::ldmatrix_x4(word, place(line, slice, step));
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int row = i % 2, column = i / 2 * 2;
          const float lo = (prim::unpack_lo<Element>(word[i]) - mean[row]) * rstd[row];
          const float hi = (prim::unpack_hi<Element>(word[i]) - mean[row]) * rstd[row];
          word[i] = prim::pack2<Element>(__fmaf_rn(lo, weight[column], bias[column]),
                                         __fmaf_rn(hi, weight[column + 1], bias[column + 1]));
        }
        prim::stmatrix_x4(place(line, slice, step), word[0], word[1], word[2], word[3]);
      }
    }
  }

  HSTU_PRIM void read_statistics(float (&mean)[2], float (&rstd)[2], u32 line) const {
    constexpr float kInverse = 1.0f / Shape::Config::kDim;
    tile::PivotMoments moments[2];
    u32 word[4];
    prim::ldmatrix_x4(word, line);
#pragma unroll
    for (int row = 0; row < 2; ++row) moments[row].start(prim::unpack_lo<Element>(word[row]));
#pragma unroll 1
    for (int slice = 0; slice < Shape::kSlices; ++slice) {
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        prim::ldmatrix_x4(word, place(line, slice, step));
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          moments[i % 2].add(prim::unpack_lo<Element>(word[i]));
          moments[i % 2].add(prim::unpack_hi<Element>(word[i]));
        }
      }
    }
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      const tile::PartMoments all = moments[row].finish(kInverse);
      mean[row] = all.mean;
      rstd[row] = prim::rsqrt_approx(__fmaf_rn(all.squares, kInverse, eps_));
    }
  }

  const typename Shape::Affine affine_;
  const float eps_;
};

// The bias row, all of it in shared memory: for each 16 columns and each t = lane % 4 those of columns 2t,
// 2t + 1, 2t + 8, 2t + 9.
template <class Shape>
class BiasColumns {
 public:
  HSTU_PRIM explicit BiasColumns(u32 smem) : smem_(smem + Shape::kBiasAt) {}

  // By all consumers; a barrier of theirs follows.
  HSTU_PRIM void share(const typename Shape::Params& p) const {
    const auto* const bias = static_cast<const typename Shape::Config::Bias*>(p.bias);
    for (u32 i = threadIdx.x; i < Shape::kTiles * Shape::kTileColumns; i += 32 * Shape::kConsumerWarps) {
      const float x = i < Shape::Config::kColumns ? prim::to_float(bias[i * p.bias_stride]) : 0.0f;
      prim::st_shared(smem_ + i / 16 * 64 + i % 8 / 2 * 16 + i / 8 % 2 * 8 + i % 2 * 4, __float_as_uint(x));
    }
  }
  // Loads kAtOnce groups of 16 columns, which value() reads then.
  HSTU_PRIM void read(i32 column) {
#pragma unroll
    for (int i = 0; i < Shape::kAtOnce; ++i)
      held_[i] = prim::ld_shared(smem_ + (static_cast<u32>(column) + 16 * i) * 4 + prim::lane_id() % 4 * 16);
  }
  HSTU_PRIM float value(int i, int half, int e) const { return __uint_as_float(held_[i].word[2 * half + e]); }

 private:
  const u32 smem_;
  prim::Quad held_[Shape::kAtOnce];
};

// A warpgroup's products, tile after tile, of which one is in flight at a time.
template <class Config>
class NormConsumer {
 public:
  using Shape = NormAddmmShape<Config>;
  using Accumulators = typename Shape::Accumulators;

  HSTU_PRIM explicit NormConsumer(u32 smem) : smem_(smem) {}

  // Issues acc = words w of the next tile.
  HSTU_PRIM void issue(Accumulators& acc, const typename Shape::Words& words) {
    // Descriptors are then added up in uniform registers, beside the products. In a ring of whole tiles it would also
    // be in few places here, and the compiler keep addresses for each, which spill.
    read_state_.stage = prim::uniform(read_state_.stage);
    read_state_.parity = prim::uniform(read_state_.parity);
#pragma unroll
    for (int slice = 0; slice < Shape::kSlices; slice += Config::kStageSlices) {
      Shape::ring(smem_).wait(read_state_);
      const u64 w = TileW::descriptor(Shape::stage(smem_, read_state_.stage), 0);
      read_state_.advance();
      prim::wgmma_fence();
#pragma unroll
      for (int step = 0; step < Config::kStageSlices * TileW::kSteps; ++step) {
        const u32* const word = words + 16 * slice + 4 * step;
        const u64 part = prim::advance_descriptor(w, step / TileW::kSteps * TileW::kBytes);
        Shape::Wgmma::template rs<Element, Element, TileW::kMajor>(acc[0], word[0], word[1], word[2], word[3],
                                                                   TileW::at_step(part, step % TileW::kSteps),
                                                                   slice > 0 || step > 0);
      }
      prim::wgmma_commit();
    }
  }
  // Waits for them, and copies them, so that acc is free for the next tile.
  HSTU_PRIM void finish(Accumulators& acc, Accumulators& finished) {
    prim::wgmma_wait<0>();
    prim::warpgroup_fence_operand(acc[0]);
#pragma unroll
    for (int i = 0; i < Config::kBlockN / 2; ++i) finished[0][i] = acc[0][i];
    prim::warpgroup_fence_operand(finished[0]);
#pragma unroll
    for (int i = 0; i < Shape::kTileStages; ++i) {
      Shape::ring(smem_).release(release_state_);
      release_state_.advance();
    }
  }

 private:
  using Element = typename Config::Element;
  using TileW = typename Shape::TileW;

  const u32 smem_;
  typename Shape::Ring::State read_state_, release_state_;  // release_state_: of the oldest stage in use
};

// A warpgroup's results: bias, activation, rounding.
template <class Config>
class NormEpilogue {
 public:
  using Shape = NormAddmmShape<Config>;
  using Accumulators = typename Shape::Accumulators;
  enum : bool { kHasBias = Config::kBias == kRowBias };

  HSTU_PRIM NormEpilogue(const typename Shape::Params& p, u32 smem, u32 warp) : bias_(smem), results_(p, smem, warp) {
    if constexpr (kHasBias) bias_.share(p);
  }
  // Of the warp's rows from `row` on.
  HSTU_PRIM void write(const Accumulators& acc, i32 row, i32 column) {
    Biased biased{acc, bias_, column};
    if constexpr (kHasBias) bias_.read(column);
    results_.begin(row, column);
    results_.run(biased);
  }

 private:
  struct Biased {  // the source of tile/result_boxes.cuh
    HSTU_PRIM float value(int fragment, int i, int held) const {
      const float x = acc[fragment][i];
      return kHasBias ? x + bias.value(held, i >> 2 & 1, i & 1) : x;
    }
    HSTU_PRIM void next(int box, int group) {
      if (kHasBias && box == 0) bias.read(column + group * 16);
    }
    const Accumulators& acc;
    BiasColumns<Shape>& bias;
    const i32 column;
  };

  BiasColumns<Shape> bias_;
  tile::ResultBoxes<Shape> results_;
};

// A warpgroup that multiplies.
template <class Config>
HSTU_PRIM void consume_normed(const typename NormAddmmShape<Config>::Params& p, u32 smem, u32 warp) {
  using Shape = NormAddmmShape<Config>;
  constexpr int kThreads = 32 * Shape::kConsumerWarps;
  Shape::Affine::template share<kThreads>(smem + Shape::kAffineAt, p.norm_weight, p.norm_bias);
  NormEpilogue<Config> epilogue(p, smem, warp);
  prim::named_barrier_sync<1, kThreads>();

  const TileRange<Config> range(p.m);
  const RowBuffer<Shape> buffer(smem);
  const NormedRows<Shape> normed(smem, p.eps);
  NormConsumer<Config> consumer(smem);
  typename Shape::Words words;
  u32 row_blocks = 0;  // that the warp has loaded
  const auto load_rows = [&] {
    normed.make(words, buffer.wait(row_blocks++, warp));
    buffer.release();
  };
  typename Shape::Accumulators acc, finished;
  const auto write = [&](u32 tile) {
    epilogue.write(finished, range.row(tile) + static_cast<i32>(warp * 16), range.column(tile));
  };

#pragma unroll 1
  for (u32 tile = range.first; tile < range.end; ++tile) {
    if (range.begins_rows(tile)) load_rows();
    consumer.issue(acc, words);
    if (tile > range.first) write(tile - 1);
    consumer.finish(acc, finished);
  }
  write(range.end - 1);
  Shape::Boxes::wait_for_all();
}

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    norm_addmm_sm90(const __grid_constant__ typename NormAddmmShape<Config>::Params p) {
  using Shape = NormAddmmShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage), warp = prim::warp_id();
  if (threadIdx.x == 0) {
    Shape::ring(smem).init();
    RowBuffer<Shape>(smem).init();
    prim::mbarrier_fence_init();
  }
  __syncthreads();
  tile::wait_for_kernels_before();

  if (warp >= Shape::kConsumerWarps) {
    prim::warpgroup_reg_dealloc<24>();
    if (warp == Shape::kConsumerWarps && prim::elect_one()) produce_rows<Config>(p, smem);
    if (warp == Shape::kConsumerWarps + 1 && prim::elect_one()) produce_w<Config>(p, smem);
  } else {
    prim::warpgroup_reg_alloc<240>();
    consume_normed<Config>(p, smem, warp);
  }
}

}  // namespace hstu
