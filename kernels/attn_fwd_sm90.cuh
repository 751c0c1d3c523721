// Forward HSTU attention for sm_90a: TMA, warpgroup products, warps with roles.
//   O_i = scale * sum over allowed keys j of silu(alpha q_i . k_j) v_j
//
// A persistent block of threads per SM works on tiles of kBlockM = 64 kConsumers query rows of a (sequence, head),
// taken from a counter that all share. Each of kConsumers warpgroups owns 64 rows and keeps their O in registers; one
// more holds a thread that takes and describes the tiles, a step ahead, and one that starts the copies: Q once a tile,
// K and V block by block through rings of kStages.
//
//   loader     Q, K, V --TMA, jagged rows clipped--> smem (128-byte swizzle)
//   consumer   S = Q K^T (wgmma), P = silu(S) in registers, O += P V (wgmma, P as its register operand)
//
// Blocks that every row sees run without mask arithmetic: S of the next block and O += P V of this one are issued
// together, and P of the next is made while the other warpgroups' products run. The blocks with a mask come first, in
// chunks that a warpgroup skips when none of its rows sees them; so the groups come out of step, as they should be.
// What limits long sequences is power: the tensor cores are busy 97 % of the time, at 1.6 GHz. Q in registers (less
// shared memory is read) is worth 3 %. Measured slower: one loop over masked and full blocks that overlaps tiles
// (-6 %; of a window's blocks -3 to -11 %), barriers that make groups take turns (-8 %), a copying thread each for K,
// V.
//
// Shared memory   Q | K ring | V ring | 64 columns of O | barriers, tile descriptions
// Order           tiles of section_pairs (sequence, head) pairs, whose K and V share the L2 cache; in them from the
//                 longest rows down
// Sources         arXiv:2402.17152 (maths); FlashAttention-3, arXiv:2407.08608 (products beside special functions)
#pragma once
#include "params/attn_fwd_sm90.h"
#include "prim/lanes.cuh"
#include "prim/math.cuh"
#include "prim/mbarrier.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"
#include "prim/named_barrier.cuh"
#include "prim/proxy.cuh"
#include "prim/stmatrix.cuh"
#include "prim/warpgroup.cuh"
#include "prim/wgmma.cuh"
#include "tile/jagged_map.cuh"
#include "tile/tile_counter.cuh"
#include "tile/tma_ring.cuh"
#include "variant/hstu_mask.cuh"
#include "variant/row_tiles.cuh"

