// Forward HSTU attention with the keys split among warps, for few queries against many keys; instructions of sm_80
// (cp.async, ldmatrix, mma.sync). The kernels attn_split_*, attn_delta_* and attn_paged_* are this one.
//   O_i = scale * sum over allowed keys j of silu(alpha (q_i . k_j + rab_ij)) v_j
// A sequence's queries are its newest rows, or all; its keys are jagged or lie in the pages of a cache.
//
// One block of threads per (block of kBlockM queries, head, sequence), and few of those: what counts is how many bytes
// of K and V are in flight. So the warps split the keys. kKeyGroups groups of kRowWarps warps take the key blocks
// round-robin; each group has a ring of its own, filled by its own threads, and waits for nobody else. There is no
// softmax: the groups' O are added at the end. A relative bias (Config::kBias) is what the scores are added to;
// prefetches run as far ahead of it as the copies of its keys.
//
//   Q tile  --cp.async--> smem --ldmatrix--> A
//   K, V    --cp.async--> a ring of kStages each group --ldmatrix--> S = Q K^T, P = silu(S), O += P V
//   O of the groups --> smem, pairwise sums --> the first group scales, stores
//
// What runs, and the function or the file behind each line, in attention/ unless it is of this file:
//   for each row block of this block of threads                      attn_split_block()
//     find it, its keys and its mask; plan its key blocks            find_tile(), plan_tile(), variant/, mask/
//     copy Q                                                         sm80/tile_io.cuh
//     for each key block of the warp's group                         attend()
//       copy K and V of a later block, prefetch its bias             copy_block(): copy_keys(); TileBias
//       look up the pages of the block behind that                   PagePrefetch, variant/cached_keys.cuh
//       for each 16 or 32 keys: S = Q K^T + bias, mask, P = silu(S)  add_keys(), mask/
//         O += P V                                                   add_keys()
//     add up the groups' O                                           add_groups()
//     scale O, to shared memory, then to out                         stage_output(), sm80/tile_io.cuh
//
// Shared memory   Q | kKeyGroups x kStages x (K, V) | TileInfo; O is summed and staged over it all (AttnSplitStorage)
// Order           tile index -> (head, sequence) pair, row block from the sequence's end: neighbours share K and V
// Sources         arXiv:2402.17152 (maths); Flash-Decoding (keys split among workers)
#pragma once
#include "attention/attn_split.h"
#include "attention/mask/hstu_mask.cuh"
#include "attention/mask/interval_mask.cuh"
#include "attention/sm80/smem_tile.cuh"
#include "attention/sm80/tile_io.cuh"
#include "attention/variant/cached_keys.cuh"
#include "attention/variant/relative_bias.cuh"
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/math.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"
#include "prim/named_barrier.cuh"
#include "prim/types.cuh"

namespace hstu {

// Problem facts in Config: Mask, Element, Offset, QOffset, Target, Page, kHeadDimQk, kHeadDimV, kVectorIo (all pointers
// 16-byte aligned, all strides and head dims multiples of 8), kJaggedQ, kPageSize (0: not paged), kAttnScale, kBias and
// those of the mask. Knobs: kRowsPerWarp, kRowWarps, kKeyGroups, kBlockN (keys a group takes at a time), kStages,
// kMinBlocks.
template <class Config>
struct AttnSplit {
  enum : int { kGroupThreads = Config::kRowWarps * 32 };
  enum : int { kThreads = kGroupThreads * Config::kKeyGroups };
  enum : int { kBlockM = Config::kRowWarps * Config::kRowsPerWarp };
  enum : int { kBlockN = Config::kBlockN };
  enum : int { kColsQk = (Config::kHeadDimQk + 15) / 16 * 16 };
  enum : int { kColsV = (Config::kHeadDimV + 15) / 16 * 16 };

