// Forward HSTU attention with the instructions of sm_80 (cp.async, ldmatrix, mma.sync); runs on sm_80 and later.
//   O_i = scale * sum over allowed keys j of silu(alpha q_i . k_j) v_j
//
// One block of threads per (block of kBlockM queries, head, sequence). Warps share nothing but the key and value tiles:
// a warp owns kRowsPerWarp query rows, keeps their O in registers, and turns S into P in place, since the accumulator
// layout of S is the A operand layout of P V.
//
//   Q tile  --cp.async--> smem --ldmatrix--> registers (kQSteps of its k16 steps stay there)
//   K, V    --cp.async--> ring of kStages --ldmatrix--> S = Q K^T, P = silu(S), O += P V       one barrier per block
//
// A block of kBlockN keys is taken in chunks of kChunkN, which bounds the registers of S. The special functions of a
// chunk are spread between the matrix products of its neighbour: S of the next chunk, or O of the one before; a chunk
// alone in its block spreads them 16 keys ahead of its own P V.
//
// There is no softmax, so blocks commute and masks are zeros in P. Blocks every row sees entirely (KeyPlan) run without
// mask arithmetic; the others skip, warp by warp, chunks that no row of the warp sees.
//
// 32 rows a warp: one ldmatrix.x4 of K or V feeds four mma instead of two, and shared memory bandwidth (128 B a clock)
// is what limits 16-row warps at 450 of mma.sync's 640 TFLOP/s on an H200.
//
// Shared memory   Q | kStages x (K, V); O is staged over it at the end          (attn_fwd_sm80_smem_bytes)
// Order           tile index -> section of kRaster (head, sequence) pairs, whose K and V share the L2 cache; in it, row
//                 blocks from the longest key range down; in those, pairs. Row blocks count from the sequence's end,
//                 so the partial one is the cheapest.
// Sources         arXiv:2402.17152 (maths); FlashAttention-2 (register reuse of P)
#pragma once
#include "params.h"
#include "prim/lanes.cuh"
#include "prim/math.cuh"
#include "prim/mma.cuh"
#include "prim/types.cuh"
#include "tile/smem_tile.cuh"
#include "tile/tile_io.cuh"
#include "variant/hstu_mask.cuh"

namespace hstu {

// Problem facts in Config: Element, Offset, Target, kHeadDimQk, kHeadDimV, kVectorIo (all pointers 16-byte aligned, all
// strides and head dims multiples of 8), kCausal, kHasTargets, kContextual, kMaxAttnLen, kMinFullAttn, kAttnScale.
// Knobs: kRowsPerWarp, kWarps, kBlockN, kChunkN, kStages, kQSteps, kMinBlocks, kRaster.
template <class Config>
struct AttnFwdSm80 {
  static constexpr int kThreads = Config::kWarps * 32;
  static constexpr int kBlockM = Config::kWarps * Config::kRowsPerWarp;
  static constexpr int kBlockN = Config::kBlockN;
  static constexpr int kColsQk = (Config::kHeadDimQk + 15) / 16 * 16;
  static constexpr int kColsV = (Config::kHeadDimV + 15) / 16 * 16;

  using QTile = tile::SmemTile<kBlockM, kColsQk>;
  using KTile = tile::SmemTile<kBlockN, kColsQk>;
  using VTile = tile::SmemTile<kBlockN, kColsV>;
  using OTile = tile::SmemTile<kBlockM, kColsV>;
  static constexpr int kStageBytes = KTile::kBytes + VTile::kBytes;
  static constexpr int kRingBytes = QTile::kBytes + Config::kStages * kStageBytes;
  static constexpr int kTileBytes = kRingBytes > OTile::kBytes ? kRingBytes : OTile::kBytes;

  static constexpr int kRowTiles = Config::kRowsPerWarp / 16;  // m16 tiles of a warp
  static constexpr int kStepsQk = kColsQk / 16;                // k16 steps of Q K^T
  static constexpr int kQSteps = Config::kQSteps < kStepsQk ? Config::kQSteps : kStepsQk;
  static constexpr int kChunks = kBlockN / Config::kChunkN;
  // Masked blocks are few: finer chunks there skip more.
  static constexpr int kMaskedChunkN = Config::kChunkN % 32 == 0 ? 32 : 16;

