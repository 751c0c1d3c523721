// Gradients of HSTU attention for sm_90a: TMA, warpgroup products, warps with roles; one launch, no float atomics,
// every bit the same in every run.
//   P = silu(S), dS2 = 2 silu'(S) dP with S = alpha Q K^T, dP = dO V^T;  dV = P^T dO,  dK = dS^T Q,  dQ = dS K
//
// Persistent blocks take places from a counter that all share. A place is a tile of 128 own rows of a head:
//   key place     keys of k and v: walks the query rows that see them, of all heads that share the head
//   query place   query rows: walks the keys they see
// So S and dP are computed twice, seven products for five, and nothing is added up between blocks. Both are one
// algorithm. Each of two warpgroups owns 64 rows; a third says what comes next, and starts the copies: the own rows
// once a tile, those of the other side through rings of kStages.
//
//   own K, V (or Q, dO)  --TMA--> A, shared memory    walked Q, dO (or K, V)  --TMA--> B    S^T, dP^T (or S, dP)
//   P, dS packed: A, registers                        walked dO, Q (or K), transposed B     dV, dK (or dQ), registers
//
// What runs, and the file behind each line, in attention/sm90/ unless a folder is named:
//   scheduler  for each place of the order, taken from the counter     bwd_load.cuh, bwd_places.cuh
//                describe its tiles of own rows
//   walker     for each tile of own rows                               bwd_load.cuh
//                describe the tiles of the other side that they see
//   loader     copy own rows; for each tile copy q or k, then dout or v
//   consumer   for each tile of own rows                               attn_bwd_sm90.cuh, Consumer::run_tile
//                for each tile of the other side that its rows see
//                  dP of this one beside P and e of its scores         bwd_products.cuh
//                  dV += P^T dO beside dS; dK += dS^T Q beside the next scores
//                dV, dK or dQ with their factors, by way of the own rows' tile, to memory by TMA
//
// Shared memory   kOwnTiles x (own rows of q or k, of dout or v) | ring of q or k | ring of dout or v | barriers,
// places Masks           a warp asks mask/tile_sight.cuh about 32 tiles at once, for each warpgroup; tiles that are
// seen
//                 entirely run without mask arithmetic, warpgroups skip tiles of which they see nothing
// Sources         arXiv:2402.17152 (maths); FlashAttention-3, arXiv:2407.08608 (transposed scores feed from registers)
#pragma once
#include "attention/sm90/bwd_load.cuh"
#include "attention/sm90/bwd_products.cuh"
#include "prim/named_barrier.cuh"
#include "prim/warpgroup.cuh"
#include "tile/warp_boxes.cuh"

namespace hstu {
namespace attn_bwd90 {

// One warpgroup's work: 64 own rows of each tile.
template <class Config>
struct Consumer {
  using T = Shape<Config>;
  using Element = typename Config::Element;
  const AttnBwdSm90Params& p;
  Storage<Config>& storage;
  const u32 base;  // of the tiles
  const int group;
  PipelineState<T::kStages> stage;
  PipelineState<T::kOwnTiles> own_at;

  HSTU_PRIM Ring<Config> qk_ring() const { return Ring<Config>(prim::smem_addr(storage.qk_ring)); }
  HSTU_PRIM Ring<Config> v_ring() const { return Ring<Config>(prim::smem_addr(storage.v_ring)); }
  HSTU_PRIM u32 own_tile() const { return base + own_at.stage * T::kOwnBytes; }
  HSTU_PRIM u32 own_qk() const { return own_tile() + group * 64 * 128; }
  HSTU_PRIM u32 own_v() const { return own_qk() + T::kOwnVAt; }
  HSTU_PRIM u32 walk_qk() const { return base + T::kWalkQkAt + stage.stage * T::kWalkQkBytes; }
  HSTU_PRIM u32 walk_v() const { return base + T::kWalkVAt + stage.stage * T::kWalkVBytes; }
  HSTU_PRIM int warp_row() const { return group * 64 + static_cast<int>(threadIdx.x) % 128 / 32 * 16; }
  // Until all of the warpgroup's warps have come here: one thread releases a stage for all of them.
  HSTU_PRIM void sync() const { prim::named_barrier_sync(8 + group, 128); }