  using QTile = tile::SmemTile<kBlockM, kColsQk>;
  using KTile = tile::SmemTile<kBlockN, kColsQk>;
  using VTile = tile::SmemTile<kBlockN, kColsV>;
  using OTile = tile::SmemTile<kBlockM, kColsV>;
  enum : int { kStageBytes = KTile::kBytes + VTile::kBytes };
  enum : int { kGroupBytes = Config::kStages * kStageBytes };
  enum : int { kRingBytes = QTile::kBytes + Config::kKeyGroups * kGroupBytes };
  // Half of the groups hand their O, in f32, to the other half; or O is staged to be stored.
  enum : int { kSumBytes = (Config::kKeyGroups / 2 > 0 ? Config::kKeyGroups / 2 : 1) * kBlockM * kColsV * 4 };
  enum : int { kTileBytes = kRingBytes > kSumBytes ? kRingBytes : kSumBytes };

  enum : int { kRowTiles = Config::kRowsPerWarp / 16 };  // m16 tiles of a warp
  enum : int { kStepsQk = kColsQk / 16 };                // k16 steps of Q K^T
  // Keys that go through together where all are seen: of 32, each piece of Q feeds twice as many products. Page numbers
  // take the registers for that, or the bias.
  enum : int {
    kFullKeys =
        kBlockN % 32 == 0 && Config::kPageSize == 0 && !Config::kBias && kRowTiles * (kColsV / 2 + 16) <= 164 ? 32 : 16
  };

  static_assert(Config::kRowsPerWarp % 16 == 0, "a warp owns whole m16 tiles");
  static_assert(kBlockN % 16 == 0, "a key block is whole k16 steps of P V");
  static_assert((Config::kKeyGroups & (Config::kKeyGroups - 1)) == 0, "the groups' results are added pairwise");
  static_assert(Config::kStages >= 2, "the next block loads while this one computes");
};

namespace attn_split_detail {

enum TileState { kAbsent, kLast, kMoreFollow };

// One row block's place and plan, in shared memory. Rows and keys are counted by their positions in the whole sequence.
template <class Config>
struct TileInfo {
  typename Config::Mask mask;
  typename Config::Mask::Plan plan;
  variant::CachedKeys<Config> keys;
  i64 row_of_zero;  // the row of q that position 0 would have
  int head;
  int first_row;  // position of the tile's first row; may lie before begin
  int begin;      // of the sequence's queries
  int state;      // a TileState
  int round;      // how many row blocks this block of threads had before
};

}  // namespace attn_split_detail

template <class Config>
struct AttnSplitStorage {
  alignas(1024) unsigned char tiles[AttnSplit<Config>::kTileBytes];
  attn_split_detail::TileInfo<Config> tile;
};
// TileInfo takes less than this behind the tiles; a round number, so that the host can say the sum.
template <class Config>
constexpr int kAttnSplitExtraBytes = 512 + Config::Mask::kExtraBytes;
template <class Config>
constexpr int attn_split_smem_bytes = AttnSplit<Config>::kTileBytes + kAttnSplitExtraBytes<Config>;

namespace attn_split_detail {

// Finds row block number tile.round of this block of threads; its plan comes later.
template <class Config>
HSTU_PRIM void find_tile(const AttnSplitParams& p, TileInfo<Config>& tile) {
  using T = AttnSplit<Config>;
  static_assert(sizeof(TileInfo<Config>) <= kAttnSplitExtraBytes<Config>, "TileInfo outgrew its place");
  const u32 pair = blockIdx.x / p.row_blocks;
  const int level = blockIdx.x - pair * p.row_blocks;
  const u32 seq = pair / p.num_heads, head = pair - seq * p.num_heads;

  i64 first_q = static_cast<i64>(seq) * p.delta;
  int queries = p.delta;
  if constexpr (Config::kJaggedQ) {
    const auto* offsets = static_cast<const typename Config::QOffset*>(p.q_offsets);
    first_q = offsets[seq];
    queries = static_cast<int>(offsets[seq + 1] - first_q);
  }
  const int row_blocks = (queries + T::kBlockM - 1) / T::kBlockM;
  const int row_block = level + tile.round * p.row_blocks;
  if (row_block >= row_blocks) {
    tile.state = kAbsent;
    return;
  }
  tile.state = row_block + p.row_blocks < row_blocks ? kMoreFollow : kLast;
  const variant::CachedKeys<Config> keys(p, seq, head / p.heads_per_kv, first_q, queries);
  const int length = keys.count;
  const int begin = length - queries, first_row = length - (row_block + 1) * T::kBlockM;
  tile.keys = keys;
  tile.row_of_zero = first_q - begin;
  tile.head = head;
  tile.first_row = first_row;
  tile.begin = begin;
  if constexpr (Config::kIntervals > 0) {
    tile.mask.place(p, head, tile.row_of_zero, length);
  } else {
    tile.mask = typename Config::Mask(p, seq, length);
  }
}

// Plans the row block's keys; queries before position 0 see nothing, and a tile of them alone has no key blocks. All
// threads call it, after a barrier.
template <class Config>
HSTU_PRIM void plan_tile(TileInfo<Config>& tile) {
  const int first = variant::max_int(tile.first_row, variant::max_int(tile.begin, 0));
  const int last = tile.first_row + AttnSplit<Config>::kBlockM;
  if constexpr (Config::kIntervals > 0) {
    tile.mask.survey(tile.plan, first, last);
  } else if (prim::thread_id() == 0) {
    if (first < last) {
      tile.plan = typename Config::Mask::Plan(tile.mask, first, last);
    } else {
      tile.plan.blocks = 0;
    }
  }
}

// Waits for the warps of this thread's group.
template <class Config>
HSTU_PRIM void sync_group(int group) {
  if constexpr (Config::kKeyGroups == 1) {
    __syncthreads();
  } else if constexpr (Config::kRowWarps == 1) {
    __syncwarp();
  } else {
    prim::named_barrier_sync(1 + group, AttnSplit<Config>::kGroupThreads);
  }
}

// A pointer of lane `lane`; all lanes of the warp call it.
template <class T>
HSTU_PRIM const T* shuffled(const T* p, int lane) {
  const u64 bits = reinterpret_cast<u64>(p);
  return reinterpret_cast<const T*>(__shfl_sync(prim::kFullWarp, bits, lane));
}

// Where the rows of a group's next key block lie: lane i knows row i (and i + 32). Pages are looked up a block ahead,
// so that nobody waits for them.
template <class Config>
struct PagePrefetch {
  enum : int { kParts = (Config::kBlockN + 31) / 32 };
  int page[kParts];