  static_assert(Config::kRowsPerWarp % 16 == 0, "a warp owns whole m16 tiles");
  static_assert(Config::kChunkN % 16 == 0 && kBlockN % Config::kChunkN == 0, "chunks are whole k16 steps of P V");
  static_assert(Config::kStages >= 2, "the next block loads while this one computes");
};

namespace attn_fwd_sm80_detail {

// Accumulators of S for kChunkN keys, and their P as A operands.
template <int kRowTiles, int kChunkN>
struct Scores {
  static constexpr int kPairs = kRowTiles * (kChunkN / 8) * 2;
  float s[kRowTiles][kChunkN / 8][4];
  u32 p[kRowTiles][kChunkN / 16][4];
};

// One row block's place and plan. It stays in shared memory, read once a key block: registers are all taken.
template <class Config>
struct TileInfo {
  variant::HstuMask<Config> mask;
  variant::KeyPlan<Config> plan;
  i64 sequence_row;  // the sequence's first row in the tensors
  int head;
  int first_row;  // position of the tile's first row; negative when it hangs over the sequence's start
  int state;      // a TileState
};
enum TileState { kAbsent, kLast, kMoreFollow };

// Finds the `round`-th row block of this block of threads.
template <class Config>
HSTU_PRIM void find_tile(const AttnFwdParams& p, int round, TileInfo<Config>& tile) {
  using T = AttnFwdSm80<Config>;
  const int pairs = p.batch * p.num_heads;
  const int section = blockIdx.x / (Config::kRaster * p.row_blocks);
  const int in_section = blockIdx.x % (Config::kRaster * p.row_blocks);
  const int section_pairs = variant::min_int(Config::kRaster, pairs - section * Config::kRaster);
  const int level = in_section / section_pairs;
  const int pair = section * Config::kRaster + in_section % section_pairs;
  const int seq = pair / p.num_heads;

  const auto* offsets = static_cast<const typename Config::Offset*>(p.seq_offsets);
  const i64 sequence_row = offsets[seq];
  const int length = static_cast<int>(offsets[seq + 1] - sequence_row);
  const int row_blocks = (length + T::kBlockM - 1) / T::kBlockM;
  // A level is the same number of keys in every sequence, so short sequences have no tile at the first levels;
  // sequences longer than the grid foresaw take several rounds.
  const int shift = row_blocks <= p.row_blocks ? p.row_blocks - row_blocks : 0;
  const int row_block = level - shift + round * p.row_blocks;
  if (row_block < 0 || row_block >= row_blocks) {
    tile.state = kAbsent;
    return;
  }
  const int first_row = length - (row_block + 1) * T::kBlockM;
  const variant::HstuMask<Config> mask(p, seq, length);
  tile.mask = mask;
  tile.plan = variant::KeyPlan<Config>(mask, variant::max_int(first_row, 0), first_row + T::kBlockM);
  tile.sequence_row = sequence_row;
  tile.head = pair % p.num_heads;
  tile.first_row = first_row;
  tile.state = row_block + p.row_blocks < row_blocks ? kMoreFollow : kLast;
}

// What a warp carries through the key blocks.
template <class Config>
struct WarpState {
  using T = AttnFwdSm80<Config>;
  float o[T::kRowTiles][T::kColsV / 8][4];
  u32 q[T::kQSteps > 0 ? T::kQSteps : 1][T::kRowTiles][4];
  tile::LaneAddress<typename T::QTile> q_lane;
  tile::LaneAddress<typename T::KTile> k_lane;
  tile::LaneAddress<typename T::VTile> v_lane;
  float half_alpha;
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

// silu(x) = t tanh(t) + t with t = x / 2; `half` is alpha / 2.
HSTU_PRIM float silu(float s, float half) {
  const float t = s * half;
  return t * prim::tanh_approx(t) + t;
}

// Part kPart of kParts of S -> P: pairs in the order P V needs them, k16 step by k16 step.
template <class Config, int kChunkN>
HSTU_PRIM void silu_part(Scores<AttnFwdSm80<Config>::kRowTiles, kChunkN>& c, float half_alpha, int first, int last) {
  constexpr int kRowTiles = AttnFwdSm80<Config>::kRowTiles;
#pragma unroll
  for (int step = 0; step < kChunkN / 16; ++step) {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int index = (step * kRowTiles + m) * 4 + i;
        if (index < first || index >= last) continue;
        const float* s = c.s[m][step * 2 + i / 2] + i % 2 * 2;
        c.p[m][step][i] = prim::pack2<typename Config::Element>(silu(s[0], half_alpha), silu(s[1], half_alpha));
      }
    }
  }
}

// S of kChunkN keys from `row` of the key tile; `beside(step, steps)` is issued between the k16 steps.
template <class Config, int kChunkN, class Beside>
HSTU_PRIM void multiply_qk(const WarpState<Config>& w, int stage_bytes, int row,
                           Scores<AttnFwdSm80<Config>::kRowTiles, kChunkN>& c, Beside beside) {
  using T = AttnFwdSm80<Config>;
  using Element = typename Config::Element;
  clear(c.s);
  auto k_lane = w.k_lane;
  k_lane.advance(stage_bytes);
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
    for (int n = 0; n < kChunkN / 16; ++n) {
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

// O += P V for the k16 steps [first, last) of a chunk whose keys start at `row` of the value tile; `beside(part,
// parts)` is issued between the products.
template <class Config, int kChunkN, class Beside>
HSTU_PRIM void multiply_pv(WarpState<Config>& w, int stage_bytes, int row, int first, int last,
                           const Scores<AttnFwdSm80<Config>::kRowTiles, kChunkN>& c, Beside beside) {
  using T = AttnFwdSm80<Config>;
  using Element = typename Config::Element;
  auto v_lane = w.v_lane;
  v_lane.advance(stage_bytes);
#pragma unroll
  for (int step = 0; step < kChunkN / 16; ++step) {
    if (step < first || step >= last) continue;
#pragma unroll
    for (int n = 0; n < T::kColsV / 16; ++n) {
      u32 b[4];
      prim::ldmatrix_x4_trans(b, v_lane.at(n, row + step * 16));
#pragma unroll
      for (int m = 0; m < T::kRowTiles; ++m) {
        prim::mma_m16n8k16<Element>(w.o[m][n * 2], c.p[m][step], b[0], b[1]);
        prim::mma_m16n8k16<Element>(w.o[m][n * 2 + 1], c.p[m][step], b[2], b[3]);
      }
      beside((step - first) * (T::kColsV / 16) + n, (last - first) * (T::kColsV / 16));
    }
  }
}

// A key block that every row sees.
template <class Config>
HSTU_PRIM void full_block(WarpState<Config>& w, int stage_bytes) {
  using T = AttnFwdSm80<Config>;
  constexpr int kChunkN = Config::kChunkN, kChunks = T::kChunks;
  using Chunk = Scores<T::kRowTiles, kChunkN>;
  constexpr int kPairs = Chunk::kPairs;
  const auto nothing = [](int, int) {};
  Chunk chunk[kChunks > 1 ? 2 : 1];

  multiply_qk<Config, kChunkN>(w, stage_bytes, 0, chunk[0], nothing);
  if constexpr (kChunks == 1) {
    constexpr int kSteps = kChunkN / 16, kStepPairs = kPairs / kSteps;
    silu_part<Config, kChunkN>(chunk[0], w.half_alpha, 0, kStepPairs);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const int next = (step + 1) * kStepPairs;
      multiply_pv<Config, kChunkN>(w, stage_bytes, 0, step, step + 1, chunk[0], [&](int part, int parts) {
        if (step + 1 < kSteps) {
          silu_part<Config, kChunkN>(chunk[0], w.half_alpha, next + part * kStepPairs / parts,
                                     next + (part + 1) * kStepPairs / parts);
        }
      });
    }
  } else {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const auto silu_beside = [&](int which) {
        return [&w, &chunk, which](int part, int parts) {
          silu_part<Config, kChunkN>(chunk[which], w.half_alpha, part * kPairs / parts, (part + 1) * kPairs / parts);
        };
      };
      const int now = i % 2, next = 1 - now;
      if (i + 1 < kChunks) {
        multiply_qk<Config, kChunkN>(w, stage_bytes, (i + 1) * kChunkN, chunk[next], silu_beside(now));
      }
      if (i + 2 == kChunks) {  // the last chunk has no successor to hide behind
        multiply_pv<Config, kChunkN>(w, stage_bytes, i * kChunkN, 0, kChunkN / 16, chunk[now], silu_beside(next));
      } else {
        multiply_pv<Config, kChunkN>(w, stage_bytes, i * kChunkN, 0, kChunkN / 16, chunk[now], nothing);
      }
    }
  }
}

// A key block that some row does not see entirely.
template <class Config>
HSTU_PRIM void masked_block(WarpState<Config>& w, int stage_bytes, const TileInfo<Config>& tile, int block) {
  using T = AttnFwdSm80<Config>;
  constexpr int kChunkN = T::kMaskedChunkN;
  const variant::HstuMask<Config> mask = tile.mask;
  const int key_begin = tile.plan.key_begin(block);
  const int first_row = tile.first_row + prim::warp_id() * Config::kRowsPerWarp;
  const int last_row = first_row + Config::kRowsPerWarp;
  if (last_row <= 0) return;  // the row block hangs over the sequence's start
  const auto nothing = [](int, int) {};
  const int lane = prim::lane_id();
#pragma unroll 1
  for (int row = 0; row < T::kBlockN; row += kChunkN) {
    const int key = key_begin + row;
    if (!mask.touches(variant::max_int(first_row, 0), last_row, key, key + kChunkN)) continue;
    Scores<T::kRowTiles, kChunkN> c;
    multiply_qk<Config, kChunkN>(w, stage_bytes, row, c, nothing);
#pragma unroll
    for (int m = 0; m < T::kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int i = first_row + m * 16 + half * 8 + lane / 4;
#pragma unroll
        for (int n = 0; n < kChunkN / 8; ++n) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            float& s = c.s[m][n][half * 2 + e];
            // silu(0) = 0; selecting before it also stops what a masked key may hold.
            s = mask.allowed(i, key + n * 8 + lane % 4 * 2 + e) ? s : 0.0f;
          }
        }
      }
    }
    silu_part<Config, kChunkN>(c, w.half_alpha, 0, c.kPairs);
    multiply_pv<Config, kChunkN>(w, stage_bytes, row, 0, kChunkN / 16, c, nothing);
  }
}

