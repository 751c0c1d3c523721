// Forward HSTU attention with the instructions of sm_80 (cp.async, ldmatrix, mma.sync); runs on sm_80 and later.
//   O_i = scale * sum over allowed keys j of silu(alpha q_i . k_j) v_j
//
// One block of threads per (block of kBlockM queries, head, sequence). Warps share nothing but the key and value tiles:
// a warp owns kRowsPerWarp query rows, keeps their O in registers, and computes P of S in place, since the accumulator
// layout of S is the A operand layout of P V.
//
//   Q tile  --cp.async--> smem --ldmatrix--> registers (kQSteps of its k16 steps stay there)
//   K, V    --cp.async--> ring of kStages --ldmatrix--> S = Q K^T, P = silu(S), O += P V
//
// What runs, and the function or the file behind each line, in attention/ unless it is of this file:
//   for each row block of this block of threads                       run()
//     one thread finds it, its mask and its key plan                  find_tile(), section_order.cuh, mask/
//     copy Q, and K and V of the first kPrefetchBlocks key blocks     sm80/tile_io.cuh, sm80/key_rows.cuh
//     for each key block of the plan                                  attend()
//       wait until its stage is full; the first time Q to registers   sm80/attn_ring.cuh, sm80/smem_tile.cuh
//       S = Q K^T, beside it the copies of a later block              full_block(): multiply_qk(), sm80/key_rows.cuh
//       P = silu(S) or online softmax, beside it O += P V             variant/weights.cuh, multiply_pv()
//       or, where rows see a part of it, the same chunk by chunk      masked_block(): init_scores(), apply_mask()
//       release its stage                                             sm80/attn_ring.cuh
//     scale O, log-sum-exp                                            finish_rows(), variant/weights.cuh
//     O to shared memory, then to out                                 stage_output(), sm80/tile_io.cuh
//
// There is no softmax, so key blocks commute and masks are zeros in P. Blocks that every row sees entirely (KeyPlan)
// run without mask arithmetic; in the others each warp skips the chunks that none of its rows sees.
//
// What limits it: shared memory bandwidth, so 32 rows a warp, where one ldmatrix.x4 of K or V feeds four mma (16-row
// warps reach the limit of 128 bytes a clock at 450 of mma.sync's 640 TFLOP/s on an H200); then what happens between
// the products, as their accumulators leave room for two warps a scheduler. So everything else is spread between them:
// the copies of a later key block run beside S, the special functions of 16 keys beside P V of the 16 keys before.
//
// Shared memory   Q | kStages x (K, V) | barriers, TileInfo; O is staged over Q and the ring   (AttnFwdSm80Storage)
// Order           attention/section_order.cuh, of levels that are row blocks from the longest key range down. They
//                 count from the sequence's end, so the partial one is the cheapest.
// Sources         arXiv:2402.17152 (maths); FlashAttention-2 (register reuse of P)
// Tried           docs/experiments/attention_sm80.md
#pragma once
#include "attention/attn_fwd.h"
#include "attention/mask/hstu_mask.cuh"
#include "attention/mask/interval_mask.cuh"
#include "attention/section_order.cuh"
#include "attention/sm80/attn_ring.cuh"
#include "attention/sm80/attn_tiles.cuh"
#include "attention/sm80/key_rows.cuh"
#include "attention/variant/relative_bias.cuh"
#include "attention/variant/sequences.cuh"
#include "attention/variant/weights.cuh"
#include "prim/lanes.cuh"
#include "prim/mma.cuh"
#include "prim/types.cuh"