  HSTU_PRIM void find(const TileInfo<Config>& tile, int block) {
    const int key = tile.plan.key_begin(block) + prim::lane_id(), begin = tile.plan.range_begin(block);
#pragma unroll
    for (int part = 0; part < kParts; ++part) page[part] = tile.keys.page_of(variant::max_int(key + part * 32, begin));
  }
};

// Copies rows [key, key + kRows) of K or V to the tile at `base` with the threads of a group; rows before `begin`
// become zeros.
template <class Config, class Tile, int kDim>
HSTU_PRIM void copy_keys(u32 base, const variant::CachedKeys<Config>& keys, const variant::RowsOf<Config>& in_shared,
                         const PagePrefetch<Config>& pages, int key, int begin) {
  using Element = typename Config::Element;
  constexpr int kThreads = AttnSplit<Config>::kGroupThreads, kChunks = Tile::kCols / 8;
  constexpr int kAll = Tile::kRows * kChunks, kParts = PagePrefetch<Config>::kParts;
  constexpr int kPasses = (kAll + kThreads - 1) / kThreads;
  // The places of more take registers that wide heads do not leave; elements one by one want more of them.
  constexpr int kAtOnce = !Config::kVectorIo && AttnSplit<Config>::kColsV > 192 ? 4 : 8;
  const int thread = static_cast<int>(prim::thread_id() % kThreads);
  const variant::RowsOf<Config> rows = in_shared;  // behind the first copy the compiler would read them again
  const Element* own[kParts];                      // when paged: the lane's rows
  if constexpr (Config::kPageSize > 0) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int position = key + static_cast<int>(prim::lane_id()) + part * 32;
      own[part] = rows.at(keys, variant::max_int(position, begin), pages.page[part]);
    }
  }
#pragma unroll kAtOnce
  for (int pass = 0; pass < kPasses; ++pass) {
    const int index = pass * kThreads + thread;
    const int row = index / kChunks, chunk = index % kChunks;
    const bool there = key + row >= begin;
    const Element* src;
    if constexpr (Config::kPageSize > 0) {
      const Element* mine = own[0];
      // A pass of one warp stays in one half; with more it may not.
      if constexpr (kParts > 1) {
        const Element* other = shuffled(own[1], row % 32);
        mine = shuffled(own[0], row % 32);
        mine = row < 32 ? mine : other;
      } else {
        mine = shuffled(mine, row);
      }
      src = mine + chunk * 8;
    } else {
      src = rows.at(keys, there ? key + row : begin, 0) + chunk * 8;
    }
    if (kAll % kThreads != 0 && index >= kAll) break;
    const u32 to = base + tile::chunk_offset<Tile>(row, chunk);
    const int count = there ? kDim - chunk * 8 : 0;
    if constexpr (Config::kVectorIo) {
      prim::cp_async16_or_zero(to, src, count > 0);
    } else {
      prim::st_shared(to, tile::gather8(src, count));
    }
  }
}

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