  // Releases a stage that the warpgroup's rows see nothing of.
  HSTU_PRIM void skip_tile() {
    v_ring().wait(stage);
    sync();
    qk_ring().release(stage);
    v_ring().release(stage);
    stage.advance();
  }
  // S of the stage's tile, and dP if it is wanted: a group of products each.
  template <bool kDp>
  HSTU_PRIM void issue(float (&s)[T::kWalk / 2], float (&dp)[T::kWalk / 2]) const {
    prim::warpgroup_fence_operand(s);
    if constexpr (kDp) prim::warpgroup_fence_operand(dp);
    prim::wgmma_fence();
    issue_scores<Element, T::kColsQk / 16, T::kOwn, T::kWalk>(s, own_qk(), walk_qk());
    v_ring().wait(stage);
    if constexpr (kDp) {
      prim::wgmma_fence();
      issue_scores<Element, T::kColsV / 16, T::kOwn, T::kWalk>(dp, own_v(), walk_v());
    }
  }

  // What a silu head's result at this position is multiplied with.
  HSTU_PRIM float scale_at(const OwnTile<Config>& tile, int position) const {
    if constexpr (!Config::kAttnScale) return p.bwd.forward.scale;
    return p.bwd.forward.attn_scale[(tile.row + position) * p.bwd.forward.attn_scale_stride];
  }
  // The factors of the thread's columns, query rows from `walk` on.
  HSTU_PRIM void load_factors(float (&factor)[T::kWalk / 4], const OwnTile<Config>& tile, int walk) const {
#pragma unroll
    for (int i = 0; i < T::kWalk / 4; ++i) {
      const int position = walk + i / 2 * 8 + static_cast<int>(prim::lane_id()) % 4 * 2 + i % 2;
      factor[i] = position < tile.count ? scale_at(tile, position) * p.bwd.weight_up : 0.0f;
    }
  }

  // Writes columns of the warp's rows, by way of its rows of the own tile's panels from `panels` on.
  template <int kCols, class Factor>
  HSTU_PRIM void store(const float (&sums)[kCols / 2], u32 panels, const TensorMap* map, const tile::JaggedBox& rows,
                       int own, int head, const Factor& factor) const {
    const float by[2] = {factor(0), factor(1)};
#pragma unroll
    for (int panel = 0; panel < (kCols + 63) / 64; ++panel) {
      const tile::WarpBoxes<1> box(panels + panel * T::kOwnPanel + warp_row() * 128);
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        if (panel * 4 + n >= kCols / 16) continue;
        const float* x = sums + (panel * 4 + n) * 8;
        const u32 word[4] = {
            prim::pack2<Element>(x[0] * by[0], x[1] * by[0]), prim::pack2<Element>(x[2] * by[1], x[3] * by[1]),
            prim::pack2<Element>(x[4] * by[0], x[5] * by[0]), prim::pack2<Element>(x[6] * by[1], x[7] * by[1])};
        box.write(0, n, word);
      }
      box.template store_line<1>(map, rows, panel * 64, own + warp_row(), head);
    }
  }