namespace hstu {

// Problem facts in Config: Element, Offset, Target, kHeadDimQk, kHeadDimV, kVectorIo (all pointers 16-byte aligned, all
// strides and head dims multiples of 8), kAttnScale, kSilu and kSoftmax (which kinds of heads there are), kLse, kBias,
// those of the mask, and the parts that vary:
//   Mask       which keys a row sees, in what order they come          attention/mask/hstu_mask.cuh, interval_mask.cuh
//   Sequences  where queries, keys and results of a sequence lie       attention/variant/sequences.cuh
//   Keys       how key blocks reach the ring                           attention/sm80/key_rows.cuh
// Knobs: kRowsPerWarp, kWarps, kBlockN, kStages, kQSteps, kMinBlocks.
namespace attn_fwd_sm80_detail {

enum TileState { kAbsent, kLast, kMoreFollow };

// One row block's place and plan. It stays in shared memory and is read where needed: registers are all taken.
template <class Config>
struct TileInfo {
  typename Config::Sequences sequence;
  typename Config::Mask mask;
  typename Config::Mask::Plan plan;
  int seq, head;
  int first_row;  // position of the tile's first row; before the first query when the tile hangs over it
  int state;      // a TileState
  int round;      // how many row blocks this block of threads had before
};

}  // namespace attn_fwd_sm80_detail

template <class Config>
struct AttnFwdSm80Storage {
  alignas(1024) unsigned char tiles[AttnFwdSm80<Config>::kTileBytes];
  u64 full[Config::kStages], empty[Config::kStages];
  attn_fwd_sm80_detail::TileInfo<Config> tile;
  typename Config::Mask::View view[Config::kWarps];
};
// The room behind the tiles; a round number, so that the host can say the sum.
template <class Config>
constexpr int kAttnFwdSm80ExtraBytes = 512 + Config::Mask::kExtraBytes;
template <class Config>
constexpr int attn_fwd_sm80_smem_bytes = AttnFwdSm80<Config>::kTileBytes + kAttnFwdSm80ExtraBytes<Config>;

namespace attn_fwd_sm80_detail {

// Finds row block number tile.round of this block of threads; the plan of a surveyed mask comes later.
template <class Config>
HSTU_PRIM void find_tile(const AttnFwdParams& p, TileInfo<Config>& tile) {
  using T = AttnFwdSm80<Config>;
  using Mask = typename Config::Mask;
  static_assert(16 * Config::kStages + sizeof tile + Config::kWarps * sizeof(typename Mask::View) <=
                    kAttnFwdSm80ExtraBytes<Config>,
                "barriers, TileInfo and views outgrew their place");
  const tile::SectionOrder at(blockIdx.x, p.batch * p.num_heads, p.section_pairs, p.row_blocks,
                              Config::kContextual && p.first_early != 0);
  const int level = at.level;
  const u32 pair = at.pair;
  const u32 seq = pair / p.num_heads, head = pair - seq * p.num_heads;

  const typename Config::Sequences sequence(p, seq);
  Mask mask;  // here, so that all its loads are under way before a branch
  if constexpr (!Mask::kSurveyed) mask = Mask(p, seq, sequence.keys);
  const int first_query = sequence.first_query(), last_query = sequence.last_query();
  const int row_blocks = (last_query - first_query + T::kBlockM - 1) / T::kBlockM;
  // A level is the same number of keys in every sequence, so short sequences have no tile at the first levels;
  // sequences longer than the grid foresaw take several rounds.
  const int shift = row_blocks <= p.row_blocks ? p.row_blocks - row_blocks : 0;
  int row_block = level - shift + tile.round * p.row_blocks;
  if (row_block < 0 || row_block >= row_blocks) {
    tile.state = kAbsent;
    return;
  }
  tile.state = row_block + p.row_blocks < row_blocks ? kMoreFollow : kLast;
  // Contextual rows see all of the history: the block that begins the sequence comes first, not last.
  if constexpr (Config::kContextual) row_block = row_block == 0 ? row_blocks - 1 : row_block - 1;
  const int first_row = last_query - (row_block + 1) * T::kBlockM;
  tile.sequence = sequence;
  if constexpr (Mask::kSurveyed) {
    tile.mask.place(p, head, sequence.query_row(0), sequence.keys);
  } else {
    tile.mask = mask;
    tile.plan = typename Mask::Plan(tile.mask, variant::max_int(first_row, first_query), first_row + T::kBlockM);
  }
  tile.seq = seq;
  tile.head = head;
  tile.first_row = first_row;
}

// What a warp carries through the key blocks. The lane addresses are those of the first stage.
template <class Config>
struct WarpState {
  using T = AttnFwdSm80<Config>;
  float o[T::kRowTiles][T::kColsV / 8][4];
  u32 q[T::kQSteps > 0 ? T::kQSteps : 1][T::kRowTiles][4];
  tile::LaneAddress<typename T::QTile> q_lane;
  tile::LaneAddress<typename T::KTile> k_lane;
  tile::LaneAddress<typename T::VTile> v_lane;
};

template <int kRowTiles, int kColTiles>
HSTU_PRIM void clear(float (&acc)[kRowTiles][kColTiles][4]) {
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
    for (int n = 0; n < kColTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) acc[m][n][i] = 0.0f;
    }
  }
}