// The bias of this block's sequence and head, where there is one.
template <class Config, bool kBias = Config::kBias>
struct TileBias {
  HSTU_PRIM TileBias(const AttnSplitParams&, int) {}
  HSTU_PRIM void prefetch(int, int) const {}
  template <int kRowTiles, int kColTiles>
  HSTU_PRIM void begin(float (&s)[kRowTiles][kColTiles][4], int, int) const {
    clear(s);
  }
};
template <class Config>
struct TileBias<Config, true> {
  variant::RelativeBias<Config> bias;

  HSTU_PRIM TileBias(const AttnSplitParams& p, int head) : bias(p, blockIdx.x / p.row_blocks / p.num_heads, head) {}

  // Of the warp's rows from first_row on and the keys of a block from `key` on, a sector of L2 each.
  HSTU_PRIM void prefetch(int first_row, int key) const {
    constexpr int kSectorKeys = 32 / static_cast<int>(sizeof(typename Config::Element));
    constexpr int kSectors = Config::kBlockN / kSectorKeys, kAll = Config::kRowsPerWarp * kSectors;
#pragma unroll
    for (int i = 0; i < (kAll + 31) / 32; ++i) {
      const int index = i * 32 + static_cast<int>(prim::lane_id());
      if (kAll % 32 == 0 || index < kAll)
        bias.prefetch(first_row + index / kSectors, key + index % kSectors * kSectorKeys);
    }
  }

  // What the scores of the warp's rows from first_row on and the keys from `key` on are added to.
  template <int kRowTiles, int kColTiles>
  HSTU_PRIM void begin(float (&s)[kRowTiles][kColTiles][4], int first_row, int key) const {
    const int lane = prim::thread_id() % 32, row = first_row + lane / 4, column = key + lane % 4 * 2;
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int n = 0; n < kColTiles; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) s[m][n][i] = bias.at(row + m * 16 + i / 2 * 8, column + n * 8 + i % 2);
      }
    }
  }
};

// Key block `block` of the plan to the stage at `stage`; `next` comes after it, if there is one.
template <class Config>
HSTU_PRIM void copy_block(const TileInfo<Config>& tile, PagePrefetch<Config>& pages, u32 stage, int block, int next) {
  using T = AttnSplit<Config>;
  const int key = tile.plan.key_begin(block), begin = tile.plan.range_begin(block);
  copy_keys<Config, typename T::KTile, Config::kHeadDimQk>(stage, tile.keys, tile.keys.k, pages, key, begin);
  copy_keys<Config, typename T::VTile, Config::kHeadDimV>(stage + T::KTile::kBytes, tile.keys, tile.keys.v, pages, key,
                                                          begin);
  if constexpr (Config::kPageSize > 0) {
    if (next < tile.plan.blocks) pages.find(tile, next);
  }
}

// What a warp carries through the key blocks. The lane addresses of K and V are those of the group's first stage.
template <class Config>
struct WarpState {
  using T = AttnSplit<Config>;
  float o[T::kRowTiles][T::kColsV / 8][4];
  tile::LaneAddress<typename T::QTile> q_lane;
  tile::LaneAddress<typename T::KTile> k_lane;
  tile::LaneAddress<typename T::VTile> v_lane;
};

