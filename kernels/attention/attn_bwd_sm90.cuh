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
//                for each tile of the other side that its rows see, in one step, or of keys in kKeyParts: step()
//                  P and slopes of S beside dK's product of the step before      bwd_products.cuh
//                  dS of dP and slopes beside dV += P^T dO
//                  S of the next step, then dK += dS^T Q
//                dV, dK or dQ with their factors, by way of the own rows' tile, to memory by TMA
//
// Registers       keys have two sums, 128 registers at 128 columns: they take half of a tile a step, in which what
//                 becomes of S takes S's registers: words of P, and of slopes in f16
// Shared memory   kOwnTiles x (own rows of q or k, of dout or v) | ring of q or k | ring of dout or v | barriers,
// places Masks           a warp asks mask/tile_sight.cuh about 32 tiles at once, for each warpgroup; tiles that are
// seen
//                 entirely run without mask arithmetic, warpgroups skip tiles of which they see nothing
// Sources         arXiv:2402.17152 (maths); FlashAttention-3, arXiv:2407.08608 (transposed scores feed from registers)
#pragma once
#include "attention/sm90/bwd_load.cuh"
#include "attention/sm90/bwd_products.cuh"
#include "prim/named_barrier.cuh"
#include "prim/operand_words.cuh"
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
  HSTU_PRIM u32 walk_qk(const PipelineState<T::kStages>& at) const {
    return base + T::kWalkQkAt + at.stage * T::kWalkQkBytes;
  }
  HSTU_PRIM u32 walk_v(const PipelineState<T::kStages>& at) const {
    return base + T::kWalkVAt + at.stage * T::kWalkVBytes;
  }
  HSTU_PRIM int warp_row() const { return group * 64 + static_cast<int>(threadIdx.x) % 128 / 32 * 16; }
  // Until all of the warpgroup's warps have come here: one thread releases a stage for all of them.
  HSTU_PRIM void sync() const { prim::named_barrier_sync(8 + group, 128); }

  // Waits for the stage's tile. Whether the warpgroup's rows see something of it.
  HSTU_PRIM bool sees_tile() const {
    qk_ring().wait(stage);
    return storage.walk[stage.stage].sight >> group & 1;
  }
  // Goes on to a tile of which they do, and lets go of those before it. False: there is none, or no more at all.
  HSTU_PRIM bool seek(bool& more) {
    while (more && !sees_tile()) {
      more = !storage.walk[stage.stage].is_last;
      v_ring().wait(stage);
      sync();
      qk_ring().release(stage);
      v_ring().release(stage);
      stage.advance();
    }
    return more;
  }
  // The compiler is to know that all of the warp are at the stage, so that descriptors are uniform.
  HSTU_PRIM void settle_stage() {
    stage.stage = prim::uniform(stage.stage);
    stage.parity = prim::uniform(stage.parity);
  }

  // What a silu head's result at this position is multiplied with.
  HSTU_PRIM float scale_at(const OwnTile<Config>& tile, int position) const {
    if constexpr (!Config::kAttnScale) return p.bwd.forward.scale;
    return p.bwd.forward.attn_scale[(tile.row + position) * p.bwd.forward.attn_scale_stride];
  }
  // The factors of the thread's columns, query rows from `walk` on.
  template <int kCount>
  HSTU_PRIM void load_factors(float (&factor)[kCount], const OwnTile<Config>& tile, int walk) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
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

  // A step's S as a group of products.
  template <int kStep>
  HSTU_PRIM void issue_s(float (&s)[kStep / 2], u32 walked) const {
    prim::warpgroup_fence_operand(s);
    prim::wgmma_fence();
    issue_scores<Element, T::kColsQk / 16, T::kOwn, T::kWalk, kStep>(s, own_qk(), walked);
  }
  // Waits for the last product of a step, dK's or dQ's, which reads `words` and the rows of `stage`.
  template <int kWords, int kCount>
  HSTU_PRIM void finish_last(u32 (&words)[kWords], float (&sums)[kCount]) const {
    prim::wgmma_wait<0>();
    prim::hold_operand_words(words, base);
    prim::warpgroup_fence_operand(sums);
  }

  // What a walk knows of where it is: the tile of `stage`, of which S of a part is there, and the one before it.
  struct Walk {
    bool more, ready, holds;  // tiles follow; S of the next one is there; dK's product under way reads `before`
    PipelineState<T::kStages> before;
  };

  // One step, a part of a tile: from its S to the next part's, which takes the place of dP. Each product runs beside
  // the arithmetic of another: dK's of the step before beside P, dV's beside dS, and the next S before dK's.
  template <class Side, int kPart>
  HSTU_PRIM void step(const OwnTile<Config>& own, Walk& at, float (&s)[Side::kStep / 2], float (&next)[Side::kStep / 2],
                      u32 (&words)[Side::kStep / 4], float (&qk)[Side::kSumsQk], float (&v)[Side::kSumsV]) {
    constexpr bool kIsFirst = kPart == 0, kIsLast = kPart == Side::kParts - 1, kQk = Side::kQk, kV = Side::kV;
    constexpr int kStep = Side::kStep, kRow = kPart * kStep;
    if constexpr (kIsFirst) settle_stage();
    const AttnFwdParams& f = p.bwd.forward;
    const WalkTile& tile = storage.walk[stage.stage];
    const int begin = tile.begin + kRow;
    if constexpr (kIsFirst) at.more = !tile.is_last;
    float factor[kStep / 4];
    if constexpr (Side::kFactors) load_factors(factor, own, begin);
    if (tile.sight >> (kFullBits + group) & 1) {
      scale_scores(s, f.half_alpha);
    } else {
      typename Config::Mask mask = own.mask;
      if constexpr (Side::kIsKeys && variant::heads_per_kv<Config>(0) > 1)
        variant::move_mask(mask, f, tile.head, own.row);
      mask_scores<Side::kIsKeys, kStep>(s, f.half_alpha, mask, own.own + warp_row(), begin);
    }
    u32 weights[kStep / 4];
    find_weights<Element, kV, Side::kFactors>(s, weights, factor);

    if constexpr (kQk) {
      finish_last(words, qk);
      if (kIsFirst && at.holds) qk_ring().release(at.before);
      if constexpr (kIsFirst) v_ring().wait(stage);
      prim::warpgroup_fence_operand(next);
      prim::wgmma_fence();
      issue_scores<Element, T::kColsV / 16, T::kOwn, T::kWalk, kStep>(next, own_v(), walk_v(stage) + kRow * 128);
      if constexpr (kV) {
        prim::warpgroup_fence_operand(v);
        prim::wgmma_fence();
        issue_sums<Element, T::kColsV, T::kWalk, kStep>(v, weights, walk_v(stage) + kRow * 128);
      }
    }
    at.before = stage;
    if constexpr (kIsLast) {
      stage.advance();
      at.ready = at.more && sees_tile();
      at.holds = true;
    }
    if constexpr (kQk) {
      prim::wgmma_wait<kV ? 1 : 0>();
      prim::warpgroup_fence_operand(next);
      find_slopes<Element, Side::kFactors>(s, next, words, factor, T::kNarrow ? p.bwd.slope_down : 1.0f);
      if constexpr (!kV && kIsLast) v_ring().release(at.before);
    }
    // Where no step follows at once, for nothing.
    const u32 walked = kIsLast ? walk_qk(at.ready ? stage : at.before) : walk_qk(stage) + (kRow + kStep) * 128;
    issue_s<kStep>(next, prim::uniform(walked));
    if constexpr (kQk) {
      prim::warpgroup_fence_operand(qk);
      prim::wgmma_fence();
      issue_sums<Element, T::kColsQk, T::kWalk, kStep>(qk, words, walk_qk(at.before) + kRow * 128);
    } else {
      if constexpr (kIsFirst) v_ring().wait(at.before);
      prim::warpgroup_fence_operand(v);
      prim::wgmma_fence();
      issue_sums<Element, T::kColsV, T::kWalk, kStep>(v, weights, walk_v(at.before) + kRow * 128);
    }
    prim::wgmma_wait<kQk ? 1 : 0>();
    prim::warpgroup_fence_operand(next);
    if constexpr (kV) {
      prim::hold_operand_words(weights, base);
      prim::warpgroup_fence_operand(v);
      if constexpr (kIsLast) v_ring().release(at.before);
    }
    if constexpr (!kQk && kIsLast) qk_ring().release(at.before);
  }

  // The sums of the walk over the tile's other side, but for their factors.
  template <class Side>
  HSTU_PRIM void walk(const OwnTile<Config>& own, float (&qk)[Side::kSumsQk], float (&v)[Side::kSumsV]) {
    float s[Side::kStep / 2], other[Side::kStep / 2];
    u32 words[Side::kStep / 4] = {};
    Walk at;
    at.more = !own.is_alone;
#pragma unroll 1
    while (seek(at.more)) {
      issue_s<Side::kStep>(s, walk_qk(stage));
      prim::wgmma_wait<0>();
      prim::warpgroup_fence_operand(s);
      at.holds = false;
#pragma unroll 1
      do {
        step<Side, 0>(own, at, s, other, words, qk, v);
        if constexpr (Side::kParts == 2)
          step<Side, 1>(own, at, other, s, words, qk, v);
        else
          copy(s, other);
      } while (at.ready);
      if constexpr (Side::kQk) {
        finish_last(words, qk);
        qk_ring().release(at.before);
      }
    }
  }

  template <bool kIsKeys, bool kQk, bool kV>
  HSTU_PRIM void run_tile(const OwnTile<Config>& tile) {
    using Side = WalkSide<Config, kIsKeys, kQk, kV>;
    constexpr bool kFactors = Side::kFactors;
    float qk[Side::kSumsQk], v[Side::kSumsV];
    clear(qk), clear(v);
    own_at.stage = prim::uniform(own_at.stage);
    prim::mbarrier_wait(prim::smem_addr(&storage.own_full[own_at.stage]), own_at.parity);
    walk<Side>(tile, qk, v);
    sync();  // all warps' products have read the own rows

    const AttnFwdParams& f = p.bwd.forward;
    const int head = tile.head, own = tile.own, count = tile.count;
    const tile::JaggedBox box(tile.row, count);
    const float scale = kIsKeys && !Config::kRowScale ? scale_at(tile, 0) : 1.0f;
    const float up = T::kNarrow ? p.bwd.slope_up : 1.0f;
    if constexpr (kIsKeys) {
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