namespace hstu {

// Problem facts in Config: Element, Offset, Target, kHeadDimQk, kHeadDimV, kAttnScale and those of the mask.
// Knobs: kConsumers, kBlockN, kStages, kQSteps (k16 steps of Q that stay in registers).
template <class Config>
struct AttnFwdSm90 {
  static constexpr int kConsumers = Config::kConsumers;
  static constexpr int kThreads = 128 * (kConsumers + 1);
  static constexpr int kBlockM = 64 * kConsumers, kBlockN = Config::kBlockN;
  static constexpr int kPanelsQk = (Config::kHeadDimQk + 63) / 64, kPanelsV = (Config::kHeadDimV + 63) / 64;
  static constexpr int kStepsQk = (Config::kHeadDimQk + 15) / 16;
  static constexpr int kColsV = (Config::kHeadDimV + 15) / 16 * 16;
  static constexpr int kMaskedChunkN = kBlockN % 64 == 0 ? 64 : kBlockN % 48 == 0 ? 48 : kBlockN;
  static constexpr int kQSteps = Config::kQSteps < kStepsQk ? Config::kQSteps : kStepsQk;
  static constexpr int kQWords = kQSteps > 0 ? kQSteps : 1;
  // Panels are 64 columns wide, a row of them 128 bytes.
  static constexpr int kQBytes = kPanelsQk * kBlockM * 128;
  static constexpr int kKBytes = kPanelsQk * kBlockN * 128, kVBytes = kPanelsV * kBlockN * 128;
  static constexpr int kOBytes = kBlockM * 128;
  static constexpr int kKOffset = kQBytes;
  static constexpr int kVOffset = kKOffset + Config::kStages * kKBytes;
  static constexpr int kOOffset = kVOffset + Config::kStages * kVBytes;
  static constexpr int kTileBytes = kOOffset + kOBytes;
  // Registers a thread once the roles are known; together no more than the launch reserves.
  static constexpr int kProducerRegisters = kConsumers == 3 ? 56 : 40;
  static constexpr int kConsumerRegisters = kConsumers == 3 ? 152 : 232;
  static_assert(kBlockN % 16 == 0, "a key block is whole k16 steps of P V");
};

namespace attn_fwd_sm90_detail {

// Of the tile under way and the next: more would leave other blocks of threads without work at the end.
inline constexpr int kTileSlots = 2;

template <class Config>
struct TileInfo {
  typename variant::HstuMask<Config> mask;
  variant::RowTilePlan<Config> plan;
  i64 start;  // row of the sequence's position 0
  int head;
  int first_row;  // -1: there is no further tile
};

}  // namespace attn_fwd_sm90_detail

template <class Config>
struct AttnFwdSm90Storage {
  alignas(1024) unsigned char tiles[AttnFwdSm90<Config>::kTileBytes];
  u64 tile_full[attn_fwd_sm90_detail::kTileSlots], tile_empty[attn_fwd_sm90_detail::kTileSlots];
  u64 q_full, q_empty;
  u64 k_ring[2 * Config::kStages], v_ring[2 * Config::kStages];
  attn_fwd_sm90_detail::TileInfo<Config> tile[attn_fwd_sm90_detail::kTileSlots];
};
// The room behind the tiles; a round number, so that the host can say the sum.
inline constexpr int kAttnFwdSm90ExtraBytes = 1024;
template <class Config>
constexpr int attn_fwd_sm90_smem_bytes = AttnFwdSm90<Config>::kTileBytes + kAttnFwdSm90ExtraBytes;

namespace attn_fwd_sm90_detail {

using tile::RingPlace;
template <class Config>
using KeyRing = tile::TmaRing<Config::kStages, Config::kConsumers>;

// A place in the order of tiles: `pairs` (sequence, head) pairs of row_blocks tiles each, some of them behind the end
// of their sequence. Its loads are under way when it is made.
template <class Config>
struct TilePlace {
  using T = AttnFwdSm90<Config>;
  int head, first_row;
  i64 start;
  variant::HstuMask<Config> mask;