// silu(x) = t tanh(t) + t with t = x / 2; `half` is alpha / 2.
HSTU_PRIM float silu(float s, float half) {
  const float t = s * half;
  return t * prim::tanh_approx(t) + t;
}

// O += silu(Q K^T) V for kKeys keys from `row` of the stage. kMasked: some row does not see one of them; `key` is the
// first's position, `first_row` that of the warp's rows. Keys before `begin` are none.
template <class Config, int kKeys, bool kMasked>
HSTU_PRIM void add_keys(WarpState<Config>& w, u32 stage_bytes, int row, float half_alpha,
                        const typename Config::Mask& mask, const TileBias<Config>& bias, int first_row, int key,
                        int begin) {
  using T = AttnSplit<Config>;
  using Element = typename Config::Element;
  constexpr int kSteps = kKeys / 16;
  float s[T::kRowTiles][2 * kSteps][4];
  bias.begin(s, first_row, key);
  const auto k_lane = w.k_lane.moved(stage_bytes);
#pragma unroll
  for (int step = 0; step < T::kStepsQk; ++step) {
    u32 a[T::kRowTiles][4];
#pragma unroll
    for (int m = 0; m < T::kRowTiles; ++m) prim::ldmatrix_x4(a[m], w.q_lane.at(step, m * 16));
#pragma unroll
    for (int n = 0; n < kSteps; ++n) {
      u32 b[4];
      prim::ldmatrix_x4(b, k_lane.at(step, row + n * 16));
#pragma unroll
      for (int m = 0; m < T::kRowTiles; ++m) {
        prim::mma_m16n8k16<Element>(s[m][n * 2], a[m], b[0], b[1]);
        prim::mma_m16n8k16<Element>(s[m][n * 2 + 1], a[m], b[2], b[3]);
      }
    }
  }
  const int lane = prim::thread_id() % 32;  // so that the rows' limits are not live across blocks
  const auto v_lane = w.v_lane.moved(stage_bytes);
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    u32 p[T::kRowTiles][4];
#pragma unroll
    for (int m = 0; m < T::kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        u32 seen = 0xffff;
        if constexpr (kMasked) {
          seen = mask.seen_bits(first_row + m * 16 + half * 8 + lane / 4, key + step * 16);
          if constexpr (Config::kBias) seen &= ~variant::bits_below(begin - (key + step * 16));
          seen >>= lane % 4 * 2;
        }
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          // silu(0) = 0; selecting before it also stops what a masked key may hold.
          const float* pair = s[m][step * 2 + n] + half * 2;
          const float s0 = !kMasked || (seen >> n * 8 & 1) ? pair[0] : 0.0f;
          const float s1 = !kMasked || (seen >> n * 8 & 2) ? pair[1] : 0.0f;
          p[m][n * 2 + half] = prim::pack2<Element>(silu(s0, half_alpha), silu(s1, half_alpha));
        }
      }
    }
#pragma unroll
    for (int n = 0; n < T::kColsV / 16; ++n) {
      u32 b[4];
      prim::ldmatrix_x4_trans(b, v_lane.at(n, row + step * 16));
#pragma unroll
      for (int m = 0; m < T::kRowTiles; ++m) {
        prim::mma_m16n8k16<Element>(w.o[m][n * 2], p[m], b[0], b[1]);
        prim::mma_m16n8k16<Element>(w.o[m][n * 2 + 1], p[m], b[2], b[3]);
      }
    }
  }
}