// S -> P for pairs [first, last) of k16 step `step` of P V. The step is named, not looked for among all: products and
// weights are unrolled together, and compiling would take thrice as long.
template <class Config, int kKeys, class Weights>
HSTU_PRIM void make_p_pairs(const AttnFwdParams& p, Weights& weights, ScoresOf<Config, kKeys>& c, int step, int first,
                            int last) {
#pragma unroll
  for (int m = 0; m < AttnFwdSm80<Config>::kRowTiles; ++m) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (m * 4 + i < first || m * 4 + i >= last) continue;
      const float* s = c.s[m][step * 2 + i / 2] + i % 2 * 2;
      const float low = weights.weight(p, m, i % 2, s[0]), high = weights.weight(p, m, i % 2, s[1]);
      c.p[m][step][i] = prim::pack2<typename Config::Element>(low, high);
    }
  }
}

// Adds S of kKeys keys from `row` of the key tile to c.s; `beside(part, parts)` is issued between the products.
template <class Config, int kKeys, class Beside>
HSTU_PRIM void multiply_qk(const WarpState<Config>& w, u32 stage_bytes, int row, ScoresOf<Config, kKeys>& c,
                           Beside beside) {
  using T = AttnFwdSm80<Config>;
  using Element = typename Config::Element;
  const auto k_lane = w.k_lane.moved(stage_bytes);
#pragma unroll
  for (int step = 0; step < T::kStepsQk; ++step) {
    u32 a[T::kRowTiles][4];
#pragma unroll
    for (int m = 0; m < T::kRowTiles; ++m) {
      if (step < T::kQSteps) {
#pragma unroll
        for (int i = 0; i < 4; ++i) a[m][i] = w.q[step < T::kQSteps ? step : 0][m][i];
      } else {
        prim::ldmatrix_x4(a[m], w.q_lane.at(step, m * 16));
      }
    }
#pragma unroll
    for (int n = 0; n < kKeys / 16; ++n) {
      u32 b[4];
      prim::ldmatrix_x4(b, k_lane.at(step, row + n * 16));
#pragma unroll
      for (int m = 0; m < T::kRowTiles; ++m) {
        prim::mma_m16n8k16<Element>(c.s[m][n * 2], a[m], b[0], b[1]);
        prim::mma_m16n8k16<Element>(c.s[m][n * 2 + 1], a[m], b[2], b[3]);
      }
    }
    beside(step, T::kStepsQk);
  }
}

// O += P V for k16 step `step` of a chunk whose keys start at `row` of the value tile.
template <class Config, int kKeys, class Beside>
HSTU_PRIM void multiply_pv(WarpState<Config>& w, u32 stage_bytes, int row, int step, const ScoresOf<Config, kKeys>& c,
                           Beside beside) {
  using T = AttnFwdSm80<Config>;
  using Element = typename Config::Element;
  constexpr int kParts = T::kColsV / 16;
  const auto v_lane = w.v_lane.moved(stage_bytes);
#pragma unroll
  for (int n = 0; n < kParts; ++n) {
    u32 b[4];
    prim::ldmatrix_x4_trans(b, v_lane.at(n, row + step * 16));
#pragma unroll
    for (int m = 0; m < T::kRowTiles; ++m) {
      prim::mma_m16n8k16<Element>(w.o[m][n * 2], c.p[m][step], b[0], b[1]);
      prim::mma_m16n8k16<Element>(w.o[m][n * 2 + 1], c.p[m][step], b[2], b[3]);
    }
    beside(n, kParts);
  }
}