  HSTU_PRIM TilePlace(const AttnFwdParams& p, u32 index) {
    const u32 pairs = p.batch * p.num_heads, section_tiles = p.section_pairs * p.row_blocks;
    const u32 section = index / section_tiles, in_section = index - section * section_tiles;
    const u32 first_pair = section * p.section_pairs;
    const u32 section_pairs = variant::min_int(p.section_pairs, pairs - first_pair);
    const int level = in_section / section_pairs;
    const u32 pair = first_pair + (in_section - level * section_pairs), seq = pair / p.num_heads;
    const auto* offsets = static_cast<const typename Config::Offset*>(p.seq_offsets);
    start = offsets[seq];
    mask = variant::HstuMask<Config>(p, seq, static_cast<int>(offsets[seq + 1] - start));
    head = pair - seq * p.num_heads;
    // Contextual rows see all of the history: their tile is among the longest.
    const int row_tile = Config::kContextual ? (level == 0 ? 0 : p.row_blocks - level) : p.row_blocks - 1 - level;
    first_row = row_tile * T::kBlockM;
  }
};

// Describes the tiles of this block of threads one after the other, ahead of those who work on them: one thread.
template <class Config>
HSTU_PRIM void schedule(const AttnFwdParams& p, AttnFwdSm90Storage<Config>& storage) {
  using T = AttnFwdSm90<Config>;
  const u32 count = static_cast<u32>(p.batch * p.num_heads) * p.row_blocks;
  RingPlace<kTileSlots> place;
  tile::TileTaker tiles;
  bool claimed = false;
  u32 next = 0;
#pragma unroll 1
  for (TilePlace<Config> at(p, blockIdx.x);; at = TilePlace<Config>(p, next), next = tiles.take()) {
    // More than one round for sequences longer than the grid foresaw.
#pragma unroll 1
    for (; at.first_row < at.mask.length; at.first_row += p.row_blocks * T::kBlockM) {
      const int last_row = variant::min_int(at.first_row + T::kBlockM, at.mask.length);
      const variant::RowTilePlan<Config> plan(at.mask, at.first_row, last_row);
      prim::mbarrier_wait(prim::smem_addr(&storage.tile_empty[place.stage]), place.parity ^ 1);
      auto& tile = storage.tile[place.stage];
      tile.mask = at.mask;
      tile.plan = plan;
      tile.start = at.start;
      tile.head = at.head;
      tile.first_row = at.first_row;
      prim::mbarrier_arrive(prim::smem_addr(&storage.tile_full[place.stage]));
      place.advance();
    }
    if (!claimed) {  // only now, for the first tile needs no counter
      claimed = true;
      tiles.claim();
      next = tiles.take();
    }
    if (next >= count) break;
  }
  tiles.leave();
  prim::mbarrier_wait(prim::smem_addr(&storage.tile_empty[place.stage]), place.parity ^ 1);
  storage.tile[place.stage].first_row = -1;
  prim::mbarrier_arrive(prim::smem_addr(&storage.tile_full[place.stage]));
}

// Loads what the tiles need: one thread.
template <class Config>
HSTU_PRIM void load(const AttnFwdSm90Params& p, AttnFwdSm90Storage<Config>& storage, u32 base) {
  using T = AttnFwdSm90<Config>;
  const KeyRing<Config> k_ring(prim::smem_addr(storage.k_ring)), v_ring(prim::smem_addr(storage.v_ring));
  RingPlace<Config::kStages> place;
  RingPlace<kTileSlots> tile_place;
  const u32 q_full = prim::smem_addr(&storage.q_full);
  u32 q_parity = 0;
#pragma unroll 1
  for (;; tile_place.advance(), q_parity ^= 1) {
    prim::mbarrier_wait(prim::smem_addr(&storage.tile_full[tile_place.stage]), tile_place.parity);
    const auto& tile = storage.tile[tile_place.stage];
    if (tile.first_row < 0) return;
    const auto plan = tile.plan;
    const i64 start = tile.start;
    const int length = tile.mask.length;
    const tile::JaggedBox box(start, length);
    const int head = tile.head;
    prim::mbarrier_wait(prim::smem_addr(&storage.q_empty), q_parity ^ 1);
    prim::mbarrier_arrive_expect_tx(q_full, T::kQBytes);
#pragma unroll
    for (int panel = 0; panel < T::kPanelsQk; ++panel)
      box.load(base + panel * T::kBlockM * 128, &p.q, q_full, panel * 64, tile.first_row, head);
    prim::mbarrier_arrive(prim::smem_addr(&storage.tile_empty[tile_place.stage]));
#pragma unroll 1
    for (int block = 0; block < plan.blocks; ++block) {
      const int key = plan.key_begin(block);
      const tile::JaggedBox keys(start, Config::kHasTargets && block >= plan.partial ? plan.full_end : length);
      const u32 k_full = k_ring.acquire(place, T::kKBytes), k_stage = base + T::kKOffset + place.stage * T::kKBytes;
#pragma unroll
      for (int panel = 0; panel < T::kPanelsQk; ++panel)
        keys.load(k_stage + panel * T::kBlockN * 128, &p.k, k_full, panel * 64, key, head);
      const u32 v_full = v_ring.acquire(place, T::kVBytes), v_stage = base + T::kVOffset + place.stage * T::kVBytes;
#pragma unroll
      for (int panel = 0; panel < T::kPanelsV; ++panel)
        keys.load(v_stage + panel * T::kBlockN * 128, &p.v, v_full, panel * 64, key, head);
      place.advance();
    }
  }
}

// One warpgroup's work: 64 rows of each tile.
template <class Config>
struct Consumer {
  using T = AttnFwdSm90<Config>;
  using Element = typename Config::Element;
  using Ring = RingPlace<Config::kStages>;
  static constexpr int kBlockN = T::kBlockN, kChunkN = T::kMaskedChunkN;
  // A warpgroup's chunk of the upper range is its own 64 rows, of which each sees itself.
  static constexpr bool kOwnRows = Config::kHasTargets && !Config::kTargetGroups && kChunkN == 64;