// The key blocks of one group: numbers group, group + kKeyGroups, ... of the plan.
template <class Config>
HSTU_PRIM void attend(const AttnSplitParams& p, WarpState<Config>& w, const TileInfo<Config>& tile, u32 ring,
                      int group) {
  using T = AttnSplit<Config>;
  constexpr int kStages = Config::kStages, kGroups = Config::kKeyGroups;
  const int blocks = tile.plan.blocks;
  const int first_row = tile.first_row + static_cast<int>(prim::warp_id()) % Config::kRowWarps * Config::kRowsPerWarp;
  const int last_row = first_row + Config::kRowsPerWarp;
  const auto& mask = tile.mask;
  const typename Config::Mask::View view(mask, tile.plan, variant::max_int(first_row, tile.begin), last_row);
  const TileBias<Config> bias(p, tile.head);
  int next = group;  // block to copy
  PagePrefetch<Config> pages;
  if constexpr (Config::kPageSize > 0) {
    if (next < blocks) pages.find(tile, next);
  }
#pragma unroll
  for (int stage = 0; stage + 1 < kStages; ++stage, next += kGroups) {
    if (next < blocks) {
      copy_block<Config>(tile, pages, ring + stage * T::kStageBytes, next, next + kGroups);
      bias.prefetch(first_row, tile.plan.key_begin(next));
    }
    prim::cp_async_commit();
  }
  prim::cp_async_wait<kStages - 1>();  // Q is there
  __syncthreads();
  int stage = 0;
#pragma unroll 1
  for (int block = group; block < blocks; block += kGroups, next += kGroups) {
    prim::cp_async_wait<kStages - 2>();
    sync_group<Config>(group);  // all copies of this block have landed, and all have left the stage before it
    const int free_stage = stage == 0 ? kStages - 1 : stage - 1;
    if (next < blocks) {
      copy_block<Config>(tile, pages, ring + free_stage * T::kStageBytes, next, next + kGroups);
      bias.prefetch(first_row, tile.plan.key_begin(next));
    }
    prim::cp_async_commit();
    const u32 stage_bytes = stage * T::kStageBytes;
    const int key = tile.plan.key_begin(block);
    bool all_seen = view.sees_block(block);
    int begin = 0;
    if constexpr (Config::kBias) {  // keys before the range are zeros, which add nothing without a bias only
      begin = tile.plan.range_begin(block);
      all_seen = all_seen && key >= begin;
    }
    if (all_seen) {
#pragma unroll 1
      for (int row = 0; row < T::kBlockN; row += T::kFullKeys)
        add_keys<Config, T::kFullKeys, false>(w, stage_bytes, row, p.half_alpha, mask, bias, first_row, key + row,
                                              begin);
    } else {
#pragma unroll 1
      for (int row = 0; row < T::kBlockN; row += 16)
        if (view.touches(key + row, key + row + 16))
          add_keys<Config, 16, true>(w, stage_bytes, row, p.half_alpha, mask, bias, first_row, key + row, begin);
    }
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
  // compute-sanitizer's racecheck counts a warp's barriers whatever their numbers are: were groups one apart, it would
  // not see that the barriers behind are the same, and report races across them. So all wait equally often.
  if (blocks % kGroups > 0 && group >= blocks % kGroups) sync_group<Config>(group);
  prim::cp_async_wait<0>();
}

// Adds the groups' O into the first group's, over the tiles at `base`.
template <class Config>
HSTU_PRIM void add_groups(WarpState<Config>& w, u32 base, int group) {
  using T = AttnSplit<Config>;
  constexpr int kFragments = T::kRowTiles * T::kColsV / 8;
  const u32 warp = prim::warp_id() % Config::kRowWarps;
#pragma unroll
  for (int groups = Config::kKeyGroups; groups > 1; groups /= 2) {
    const int half = groups / 2, slot = group < half ? group : group - half;
    const u32 place = base + ((slot * Config::kRowWarps + warp) * kFragments * 32 + prim::lane_id()) * 16;
    __syncthreads();  // what lay there has been read
#pragma unroll
    for (int f = 0; f < kFragments; ++f) {
      float(&o)[4] = w.o[f / (T::kColsV / 8)][f % (T::kColsV / 8)];
      if (group >= half && group < groups) {
        prim::st_shared(place + f * 512, prim::Quad{{__float_as_uint(o[0]), __float_as_uint(o[1]),
                                                     __float_as_uint(o[2]), __float_as_uint(o[3])}});
      }
    }
    __syncthreads();
    if (group < half) {
#pragma unroll
      for (int f = 0; f < kFragments; ++f) {
        float(&o)[4] = w.o[f / (T::kColsV / 8)][f % (T::kColsV / 8)];
        const prim::Quad other = prim::ld_shared(place + f * 512);
#pragma unroll
        for (int i = 0; i < 4; ++i) o[i] += __uint_as_float(other.word[i]);
      }
    }
  }
}

// Scales O and stages it in the tile at `base`; each warp of the first group writes its own rows.
template <class Config>
HSTU_PRIM void stage_output(const AttnSplitParams& p, const WarpState<Config>& w, u32 base,
                            const TileInfo<Config>& tile) {
  using T = AttnSplit<Config>;
  const int lane = prim::lane_id(), warp_row = prim::warp_id() * Config::kRowsPerWarp;
#pragma unroll
  for (int m = 0; m < T::kRowTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = warp_row + m * 16 + half * 8 + lane / 4, position = tile.first_row + row;
      float scale = p.scale;
      if constexpr (Config::kAttnScale) {
        const i64 i = tile.row_of_zero + variant::max_int(position, tile.begin);
        scale = p.attn_scale[i * p.attn_scale_stride];
      }
#pragma unroll
      for (int n = 0; n < T::kColsV / 8; ++n) {
        const u32 pair =
            prim::pack2<typename Config::Element>(w.o[m][n][half * 2] * scale, w.o[m][n][half * 2 + 1] * scale);
        // Queries before position 0 see nothing.
        prim::st_shared(base + tile::chunk_offset<typename T::OTile>(row, n) + lane % 4 * 4, position >= 0 ? pair : 0);
      }
    }
  }
}

}  // namespace attn_split_detail