// What the scores of the warp's rows from `first_row` on and the keys from `key` on are added to.
template <class Config, int kKeys>
HSTU_PRIM void init_scores(const AttnFwdParams& p, ScoresOf<Config, kKeys>& c, const TileInfo<Config>& tile, int key) {
  if constexpr (Config::kBias) {
    const variant::RelativeBias<Config> bias(p, tile.seq, tile.head);
    const int lane = prim::lane_id(), first_row = tile.first_row + prim::warp_id() * Config::kRowsPerWarp + lane / 4;
#pragma unroll
    for (int m = 0; m < AttnFwdSm80<Config>::kRowTiles; ++m) {
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          c.s[m][n][i] = bias.at(first_row + m * 16 + i / 2 * 8, key + n * 8 + lane % 4 * 2 + i % 2);
      }
    }
  } else {
    clear(c.s);
  }
}

// A key block that every row of the warp sees. `copy(part, parts)` starts a part of the copies for a later block.
template <class Config, class Weights, class Copy>
HSTU_PRIM void full_block(const AttnFwdParams& p, WarpState<Config>& w, Weights& weights, u32 stage_bytes, Copy copy) {
  using T = AttnFwdSm80<Config>;
  constexpr int kBlockN = T::kBlockN, kSteps = T::kStepsPv;
  ScoresOf<Config, kBlockN> c;
  clear(c.s);
  multiply_qk<Config, kBlockN>(w, stage_bytes, 0, c, copy);
  weights.update_max(p, c.s, w.o);
  make_p_pairs<Config, kBlockN>(p, weights, c, 0, 0, c.kStepPairs);
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    multiply_pv<Config, kBlockN>(w, stage_bytes, 0, step, c, [&](int part, int parts) {
      if (step + 1 < kSteps) {
        make_p_pairs<Config, kBlockN>(p, weights, c, step + 1, part * c.kStepPairs / parts,
                                      (part + 1) * c.kStepPairs / parts);
      }
    });
  }
}

// Masks the scores of the keys from `key` on, for the warp's rows; keys before `range_begin` are none.
template <class Config, int kKeys, class Weights>
HSTU_PRIM void apply_mask(const AttnFwdParams& p, ScoresOf<Config, kKeys>& c, const TileInfo<Config>& tile, int key,
                          int range_begin) {
  const int lane = prim::thread_id() % 32;  // so that the rows' places are not live across chunks
  const int first_row = tile.first_row + prim::warp_id() * Config::kRowsPerWarp + lane / 4;
  const float masked_score = Weights::masked_score(p);
  const u32 in_range = ~variant::bits_below(range_begin - key);
#pragma unroll
  for (int m = 0; m < AttnFwdSm80<Config>::kRowTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      u32 seen = tile.mask.seen_bits(first_row + m * 16 + half * 8, key);
      if (!Weights::kZeroIsNothing) seen &= in_range;
      seen >>= lane % 4 * 2;
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& s = c.s[m][n][half * 2 + e];
          // Selecting before the weight also stops what a masked key may hold.
          s = seen & (1u << (n * 8 + e)) ? s : masked_score;
        }
      }
    }
  }
}

// A key block that some row of the warp does not see entirely, or under a bias, whose numbers for a whole block would
// not fit the registers.
template <class Config, class Weights>
HSTU_PRIM void masked_block(const AttnFwdParams& p, WarpState<Config>& w, Weights& weights, u32 stage_bytes,
                            const TileInfo<Config>& tile, const typename Config::Mask::View& view, int block) {
  using T = AttnFwdSm80<Config>;
  constexpr int kChunkN = T::kMaskedChunkN;
  const int key_begin = tile.plan.key_begin(block);
  const auto nothing = [](int, int) {};
#pragma unroll 1
  for (int row = 0; row < T::kBlockN; row += kChunkN) {
    const int key = key_begin + row;
    if (!view.touches(key, key + kChunkN)) continue;
    ScoresOf<Config, kChunkN> c;
    init_scores<Config, kChunkN>(p, c, tile, key);
    multiply_qk<Config, kChunkN>(w, stage_bytes, row, c, nothing);
    if (!view.sees_all(key, key + kChunkN)) {
      apply_mask<Config, kChunkN, Weights>(p, c, tile, key, Weights::kZeroIsNothing ? 0 : tile.plan.range_begin(block));
    }
    weights.update_max(p, c.s, w.o);
#pragma unroll
    for (int step = 0; step < kChunkN / 16; ++step) make_p_pairs<Config, kChunkN>(p, weights, c, step, 0, c.kStepPairs);
#pragma unroll
    for (int step = 0; step < kChunkN / 16; ++step) multiply_pv<Config, kChunkN>(w, stage_bytes, row, step, c, nothing);
  }
}