  // The sums of the walk over the tile's other side, but for their factors.
  template <bool kKeySide, bool kQk, bool kV, int kCountQk, int kCountV>
  HSTU_PRIM void walk(const OwnTile<Config>& own, float (&qk)[kCountQk], float (&v)[kCountV]) {
    constexpr bool kFactors = kKeySide && T::kFactors, kOverlap = kQk && Config::kOverlap;
    const AttnFwdParams& f = p.bwd.forward;
    PipelineState<T::kStages> before;
    bool holds = false;  // the ring's stage before, of which dK's product may still read
    bool more = !own.is_alone;
#pragma unroll 1
    while (more) {
      stage.stage = prim::uniform(stage.stage);  // so that descriptors are
      stage.parity = prim::uniform(stage.parity);
      qk_ring().wait(stage);
      const WalkTile& tile = storage.walk[stage.stage];
      more = !tile.is_last;
      if ((tile.sight >> group & 1) == 0) {
        if constexpr (kOverlap) {  // else the loader would wait for the stage held, and this warpgroup for the loader
          prim::wgmma_wait<0>();
          prim::warpgroup_fence_operand(qk);
          if (holds) qk_ring().release(before);
          holds = false;
        }
        skip_tile();
        continue;
      }
      const bool full = tile.sight >> (kFullBits + group) & 1;
      const int begin = tile.begin;
      float s[T::kWalk / 2], dp[T::kWalk / 2], factor[T::kWalk / 4];
      u32 w[T::kWalk / 4], weights[T::kWalk / 4];
      issue<kQk>(s, dp);
      if constexpr (kFactors) load_factors(factor, own, begin);
      prim::wgmma_wait<kQk ? 1 : 0>();
      prim::warpgroup_fence_operand(s);
      if constexpr (kOverlap) {
        prim::warpgroup_fence_operand(qk);
        if (holds) qk_ring().release(before);
      }
      if (full) {
        scale_scores(s, f.half_alpha);
      } else {
        typename Config::Mask mask = own.mask;
        if constexpr (kKeySide && variant::heads_per_kv<Config>(0) > 1) variant::move_mask(mask, f, tile.head, own.row);
        mask_scores<kKeySide, T::kWalk>(s, f.half_alpha, mask, own.own + warp_row(), begin);
      }
      find_weights<Element, kV, kFactors>(s, weights, factor);
      if constexpr (kV) {
        prim::warpgroup_fence_operand(v);
        prim::wgmma_fence();
        issue_sums<Element, T::kColsV, T::kWalk>(v, weights, walk_v());
        prim::wgmma_wait<kQk ? 1 : 0>();
      } else {
        prim::wgmma_wait<0>();
      }
      if constexpr (kQk) {
        prim::warpgroup_fence_operand(dp);
        find_slopes<Element, kFactors>(s, dp, w, factor, T::kNarrow ? p.bwd.slope_down : 1.0f);
        prim::warpgroup_fence_operand(qk);
        prim::wgmma_fence();
        issue_sums<Element, T::kColsQk, T::kWalk>(qk, w, walk_qk());
        prim::wgmma_wait<kOverlap ? 1 : 0>();
      }
      if constexpr (kV) prim::warpgroup_fence_operand(v);
      v_ring().release(stage);
      if constexpr (!kOverlap) {
        if constexpr (kQk) prim::warpgroup_fence_operand(qk);
        qk_ring().release(stage);
      }
      before = stage;
      holds = true;
      stage.advance();
    }
    if constexpr (kOverlap) {
      prim::wgmma_wait<0>();
      prim::warpgroup_fence_operand(qk);
      if (holds) qk_ring().release(before);
    }
  }