// Starts the copies of a key block into its stage; a commit group even past the last block, so that counts stay even.
template <class Config>
HSTU_PRIM void load_keys(const AttnFwdParams& p, const TileInfo<Config>& tile, int block, u32 stages) {
  using T = AttnFwdSm80<Config>;
  using Element = typename Config::Element;
  if (block < tile.plan.blocks) {
    const u32 stage = stages + block % Config::kStages * T::kStageBytes;
    const int key = tile.plan.key_begin(block);
    const int begin = tile.plan.range_begin(block) - key;
    const i64 row = tile.sequence_row + key;
    tile::load_tile<typename T::KTile, Config::kHeadDimQk, T::kThreads, Config::kVectorIo>(
        stage, static_cast<const Element*>(p.k) + row * p.k_row_stride + tile.head * p.k_head_stride, p.k_row_stride,
        begin, T::kBlockN);
    tile::load_tile<typename T::VTile, Config::kHeadDimV, T::kThreads, Config::kVectorIo>(
        stage + T::KTile::kBytes, static_cast<const Element*>(p.v) + row * p.v_row_stride + tile.head * p.v_head_stride,
        p.v_row_stride, begin, T::kBlockN);
  }
  prim::cp_async_commit();
}

// Scales O and stages it in the tile at `base`; each warp writes its own rows.
template <class Config>
HSTU_PRIM void stage_output(const AttnFwdParams& p, const WarpState<Config>& w, u32 base,
                            const TileInfo<Config>& tile) {
  using T = AttnFwdSm80<Config>;
  const int lane = prim::lane_id(), warp_row = prim::warp_id() * Config::kRowsPerWarp;
#pragma unroll
  for (int m = 0; m < T::kRowTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = warp_row + m * 16 + half * 8 + lane / 4;
      float scale = p.scale;
      if constexpr (Config::kAttnScale) {
        const i64 i = tile.sequence_row + variant::max_int(tile.first_row + row, 0);
        scale = p.attn_scale[i * p.attn_scale_stride];
      }
#pragma unroll
      for (int n = 0; n < T::kColsV / 8; ++n) {
        const u32 pair =
            prim::pack2<typename Config::Element>(w.o[m][n][half * 2] * scale, w.o[m][n][half * 2 + 1] * scale);
        prim::st_shared(base + tile::chunk_offset<typename T::OTile>(row, n) + lane % 4 * 4, pair);
      }
    }
  }
}

}  // namespace attn_fwd_sm80_detail