// Finishes the rows of O: scales them, and writes their log-sum-exp where there is one.
template <class Config, class Weights>
HSTU_PRIM void finish_rows(const AttnFwdParams& p, WarpState<Config>& w, Weights& weights,
                           const TileInfo<Config>& tile) {
  using T = AttnFwdSm80<Config>;
#pragma unroll
  for (int m = 0; m < T::kRowTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      // The thread is asked for anew, so that rows are finished one after the other: registers are all taken.
      const int thread = prim::thread_id(),
                row = thread / 32 * Config::kRowsPerWarp + m * 16 + half * 8 + thread % 32 / 4;
      const int position = tile.first_row + row, first_query = tile.sequence.first_query();
      const float scale = weights.finish(p, tile.sequence, tile.head, m, half, position, position >= first_query);
#pragma unroll
      for (int n = 0; n < T::kColsV / 8; ++n) {
        w.o[m][n][half * 2] *= scale;
        w.o[m][n][half * 2 + 1] *= scale;
      }
    }
  }
}

// Stages O in the tile at `base`; each warp writes its own rows.
template <class Config>
HSTU_PRIM void stage_output(const WarpState<Config>& w, u32 base) {
  using T = AttnFwdSm80<Config>;
  const int lane = prim::lane_id(), warp_row = prim::warp_id() * Config::kRowsPerWarp;
#pragma unroll
  for (int m = 0; m < T::kRowTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = warp_row + m * 16 + half * 8 + lane / 4;
#pragma unroll
      for (int n = 0; n < T::kColsV / 8; ++n) {
        const u32 pair = prim::pack2<typename Config::Element>(w.o[m][n][half * 2], w.o[m][n][half * 2 + 1]);
        prim::st_shared(base + tile::chunk_offset<typename T::OTile>(row, n) + lane % 4 * 4, pair);
      }
    }
  }
}

// All key blocks of one row block; `copies` has started kPrefetchBlocks of them. Weights: what makes P of S,
// attention/variant/weights.cuh.
template <class Weights, class Config>
HSTU_PRIM void attend(const AttnFwdParams& p, WarpState<Config>& w, const TileInfo<Config>& tile,
                      typename Config::Mask::View* views, const tile::AttnRing<Config>& ring,
                      typename Config::Keys& copies) {
  using T = AttnFwdSm80<Config>;
  clear(w.o);
  Weights weights;
  const int first_row = tile.first_row + prim::warp_id() * Config::kRowsPerWarp;
  if (prim::thread_id() % 32 == 0) {
    views[prim::thread_id() / 32] =
        typename Config::Mask::View(tile.mask, tile.plan, first_row, first_row + Config::kRowsPerWarp);
  }
  __syncwarp();
  ring.template announce<T::kPrefetchBlocks - 1>(0);
#pragma unroll 1
  for (int block = 0;; ++block) {  // without any block, once, and no chunk is touched
    // Read early, held in predicates.
    const bool more = block + 1 < tile.plan.blocks, copy_more = block + T::kPrefetchBlocks < tile.plan.blocks;
    const u32 stage_bytes = ring.stage_of(block) * T::kStageBytes;
    const bool all_seen = !Config::kBias && views[prim::thread_id() / 32].sees_block(block);
    ring.wait_full(block);
    if (T::kQSteps > 0 && block == 0) {
#pragma unroll
      for (int step = 0; step < T::kQSteps; ++step) {
#pragma unroll
        for (int m = 0; m < T::kRowTiles; ++m) prim::ldmatrix_x4(w.q[step][m], w.q_lane.at(step, m * 16));
      }
    }
    ring.template announce<T::kPrefetchBlocks - 2>(block + 1);
    ring.wait_empty(block + T::kPrefetchBlocks);
    const auto copy = [&](int part, int parts) {
      copies.part(p, ring, block + T::kPrefetchBlocks, copy_more, part, parts);
    };
    if (all_seen) {
      full_block<Config>(p, w, weights, stage_bytes, copy);
    } else {
      copy(0, 1);
      masked_block<Config>(p, w, weights, stage_bytes, tile, views[prim::thread_id() / 32], block);
    }
    // Behind the block, where the scores' registers are free; these two places are what registers need.
    if constexpr (!tile::AttnRing<Config>::kBlockWide) copies.move_to(p, tile, block + T::kPrefetchBlocks + 1);
    ring.release(block);
    if (!more) break;
    if constexpr (tile::AttnRing<Config>::kBlockWide) copies.move_to(p, tile, block + T::kPrefetchBlocks + 1);
  }
  finish_rows<Config>(p, w, weights, tile);
}