  AttnFwdSm90Storage<Config>& storage;
  u32 base;   // shared address of the tiles
  int group;  // the warpgroup's number
  Ring place;

  HSTU_PRIM KeyRing<Config> k_ring() const { return KeyRing<Config>(prim::smem_addr(storage.k_ring)); }
  HSTU_PRIM KeyRing<Config> v_ring() const { return KeyRing<Config>(prim::smem_addr(storage.v_ring)); }
  HSTU_PRIM static void release(u64* barrier) {
    if (prim::lane_id() == 0) prim::mbarrier_arrive(prim::smem_addr(barrier));
  }
  HSTU_PRIM static void wait(u64* barrier, u32 parity) { prim::mbarrier_wait(prim::smem_addr(barrier), parity); }

  // Where ldmatrix finds 16 columns of a warp's 16 rows in panels of kRows rows; `rows`: the warpgroup's first.
  template <int kRows>
  HSTU_PRIM static u32 fragment(u32 rows, int step) {
    const u32 lane = prim::lane_id(), row = threadIdx.x % 128 / 32 * 16 + lane % 16;
    return rows + step / 4 * kRows * 128 + row * 128 + (((step % 4 * 2 + lane / 16) ^ (row & 7)) << 4);
  }

  HSTU_PRIM void load_q(u32 (&q)[T::kQWords][4]) const {
#pragma unroll
    for (int step = 0; step < T::kQSteps; ++step)
      prim::ldmatrix_x4(q[step], fragment<T::kBlockM>(base + group * 64 * 128, step));
    if constexpr (T::kQSteps == T::kStepsQk) release(&storage.q_empty);
  }

  // S = Q K^T for kKeys keys from `row` of the stage on; one group of products.
  template <int kKeys>
  HSTU_PRIM void issue_qk(float (&s)[kKeys / 2], const u32 (&q)[T::kQWords][4], u32 stage, int row) const {
    const u64 k =
        prim::smem_descriptor(base + T::kKOffset + stage * T::kKBytes + row * 128, 16, 1024, prim::kSwizzle128);
    const u64 a = prim::smem_descriptor(base + group * 64 * 128, 16, 1024, prim::kSwizzle128);
#pragma unroll
    for (int step = 0; step < T::kStepsQk; ++step) {
      const u64 b = prim::advance_descriptor(k, step / 4 * kBlockN * 128 + step % 4 * 32);
      if (step < T::kQSteps) {
        const u32(&w)[4] = q[step < T::kQSteps ? step : 0];
        prim::Wgmma<kKeys>::template rs<Element, Element>(s, w[0], w[1], w[2], w[3], b, step > 0);
      } else {
        prim::Wgmma<kKeys>::template ss<Element, Element>(
            s, prim::advance_descriptor(a, step / 4 * T::kBlockM * 128 + step % 4 * 32), b, step > 0);
      }
    }
    prim::wgmma_commit();
  }

  // O += P V for kKeys keys from `row` of the stage on; one group of products.
  template <int kKeys>
  HSTU_PRIM void issue_pv(float (&o)[T::kColsV / 2], const u32 (&w)[kKeys / 4], u32 stage, int row) const {
    const u64 v = prim::smem_descriptor(base + T::kVOffset + stage * T::kVBytes + row * 128, kBlockN * 128, 1024,
                                        prim::kSwizzle128);
#pragma unroll
    for (int step = 0; step < kKeys / 16; ++step)
      prim::Wgmma<T::kColsV>::template rs<Element, Element, 1>(o, w[step * 4], w[step * 4 + 1], w[step * 4 + 2],
                                                               w[step * 4 + 3],
                                                               prim::advance_descriptor(v, step * 2048), 1);
    prim::wgmma_commit();
  }