template <class Config>
struct AttnFwdSm80Storage {
  unsigned char tiles[AttnFwdSm80<Config>::kTileBytes];
  attn_fwd_sm80_detail::TileInfo<Config> tile;
};
template <class Config>
constexpr int attn_fwd_sm80_smem_bytes = sizeof(AttnFwdSm80Storage<Config>);

template <class Config>
__global__ void __launch_bounds__(AttnFwdSm80<Config>::kThreads, Config::kMinBlocks)
    attn_fwd_sm80(const __grid_constant__ AttnFwdParams p) {
  using namespace attn_fwd_sm80_detail;
  using T = AttnFwdSm80<Config>;
  using Element = typename Config::Element;
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& storage = *reinterpret_cast<AttnFwdSm80Storage<Config>*>(shared);
  auto& tile = storage.tile;

  const u32 q_base = prim::smem_addr(storage.tiles), stages = q_base + T::QTile::kBytes;
  const u32 lane = prim::lane_id(), warp_row = prim::warp_id() * Config::kRowsPerWarp;
  WarpState<Config> w{{},
                      {},
                      {q_base, warp_row + lane % 16, lane / 16},
                      {stages, lane % 8 + lane / 16 * 8, lane / 8 % 2},
                      {stages + T::KTile::kBytes, lane % 16, lane / 16},
                      p.alpha * 0.5f};

#pragma unroll 1
  for (int round = 0;; ++round) {
    if (threadIdx.x == 0) find_tile<Config>(p, round, tile);
    __syncthreads();
    if (tile.state == kAbsent) return;

    tile::load_tile<typename T::QTile, Config::kHeadDimQk, T::kThreads, Config::kVectorIo>(
        q_base,
        static_cast<const Element*>(p.q) + (tile.sequence_row + tile.first_row) * p.q_row_stride +
            tile.head * p.q_head_stride,
        p.q_row_stride, -tile.first_row, T::kBlockM);
#pragma unroll
    for (int block = 0; block < Config::kStages - 1; ++block) load_keys<Config>(p, tile, block, stages);
    clear(w.o);

    int stage_bytes = 0;
#pragma unroll 1
    for (int block = 0; block < tile.plan.blocks; ++block) {
      prim::cp_async_wait<Config::kStages - 2>();
      __syncthreads();  // this block has landed for all, and all have left the stage loaded next
      load_keys<Config>(p, tile, block + Config::kStages - 1, stages);
      if (T::kQSteps > 0 && block == 0) {
#pragma unroll
        for (int step = 0; step < T::kQSteps; ++step) {
#pragma unroll
          for (int m = 0; m < T::kRowTiles; ++m) prim::ldmatrix_x4(w.q[step][m], w.q_lane.at(step, m * 16));
        }
      }
      if (tile.plan.is_full(block)) {
        full_block<Config>(w, stage_bytes);
      } else {
        masked_block<Config>(w, stage_bytes, tile, block);
      }
      stage_bytes = stage_bytes == (Config::kStages - 1) * T::kStageBytes ? 0 : stage_bytes + T::kStageBytes;
    }

    __syncthreads();  // O goes over Q and the ring
    stage_output<Config>(p, w, q_base, tile);
    __syncthreads();
    tile::store_tile<typename T::OTile, Config::kHeadDimV, T::kThreads, Config::kVectorIo>(
        q_base,
        static_cast<Element*>(p.out) + (tile.sequence_row + tile.first_row) * p.out_row_stride +
            tile.head * p.out_head_stride,
        p.out_row_stride, -tile.first_row, T::kBlockM);
    if (tile.state == kLast) return;
    __syncthreads();  // before the tiles and `tile` are written again
  }
}

}  // namespace hstu