// The whole kernel.
template <class Config>
HSTU_PRIM void attn_split_block(const AttnSplitParams& p) {
  using namespace attn_split_detail;
  using T = AttnSplit<Config>;
  using Element = typename Config::Element;
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& storage = *reinterpret_cast<AttnSplitStorage<Config>*>(shared);
  auto& tile = storage.tile;

  const u32 q_base = prim::smem_addr(storage.tiles);
  const int group = prim::warp_id() / Config::kRowWarps;
  const u32 ring = q_base + T::QTile::kBytes + group * T::kGroupBytes;
  const u32 lane = prim::lane_id(), warp_row = prim::warp_id() % Config::kRowWarps * Config::kRowsPerWarp;
  WarpState<Config> w{{},
                      {q_base, warp_row + lane % 16, lane / 16},
                      {ring, lane % 8 + lane / 16 * 8, lane / 8 % 2},
                      {ring + T::KTile::kBytes, lane % 16, lane / 16}};
  if (threadIdx.x == 0) tile.round = 0;
#pragma unroll 1
  for (;;) {
    if (prim::thread_id() == 0) find_tile<Config>(p, tile);
    __syncthreads();
    if (tile.state == kAbsent) return;
    plan_tile<Config>(tile);

    const i64 row = tile.row_of_zero + tile.first_row;
    const tile::TileStream<typename T::QTile, Config::kHeadDimQk, T::kThreads, Config::kVectorIo, Element> q(
        static_cast<const Element*>(p.q) + row * p.q_row_stride + tile.head * p.q_head_stride, p.q_row_stride);
    q.load(q_base, p.q_row_stride, tile.begin - tile.first_row, true);
    prim::cp_async_commit();
    clear(w.o);
    __syncthreads();  // the plan is there
    attend<Config>(p, w, tile, ring, group);
    add_groups<Config>(w, q_base, group);
    __syncthreads();  // O goes over all tiles
    if (group == 0) stage_output<Config>(p, w, q_base, tile);
    __syncthreads();
    tile::store_tile<typename T::OTile, Config::kHeadDimV, T::kThreads, Config::kVectorIo>(
        q_base, static_cast<Element*>(p.out) + row * p.out_row_stride + tile.head * p.out_head_stride, p.out_row_stride,
        tile.begin - tile.first_row);
    if (tile.state == kLast) return;
    __syncthreads();  // before the tiles and `tile` are written again
    if (prim::thread_id() == 0) ++tile.round;
  }
}

}  // namespace hstu