  template <bool kKeySide, bool kQk, bool kV>
  HSTU_PRIM void run_tile(const OwnTile<Config>& tile) {
    constexpr bool kFactors = kKeySide && T::kFactors;
    float qk[kQk ? T::kColsQk / 2 : 1], v[kV ? T::kColsV / 2 : 1];
    clear(qk), clear(v);
    own_at.stage = prim::uniform(own_at.stage);
    prim::mbarrier_wait(prim::smem_addr(&storage.own_full[own_at.stage]), own_at.parity);
    walk<kKeySide, kQk, kV>(tile, qk, v);
    sync();  // all warps' products have read the own rows

    const AttnFwdParams& f = p.bwd.forward;
    const int head = tile.head, own = tile.own, count = tile.count;
    const tile::JaggedBox box(tile.row, count);
    const float scale = kKeySide && !Config::kRowScale ? scale_at(tile, 0) : 1.0f;
    const float up = T::kNarrow ? p.bwd.slope_up : 1.0f;
    if constexpr (kKeySide) {
      if constexpr (kQk) {
        const float by = f.half_alpha * (kFactors ? p.bwd.weight_down : scale * up);
        store<T::kColsQk>(qk, own_tile(), &p.dk, box, own, head, [&](int) { return by; });
      }
      if constexpr (kV) {
        const float by = kFactors ? p.bwd.weight_down : scale;
        store<T::kColsV>(v, own_tile() + T::kOwnVAt, &p.dv, box, own, head, [&](int) { return by; });
      }
    } else {
      store<T::kColsQk>(qk, own_tile(), &p.dq, box, own, head, [&](int half) {
        const int position = own + warp_row() + half * 8 + static_cast<int>(prim::lane_id()) / 4;
        return f.half_alpha * up * scale_at(tile, position < count ? position : 0);
      });
    }
    tile::WarpBoxes<1>::wait_for_all();
    if (prim::lane_id() == 0) prim::mbarrier_arrive(prim::smem_addr(&storage.own_empty[own_at.stage]));
    own_at.advance();
  }

  HSTU_PRIM void run() {
    PipelineState<kOwnSlots> slot;
#pragma unroll 1
    for (;; slot.advance()) {
      prim::mbarrier_wait(prim::smem_addr(&storage.slot_full[slot.stage]), slot.parity);
      const OwnTile<Config>& tile = storage.own[slot.stage];
      const Kind kind = tile.kind;
      if (kind == kEnd) break;
      if (kind == kQueries) {
        if constexpr (Config::kHasDq) run_tile<false, true, false>(tile);
      } else if (kind == kKeys) {
        if constexpr (Config::kHasDk)
          run_tile<true, true, Config::kHasDv && !Config::kApart>(tile);
        else if constexpr (Config::kHasDv)
          run_tile<true, false, true>(tile);
      } else {
        if constexpr (Config::kHasDk && Config::kHasDv && Config::kApart) run_tile<true, false, true>(tile);
      }
      prim::mbarrier_arrive(prim::smem_addr(&storage.slot_empty[slot.stage]));
    }
  }
};

}  // namespace attn_bwd90

template <class Config>
constexpr int attn_bwd_sm90_smem_bytes = attn_bwd90::smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(attn_bwd90::Shape<Config>::kThreads, 1)
    attn_bwd_sm90(const __grid_constant__ AttnBwdSm90Params p) {
  using namespace attn_bwd90;
  using T = Shape<Config>;
  extern __shared__ __align__(1024) unsigned char smem[];
  static_assert(sizeof(Storage<Config>) <= attn_bwd90::smem_bytes<Config>, "attn_bwd90::kExtraBytes");
  auto& storage = *reinterpret_cast<Storage<Config>*>(smem);
  const u32 base = prim::smem_addr(storage.tiles);
  if (threadIdx.x == 0) {
    init(storage);
    prim::tma_prefetch_map(&p.q);
    prim::tma_prefetch_map(&p.k);
    prim::tma_prefetch_map(&p.v);
    prim::tma_prefetch_map(&p.dout);
  }
  __syncthreads();
  const int group = prim::warp_id() / 4;
  if (group == T::kConsumers) {
    prim::warpgroup_reg_dealloc<T::kProducerRegisters>();
    const int role = threadIdx.x - T::kConsumers * 128;
    if (role == 0) Loader<Config>{p, storage, base, {}}.run();
    if (role == 32) Scheduler<Config>{p.bwd, storage, {}}.run();
    if (role / 32 == 2) Walker<Config>{p.bwd.forward, storage, {}}.run();
  } else {
    prim::warpgroup_reg_alloc<T::kConsumerRegisters>();
    Consumer<Config>{p, storage, base, group, {}, {}}.run();
  }
}

}  // namespace hstu