  // S -> P in place: silu(x) = t tanh(t) + t with t = x / 2.
  template <int kCount>
  HSTU_PRIM static void weigh(const AttnFwdParams& p, float (&s)[kCount]) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const float t = s[i] * p.half_alpha;
      s[i] = t * prim::tanh_approx(t) + t;
    }
  }
  template <int kCount>
  HSTU_PRIM static void pack(const float (&s)[kCount], u32 (&w)[kCount / 2]) {
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i) w[i] = prim::pack2<Element>(s[2 * i], s[2 * i + 1]);
  }

  // Zeros for the keys from `key` on that the thread's rows, `row` and the eighth behind it, do not see.
  HSTU_PRIM static void apply_mask(float (&s)[kChunkN / 2], const variant::HstuMask<Config>& mask, int row, int key) {
    const int lane = prim::lane_id();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int word = 0; word < (kChunkN + 31) / 32; ++word) {
        const u32 seen = mask.seen_bits(row + half * 8, key + word * 32) >> (lane % 4 * 2);
#pragma unroll
        for (int n = word * 4; n < (word + 1) * 4 && n < kChunkN / 8; ++n) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            float& x = s[n * 4 + half * 2 + e];
            x = seen & (1u << (n % 4 * 8 + e)) ? x : 0.0f;
          }
        }
      }
    }
  }

  // O += silu(q_i . k_i) v_i for targets, which see no other target: the warpgroup's own rows, from row `at` of the
  // stage on, as ldmatrix has them, in the places of the accumulators. Tensor cores would make 64 scores a row for one.
  HSTU_PRIM void own_rows(const AttnFwdParams& p, float (&o)[T::kColsV / 2], const u32 (&q)[T::kQWords][4], u32 stage,
                          int at) const {
    const u32 k_rows = base + T::kKOffset + stage * T::kKBytes + at * 128;
    const u32 v_rows = base + T::kVOffset + stage * T::kVBytes + at * 128;
    float score[2] = {0.0f, 0.0f};
#pragma unroll
    for (int step = 0; step < T::kStepsQk; ++step) {
      u32 own[4], k[4];
      if (step >= T::kQSteps) prim::ldmatrix_x4(own, fragment<T::kBlockM>(base + group * 64 * 128, step));
      prim::ldmatrix_x4(k, fragment<kBlockN>(k_rows, step));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const u32 word = step < T::kQSteps ? q[step < T::kQSteps ? step : 0][i] : own[i];
        score[i % 2] += prim::unpack_lo<Element>(word) * prim::unpack_lo<Element>(k[i]);
        score[i % 2] += prim::unpack_hi<Element>(word) * prim::unpack_hi<Element>(k[i]);
      }
    }
#pragma unroll
    for (float& s : score) s = prim::lane_sum<4>(s);
    weigh(p, score);
    const u32 rounded = prim::pack2<Element>(score[0], score[1]);
    const float weight[2] = {prim::unpack_lo<Element>(rounded), prim::unpack_hi<Element>(rounded)};
