// The thread that starts the copies of Q, once a tile, and of K and V, block by block (attention/sm90/shape.cuh).
#pragma once
#include "attention/sm90/storage.cuh"
#include "attention/variant/kv_heads.cuh"
#include "prim/tma.cuh"

namespace hstu::attn90 {

// Blocks of a tile that are not yet asked for when the next tile is taken: time enough to find and describe it, and no
// more, for a tile taken early may be another block of threads' idle time at the end.
enum : int { kWantsAhead = 4 };

// A plan of few runs of keys is copied to registers, and its description released before the keys come; one of many
// stays where it is until all are asked for, and so does one of keys that bring more.
enum : int { kCopiedIntervals = 3 };
template <class Plan, bool kCopied>
struct HeldPlan {
  using Type = const Plan;
};
template <class Plan>
struct HeldPlan<Plan, false> {
  using Type = const Plan&;
};

// A relative bias by TMA: its map has columns, rows, heads and sequences; what lies outside comes as zeros.
struct BiasBox {
  int row, head, seq;

  HSTU_PRIM void load(u32 dst, const TensorMap* map, u32 barrier, int key) const {
    prim::tma_load_4d(dst, map, barrier, key, row, head, seq);
  }
};

// What a kernel brings beside a block's keys: nothing.
struct KeysAlone {
  enum : bool { kReadsTile = false };  // until all keys are asked for
  template <class Tile>
  HSTU_PRIM void begin(const Tile&) {}  // of a tile, when it is taken
  HSTU_PRIM void fetch(int) {}          // asks for what belongs to the block from this key on
  template <class Place>
  HSTU_PRIM void put(const Place&) const {}  // and has it lie there before the keys are announced
};

// Loads what the tiles need: one thread, or a warp, whose lanes share the keys of a block, for which the first
// announces all of their bytes. Params: maps q, k, v, and of a bias. Tile: first_row (none if negative), head, plan,
// which has `blocks` and key_begin(block), and rows(), from which come boxes that load the queries() and the keys(plan,
// block), all of them or the lane's; with a bias seq and position(), of the first row.
template <class Config, class Tile, bool kWarp = false, class Params, class Beside = KeysAlone>
HSTU_PRIM void load(const Params& p, Storage<Config, Tile>& storage, u32 base, Beside beside = {}) {
  using T = Shape<Config>;
  const KeyRing<Config> k_ring(prim::smem_addr(storage.k_ring));
  const ValueRing<Config> v_ring(prim::smem_addr(storage.v_ring));
  PipelineState<Config::kStages> place;
  PipelineState<kTileSlots> tile_place;
  const u32 q_full = prim::smem_addr(&storage.q_full);
  const bool leads = !kWarp || prim::lane_id() == 0;
  u32 q_parity = 0;
#pragma unroll 1
  for (;; tile_place.advance(), q_parity ^= 1) {
    prim::mbarrier_wait(prim::smem_addr(&storage.tile_full[tile_place.stage]), tile_place.parity);
    const auto& tile = storage.tile[tile_place.stage];
    if (tile.first_row < 0) return;
    enum : bool { kCopied = intervals<Config>(0) <= kCopiedIntervals && !Beside::kReadsTile };
    typename HeldPlan<decltype(tile.plan), kCopied>::Type plan = tile.plan;
    const int blocks = plan.blocks;
    auto rows = tile.rows();
    const auto queries = rows.queries();
    const u32 tile_empty = prim::smem_addr(&storage.tile_empty[tile_place.stage]);
    const int head = tile.head, kv_head = variant::kv_head_of<Config>(head);
    BiasBox bias;
    if constexpr (Config::kBias) bias = {tile.position(), p.attn.rab_head_stride == 0 ? 0 : head, tile.seq};
    if constexpr (kWarp) __syncwarp();  // all have their copies
    // The next tile is asked for when few blocks are left.
    const int wants_at = blocks > kWantsAhead ? blocks - kWantsAhead : 0;
    beside.begin(tile);
    if (blocks > 0) beside.fetch(plan.key_begin(0));
    if (leads) {
      prim::mbarrier_wait(prim::smem_addr(&storage.q_empty), q_parity ^ 1);
      prim::mbarrier_arrive_expect_tx(q_full, T::kQBytes);
#pragma unroll
      for (int panel = 0; panel < T::kPanelsQk; ++panel)
        queries.load(base + panel * T::kBlockM * 128, &p.q, q_full, panel * T::kPanelColumns, tile.first_row, head);
      if (kCopied) prim::mbarrier_arrive(tile_empty);
      if (wants_at == 0) prim::mbarrier_arrive(prim::smem_addr(&storage.tile_wanted));
    }
#pragma unroll 1
    for (int block = 0; block < blocks; ++block, place.advance()) {
      if (leads && block > 0 && block == wants_at) prim::mbarrier_arrive(prim::smem_addr(&storage.tile_wanted));
      const int key = plan.key_begin(block);
      const auto keys = rows.keys(plan, block);
      bool brings_bias = Config::kBias;
      if constexpr (has_loose_bias<Tile>(0) != 0) brings_bias = !plan.is_upper(block);
      beside.put(place);
      const u32 k_full = k_ring.acquire(place, T::kKBytes + (brings_bias ? T::kBiasBytes : 0), leads);
      const u32 k_stage = base + T::kKOffset + place.stage * T::kKBytes;
#pragma unroll
      for (int panel = 0; panel < T::kPanelsQk; ++panel)
        keys.load(k_stage + panel * T::kBlockN * 128, &p.k, k_full, panel * T::kPanelColumns, key, kv_head);
      if (block + 1 < blocks) beside.fetch(plan.key_begin(block + 1));
      if constexpr (Config::kBias) {
        const u32 stage = base + T::kBiasOffset + place.stage * T::kBiasBytes;
#pragma unroll
        for (int at = 0; at < T::kBlockN; at += 64)
          if (leads && brings_bias) bias.load(stage + at / 64 * T::kBlockM * 128, &p.rab, k_full, key + at);
      }
      const u32 v_full = v_ring.acquire(place, T::kVBytes, leads);
      const u32 v_stage = base + T::kVOffset + place.stage * T::kVBytes;
#pragma unroll
      for (int panel = 0; panel < T::kPanelsV; ++panel)
        keys.load(v_stage + panel * T::kBlockN * 128, &p.v, v_full, panel * T::kPanelColumns, key, kv_head);
    }
    if constexpr (!kCopied) {
      if constexpr (kWarp) __syncwarp();
      if (leads) prim::mbarrier_arrive(tile_empty);
    }
  }
}

}  // namespace hstu::attn90