// What a block of threads does.
template <class Config>
HSTU_PRIM void run(const AttnFwdParams& p) {
  using T = AttnFwdSm80<Config>;
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& storage = *reinterpret_cast<AttnFwdSm80Storage<Config>*>(shared);
  auto& tile = storage.tile;

  const u32 q_base = prim::smem_addr(storage.tiles);
  const tile::AttnRing<Config> ring{q_base + T::QTile::kBytes, q_base + static_cast<u32>(T::kTileBytes),
                                    q_base + static_cast<u32>(T::kTileBytes + 8 * Config::kStages)};
  const u32 lane = prim::lane_id(), warp_row = prim::warp_id() * Config::kRowsPerWarp;
  WarpState<Config> w{{},
                      {},
                      {q_base, warp_row + lane % 16, lane / 16},
                      {ring.stages, lane % 8 + lane / 16 * 8, lane / 8 % 2},
                      {ring.stages + T::KTile::kBytes, lane % 16, lane / 16}};

  if (threadIdx.x == 0) {
    tile.round = 0;
    ring.init();
  }
#pragma unroll 1
  for (;;) {
    if (prim::thread_id() == 0) find_tile<Config>(p, tile);
    __syncthreads();
    if (tile.state == kAbsent) return;
    if constexpr (Config::Mask::kSurveyed) {
      tile.mask.survey(tile.plan, variant::max_int(tile.first_row, tile.sequence.first_query()),
                       tile.first_row + T::kBlockM);
      __syncthreads();
    }

    // Rows before the first query; read again where needed, as registers are all taken.
    const auto padding_rows = [&] { return tile.sequence.first_query() - tile.first_row; };
    if constexpr (Config::Keys::kLoadsQueries) {
      Config::Keys::load_queries(p, tile, q_base, padding_rows());
    } else {
      const typename T::QStream q(tile.sequence.q(p, tile.head, tile.first_row), p.q_row_stride);
      q.load(q_base, p.q_row_stride, padding_rows(), true);
    }
    typename Config::Keys copies(p, tile);
#pragma unroll
    for (int block = 0; block < T::kPrefetchBlocks; ++block) {
      copies.part(p, ring, block, block < tile.plan.blocks, 0, 1);
      copies.move_to(p, tile, block + 1);
    }
    using Silu = variant::SiluWeights<Config>;
    using Softmax = variant::SoftmaxWeights<Config>;
    if constexpr (!Config::kSoftmax) {
      attend<Silu>(p, w, tile, storage.view, ring, copies);
    } else if constexpr (!Config::kSilu) {
      attend<Softmax>(p, w, tile, storage.view, ring, copies);
    } else if (tile.head < p.num_softmax_heads) {
      attend<Softmax>(p, w, tile, storage.view, ring, copies);
    } else {
      attend<Silu>(p, w, tile, storage.view, ring, copies);
    }

    __syncthreads();  // O goes over Q and the ring
    stage_output<Config>(w, q_base);
    __syncthreads();
    tile::store_tile<typename T::OTile, Config::kHeadDimV, T::kThreads, Config::kVectorIo>(
        q_base, tile.sequence.out(p, tile.head, tile.first_row), p.out_row_stride, padding_rows());
    if (tile.state == kLast) return;
    __syncthreads();  // before the tiles and `tile` are written again
    if (prim::thread_id() == 0) {
      ++tile.round;
      ring.invalidate();
      ring.init();
    }
  }
}

}  // namespace attn_fwd_sm80_detail

template <class Config>
__global__ void __launch_bounds__(AttnFwdSm80<Config>::kThreads, Config::kMinBlocks)
    attn_fwd_sm80(const __grid_constant__ AttnFwdParams p) {
  attn_fwd_sm80_detail::run<Config>(p);
}

}  // namespace hstu