#pragma unroll
    for (int step = 0; step < T::kColsV / 16; ++step) {
      u32 v[4];
      prim::ldmatrix_x4(v, fragment<kBlockN>(v_rows, step));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        o[step * 8 + i * 2] += weight[i % 2] * prim::unpack_lo<Element>(v[i]);
        o[step * 8 + i * 2 + 1] += weight[i % 2] * prim::unpack_hi<Element>(v[i]);
      }
    }
    prim::named_barrier_sync(1 + group, 128);  // all warps have read what one thread releases
  }

  // A block that some row of the tile does not see wholly, chunk by chunk.
  HSTU_PRIM void masked_block(const AttnFwdParams& p, const TileInfo<Config>& tile,
                              const variant::RowsView<Config>& view, float (&o)[T::kColsV / 2],
                              const u32 (&q)[T::kQWords][4], int block) {
    const int key_begin = tile.plan.key_begin(block);
    const int row = tile.first_row + group * 64 + threadIdx.x % 128 / 32 * 16 + prim::lane_id() / 4;
    k_ring().wait(place);
    v_ring().wait(place);
#pragma unroll 1
    for (int at = 0; at < kBlockN; at += kChunkN) {
      const int key = key_begin + at;
      if (!view.touches(key, key + kChunkN)) continue;
      if (kOwnRows && tile.plan.targets) {
        own_rows(p, o, q, place.stage, at);
        continue;
      }
      float s[kChunkN / 2];
      u32 w[kChunkN / 4];
      prim::wgmma_keep(s);
      prim::wgmma_fence();
      issue_qk<kChunkN>(s, q, place.stage, at);
      prim::wgmma_wait<0>();
      prim::wgmma_keep(s);
      if (!view.sees_all(key, key + kChunkN)) apply_mask(s, tile.mask, row, key);
      weigh(p, s);
      pack(s, w);
      prim::wgmma_keep(o);
      prim::wgmma_fence();
      issue_pv<kChunkN>(o, w, place.stage, at);
      prim::wgmma_wait<0>();
      prim::wgmma_keep(o);
    }
    k_ring().release(place);
    v_ring().release(place);
    place.advance();
  }

  // `count` blocks that every row sees wholly, at least one: products of a block run beside the weights of the next.
  HSTU_PRIM void full_blocks(const AttnFwdParams& p, float (&o)[T::kColsV / 2], const u32 (&q)[T::kQWords][4],
                             int count) {
    float s[kBlockN / 2];
    u32 w[kBlockN / 4];
    k_ring().wait(place);
    prim::wgmma_keep(s);
    prim::wgmma_fence();
    issue_qk<kBlockN>(s, q, place.stage, 0);
    prim::wgmma_wait<0>();
    prim::wgmma_keep(s);
    k_ring().release(place);
    weigh(p, s);
    pack(s, w);
#pragma unroll 1
    for (int block = 1; block < count; ++block) {
      const Ring before = place;
      place.advance();
      k_ring().wait(place);
      prim::wgmma_keep(s);
      prim::wgmma_keep(o);
      prim::wgmma_fence();
      issue_qk<kBlockN>(s, q, place.stage, 0);
      v_ring().wait(before);
      issue_pv<kBlockN>(o, w, before.stage, 0);
      prim::wgmma_wait<1>();
      prim::wgmma_keep(s);
      k_ring().release(place);
      weigh(p, s);
      prim::wgmma_wait<0>();
      prim::wgmma_keep(o);
      v_ring().release(before);
      pack(s, w);
    }
    v_ring().wait(place);
    prim::wgmma_keep(o);
    prim::wgmma_fence();
    issue_pv<kBlockN>(o, w, place.stage, 0);
    prim::wgmma_wait<0>();
    prim::wgmma_keep(o);
    v_ring().release(place);
    place.advance();
  }

  // Scales O and writes the rows of `tile` that exist; a warp stages its own 16, 64 columns at a time.
  HSTU_PRIM void store_output(const AttnFwdParams& p, const TileInfo<Config>& tile, float (&o)[T::kColsV / 2]) const {
    const int lane = prim::lane_id(), warp_row = group * 64 + threadIdx.x % 128 / 32 * 16;
    const i64 start = tile.start;
    const int first = tile.first_row, length = tile.mask.length;
    const u32 staging = base + T::kOOffset;
    float scale[2] = {p.scale, p.scale};
    if constexpr (Config::kAttnScale) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int position = first + warp_row + half * 8 + lane / 4;
        const i64 row = start + (position < length ? position : 0);
        scale[half] = __uint_as_float(prim::ld_global4(p.attn_scale + row * p.attn_scale_stride));
      }
    }
    auto* out = static_cast<Element*>(p.out) + (start + first) * p.out_row_stride + tile.head * p.out_head_stride;
#pragma unroll
    for (int panel = 0; panel < T::kPanelsV; ++panel) {
      __syncwarp();  // what was staged before has been read
#pragma unroll
      for (int n = 0; n < 4 && panel * 4 + n < T::kColsV / 16; ++n) {
        const float* x = o + (panel * 4 + n) * 8;
        const u32 row = warp_row + lane % 16, chunk = (n * 2 + lane / 16) ^ (row & 7);
        prim::stmatrix_x4(staging + row * 128 + chunk * 16, prim::pack2<Element>(x[0] * scale[0], x[1] * scale[0]),
                          prim::pack2<Element>(x[2] * scale[1], x[3] * scale[1]),
                          prim::pack2<Element>(x[4] * scale[0], x[5] * scale[0]),
                          prim::pack2<Element>(x[6] * scale[1], x[7] * scale[1]));
      }
      __syncwarp();
      constexpr int kChunks = 8;  // of 16 bytes in a row of the panel
#pragma unroll
      for (int i = 0; i < 16 * kChunks / 32; ++i) {
        const int row = warp_row + i * 4 + lane / kChunks, column = lane % kChunks;
        if (first + row < length && panel * kChunks + column < Config::kHeadDimV / 8)
          prim::st_global(out + row * p.out_row_stride + (panel * kChunks + column) * 8,
                          prim::ld_shared(staging + row * 128 + (column ^ (row & 7)) * 16));
      }
    }
  }

  HSTU_PRIM void run(const AttnFwdParams& p) {
    RingPlace<kTileSlots> tile_place;
    u32 q_parity = 0;
#pragma unroll 1
    for (;; tile_place.advance(), q_parity ^= 1) {
      const auto& tile = storage.tile[tile_place.stage];
      wait(&storage.tile_full[tile_place.stage], tile_place.parity);
      const int first_row = tile.first_row;
      if (first_row < 0) return;
      wait(&storage.q_full, q_parity);
      u32 q[T::kQWords][4];
      load_q(q);
      float o[T::kColsV / 2];
#pragma unroll
      for (int i = 0; i < T::kColsV / 2; ++i) o[i] = 0.0f;
      const int partial = tile.plan.partial, full = tile.plan.blocks - partial, row = first_row + group * 64;
      const variant::RowsView<Config> view(tile.mask, row, variant::min_int(row + 64, tile.mask.length));
#pragma unroll 1
      for (int block = 0; block < partial; ++block) masked_block(p, tile, view, o, q, block);
      if (full > 0) full_blocks(p, o, q, full);
      if constexpr (T::kQSteps < T::kStepsQk) release(&storage.q_empty);
      store_output(p, tile, o);
      release(&storage.tile_empty[tile_place.stage]);
    }
  }
};

template <class Config>
HSTU_PRIM void init(AttnFwdSm90Storage<Config>& storage) {
  constexpr int kConsumerWarps = Config::kConsumers * 4;
  for (int i = 0; i < kTileSlots; ++i) {
    prim::mbarrier_init(prim::smem_addr(&storage.tile_full[i]), 1);
    prim::mbarrier_init(prim::smem_addr(&storage.tile_empty[i]), kConsumerWarps + 1);
  }
  prim::mbarrier_init(prim::smem_addr(&storage.q_full), 1);
  prim::mbarrier_init(prim::smem_addr(&storage.q_empty), kConsumerWarps);
  KeyRing<Config>(prim::smem_addr(storage.k_ring)).init();
  KeyRing<Config>(prim::smem_addr(storage.v_ring)).init();
  prim::mbarrier_fence_init();
}

}  // namespace attn_fwd_sm90_detail

template <class Config>
__global__ void __launch_bounds__(AttnFwdSm90<Config>::kThreads, 1)
    attn_fwd_sm90(const __grid_constant__ AttnFwdSm90Params p) {
  using T = AttnFwdSm90<Config>;
  extern __shared__ __align__(1024) unsigned char shared[];
  static_assert(sizeof(AttnFwdSm90Storage<Config>) <= attn_fwd_sm90_smem_bytes<Config>, "kAttnFwdSm90ExtraBytes");
  auto& storage = *reinterpret_cast<AttnFwdSm90Storage<Config>*>(shared);
  const u32 base = prim::smem_addr(storage.tiles);
  if (threadIdx.x == 0) {
    attn_fwd_sm90_detail::init(storage);
    prim::tma_prefetch_map(&p.q);
    prim::tma_prefetch_map(&p.k);
    prim::tma_prefetch_map(&p.v);
  }
  __syncthreads();
  const int group = prim::warp_id() / 4;
  if (group == T::kConsumers) {
    prim::lower_registers<T::kProducerRegisters>();
    const int role = threadIdx.x - T::kConsumers * 128;
    if (role == 0) attn_fwd_sm90_detail::load<Config>(p, storage, base);
    if (role == 32) attn_fwd_sm90_detail::schedule<Config>(p.attn, storage);
  } else {
    prim::raise_registers<T::kConsumerRegisters>();
    attn_fwd_sm90_detail::Consumer<Config>{storage, base, group, {}}.run(p.attn);
  }
}

}  // namespace hstu
